/*
 * write_test.c: files that may not grow.  One rule: a process that may not
 * write more gets an error, and no signal, whatever it writes.
 */
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "holdfast/holdfast.h"
#include "lib/rig.h"

/* From now on no file of this process may have more bytes. */
static void limit_set(rlim_t bytes)
{
    struct rlimit limit;
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int temp_open(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/file", rig_dir());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    return fd;
}

TEST(write, up_to_the_limit_and_not_beyond)
{
    char text[16] = "";
    rig_begin_on("file:");
    int fd = temp_open();
    limit_set(8);
    int inside = hf__write_at(fd, "12345678", 8, 0);
    int beyond = hf__write_at(fd, "123456789", 9, 0), why = errno;
    int behind = hf__write_at(fd, "x", 1, 8);
    limit_set(RLIM_INFINITY);
    CHECK_INT(inside, 0);
    CHECK_INT(beyond, -1);
    CHECK_INT(why, EFBIG);
    CHECK_INT(behind, -1);
    CHECK_INT(pread(fd, text, sizeof text, 0), 8);
    CHECK_STR(text, "12345678");
    CHECK_INT(hf__write_at(fd, "9", 1, 8), 0);
    CHECK_INT(pread(fd, text, sizeof text, 0), 9);
    close(fd);
}

TEST(write, a_lock_whose_record_may_not_be_written_is_not_had)
{
    struct hf_error err = {0};
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    limit_set(0);
    int status = hf_lock_try(l, NULL, &err);
    int value = hf_value_write(c, "v", 0, "x", 1, 0, NULL, NULL);
    limit_set(RLIM_INFINITY);
    CHECK_INT(status, HF_UNAVAILABLE);
    CHECK(strstr(err.text, strerror(EFBIG)) != NULL);
    CHECK(value != HF_OK);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_value_write(c, "v", 0, "x", 1, 0, NULL, NULL), HF_OK);
}

TEST(write, a_guarded_file_is_left_as_it_was)
{
    char path[300];
    struct hf_error err = {0};
    rig_begin_on("file:");
    snprintf(path, sizeof path, "%s/file", rig_dir());
    CHECK_INT(hf_guard_file_replace(path, 7, "old", 3, &err), HF_OK);
    limit_set(0);
    int status = hf_guard_file_replace(path, 8, "new", 3, &err);
    limit_set(RLIM_INFINITY);
    CHECK(status != HF_OK);
    CHECK(strstr(err.text, strerror(EFBIG)) != NULL);
    CHECK_INT(hf_guard_file_replace(path, 9, "newer", 5, &err), HF_OK);
}
