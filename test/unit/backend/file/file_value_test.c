/*
 * file_value_test.c: values as files.  One rule: a file that is not certainly a
 * value of this key is left as it is, and the error text says so.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/value_text.h"
#include "lib/rig.h"

static char text[VALUE_FILE_MAX];

static struct file_value sample(const char *data)
{
    struct file_value v = {.title = "a key",
                           .title_len = 5,
                           .version = 1700000000000005,
                           .expires_us = 1700000000000006,
                           .owner = "c0ffee:7",
                           .attempt = UINT64_MAX,
                           .data = data,
                           .len = strlen(data)};
    return v;
}

TEST(file_value, is_read_as_it_was_written)
{
    struct file_value v = sample("bytes\nof it"), back;
    size_t len = hf__file_value_format(&v, text);
    CHECK_INT(hf__file_value_parse(text, len, &back), 0);
    CHECK_INT(back.version, v.version);
    CHECK_INT(back.expires_us, v.expires_us);
    CHECK_STR(back.owner, v.owner);
    CHECK(back.attempt == UINT64_MAX);
    CHECK(back.title_len == 5 && !memcmp(back.title, "a key", 5));
    CHECK(back.len == v.len && !memcmp(back.data, v.data, v.len));
}

TEST(file_value, fits_at_its_longest)
{
    static char title[TITLE_MAX], data[HF_VALUE_MAX];
    struct file_value v = sample(""), back;
    memset(title, 't', sizeof title);
    v.title = title;
    v.title_len = sizeof title - 1;
    v.version = UINT64_MAX;
    v.expires_us = INT64_MAX;
    memset(v.owner, 'o', sizeof v.owner - 1);
    v.data = data;
    v.len = sizeof data;
    size_t len = hf__file_value_format(&v, text);
    CHECK(len <= sizeof text);
    CHECK_INT(hf__file_value_parse(text, len, &back), 0);
    CHECK_INT(back.len, HF_VALUE_MAX);
}

TEST(file_value, that_is_cut_short_anywhere_is_not_believed)
{
    struct file_value v = sample("data"), back;
    size_t len = hf__file_value_format(&v, text);
    for (size_t n = 0; n < len; n++)
        CHECK(hf__file_value_parse(text, n, &back) != 0 && back.version == 0);
    text[len] = '\n';
    CHECK(hf__file_value_parse(text, len + 1, &back) != 0);
}

TEST(file_value, with_one_changed_bit_is_not_believed)
{
    struct file_value v = sample("data"), back;
    size_t len = hf__file_value_format(&v, text);
    for (size_t i = 0; i < len; i++) {
        text[i] ^= 4;
        CHECK(hf__file_value_parse(text, len, &back) != 0);
        text[i] ^= 4;
    }
    CHECK_INT(hf__file_value_parse(text, len, &back), 0);
}

/* ---- in a directory ----------------------------------------------------- */

static const char *path_of(const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", rig_dir(), file);
    return path;
}

static void file_spoil(const char *file, const char *bytes)
{
    int fd = open(path_of(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, bytes, strlen(bytes)), strlen(bytes));
    close(fd);
}

TEST(file_value, that_is_damaged_is_a_conflict_and_left_alone)
{
    struct hf_error err = {0};
    struct hf_value v = HF_VALUE_INIT;
    struct stat st;
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
    file_spoil("a.value", "something else");
    CHECK_INT(hf_value_read(c, "a", &v, &err), HF_CONFLICT);
    CHECK(strstr(err.text, "damaged") != NULL);
    CHECK_INT(hf_value_write(c, "a", HF_VALUE_ANY, "2", 1, 0, NULL, NULL),
              HF_CONFLICT);
    CHECK_INT(hf_value_delete(c, "a", HF_VALUE_ANY, NULL), HF_CONFLICT);
    CHECK(stat(path_of("a.value"), &st) == 0 && st.st_size == 14);
    CHECK_INT(unlink(path_of("a.value")), 0);
    CHECK_INT(hf_value_write(c, "a", 0, "2", 1, 0, NULL, NULL), HF_OK);
}

TEST(file_value, of_another_key_is_a_conflict)
{
    struct hf_value v = HF_VALUE_INIT;
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
    char from[256];
    snprintf(from, sizeof from, "%s", path_of("a.value"));
    CHECK_INT(rename(from, path_of("b.value")), 0);
    CHECK_INT(hf_value_read(c, "b", &v, NULL), HF_CONFLICT);
}

TEST(file_value, that_is_no_regular_file_is_a_conflict)
{
    struct hf_value v = HF_VALUE_INIT;
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(mkdir(path_of("a.value"), 0700), 0);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_CONFLICT);
    CHECK_INT(mkfifo(path_of("b.value"), 0600), 0);
    CHECK_INT(hf_value_read(c, "b", &v, NULL), HF_CONFLICT);
    CHECK_INT(symlink("a.value", path_of("c.value")), 0);
    CHECK_INT(hf_value_read(c, "c", &v, NULL), HF_CONFLICT);
}

TEST(file_value, is_written_although_a_writer_died_half_way)
{
    char file[64];
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    for (int i = 0; i < 16; i++) {
        snprintf(file, sizeof file, ".value-%x-%lu.new", (unsigned)i,
                 (unsigned long)geteuid());
        file_spoil(file, "half");
    }
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
}

TEST(file_value, is_written_in_a_directory_that_was_deleted)
{
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(rmdir(rig_dir()), 0);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 0, NULL, NULL), HF_OK);
    struct stat st;
    CHECK_INT(stat(path_of("a.value"), &st), 0);
}

TEST(file_value, survives_its_client)
{
    struct hf_value v = HF_VALUE_INIT;
    uint64_t version = 0;
    rig_begin_on("file:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_value_write(c, "a", 0, "1", 1, 60000, &version, NULL), HF_OK);
    rig_close(c);
    c = rig_client(NULL);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    CHECK_STR(v.data, "1");
    CHECK(v.version == version && v.ttl_ms > 0);
    hf_value_free(c, &v);
}
