/*
 * guard_file_test.c: a file that refuses stale holders.  One rule: whatever is
 * refused leaves the file, its guard and its directory as they were.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "holdfast/guard.h"
#include "lib/holder.h"
#include "lib/rig.h"

static struct {
    char dir[64];
    char path[80];
    char guard[96];
    char other[96];
} at;

static void at_end(void *arg)
{
    char command[128];
    (void)arg;
    snprintf(command, sizeof command, "rm -rf '%s'", at.dir);
    if (system(command) != 0) printf("    %s stays\n", at.dir);
}

static void begin(void)
{
    snprintf(at.dir, sizeof at.dir, "/tmp/hf-guard-XXXXXX");
    CHECK(mkdtemp(at.dir) != NULL);
    snprintf(at.path, sizeof at.path, "%s/file", at.dir);
    snprintf(at.guard, sizeof at.guard, "%s.guard", at.path);
    snprintf(at.other, sizeof at.other, "%s/other", at.dir);
    test_cleanup(at_end, NULL);
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static const char *contents(const char *path)
{
    static char text[128];
    int fd = open(path, O_RDONLY);
    ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[len > 0 ? len : 0] = '\0';
    if (fd >= 0) close(fd);
    return fd < 0 ? "(none)" : text;
}

static int names(void)
{
    int n = 0;
    DIR *d = opendir(at.dir);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d)) != NULL;) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int replace(uint64_t token, const char *text)
{
    return hf_guard_file_replace(at.path, token, text, strlen(text), NULL);
}

static uint64_t token_now(void)
{
    uint64_t token = 99;
    CHECK_INT(hf_guard_file_token(at.path, &token, NULL), HF_OK);
    return token;
}

TEST(guard_file, is_replaced_by_rising_tokens_only)
{
    begin();
    CHECK_INT(token_now(), 0);
    CHECK_INT(replace(5, "five"), HF_OK);
    CHECK_INT(replace(5, "again"), HF_OK);
    CHECK_INT(replace(100, "hundred"), HF_OK);
    CHECK_INT(replace(99, "late"), HF_STALE);
    CHECK_STR(contents(at.path), "hundred");
    CHECK_STR(contents(at.guard), "holdfast guard 100\n");
    CHECK_INT(token_now(), 100);
    CHECK_INT(names(), 2); /* nothing else stays behind */
}

TEST(guard_file, that_was_touched_refuses_earlier_holders)
{
    begin();
    put(at.path, "old");
    CHECK_INT(hf_guard_file_touch(at.path, 8, NULL), HF_OK);
    CHECK_INT(replace(7, "late"), HF_STALE);
    CHECK_INT(hf_guard_file_touch(at.path, 7, NULL), HF_STALE);
    CHECK_STR(contents(at.path), "old");
}

TEST(guard_file, takes_the_highest_token_and_refuses_what_is_none)
{
    struct hf_error err = {0};
    begin();
    CHECK_INT(replace(INT64_MAX, "most"), HF_OK);
    CHECK_INT(replace(INT64_MAX - 1, "late"), HF_STALE);
    CHECK_INT(hf_guard_file_touch(at.path, 0, &err), HF_INVALID);
    CHECK(strstr(err.text, "out of range: 1 to 2^63-1") != NULL);
    CHECK_INT(replace((uint64_t)INT64_MAX + 1, "x"), HF_INVALID);
    CHECK_INT(hf_guard_file_touch(at.dir, 1, &err), HF_INVALID);
    CHECK(strstr(err.text, "cannot be replaced") != NULL);
    CHECK_STR(contents(at.path), "most");
}

TEST(guard_file, is_renamed_into_place_or_stays_where_it_was)
{
    begin();
    put(at.other, "new");
    CHECK_INT(hf_guard_file_touch(at.path, 9, NULL), HF_OK);
    CHECK_INT(hf_guard_file_rename(at.path, 8, at.other, NULL), HF_STALE);
    CHECK_STR(contents(at.other), "new");
    CHECK_INT(hf_guard_file_rename(at.path, 9, at.other, NULL), HF_OK);
    CHECK_STR(contents(at.path), "new");
    CHECK_STR(contents(at.other), "(none)");
    CHECK_INT(hf_guard_file_rename(at.path, 9, at.other, NULL), HF_INVALID);
}

TEST(guard_file, keeps_its_permissions_and_a_new_one_has_the_umask_s)
{
    struct stat st;
    begin();
    mode_t mask = umask(027);
    int first = replace(1, "x");
    int found = stat(at.path, &st);
    umask(mask);
    CHECK_INT(first, HF_OK);
    CHECK_INT(found, 0);
    CHECK_INT(st.st_mode & 0777, 0640);
    CHECK_INT(chmod(at.path, 0606), 0);
    CHECK_INT(replace(2, "y"), HF_OK);
    CHECK_INT(stat(at.path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0606);
}

TEST(guard_file, whose_guard_is_something_else_is_left_alone)
{
    static const char *const texts[] = {"precious",
                                        "holdfast guard \n",
                                        "holdfast guard 0\n",
                                        "holdfast guard 12",
                                        "holdfast guard 9223372036854775808\n",
                                        "holdfast guard 5 \n"};
    begin();
    put(at.path, "old");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put(at.guard, texts[i]);
        CHECK_INT(replace(50, "new"), HF_CONFLICT);
        CHECK_STR(contents(at.guard), texts[i]);
    }
    unlink(at.guard);
    CHECK_INT(mkfifo(at.guard, 0600), 0);
    CHECK_INT(replace(50, "new"), HF_CONFLICT);
    unlink(at.guard);
    CHECK_INT(symlink(at.other, at.guard), 0);
    CHECK_INT(replace(50, "new"), HF_CONFLICT);
    CHECK_STR(contents(at.path), "old");
    CHECK_STR(contents(at.other), "(none)");
}

TEST(guard_file, must_be_a_file_in_a_directory_that_exists)
{
    char path[128];
    begin();
    CHECK_INT(symlink(at.other, at.path), 0);
    CHECK_INT(replace(1, "x"), HF_INVALID);
    CHECK_STR(contents(at.other), "(none)");
    CHECK_INT(hf_guard_file_replace(at.dir, 1, "x", 1, NULL), HF_INVALID);
    snprintf(path, sizeof path, "%s/none/file", at.dir);
    CHECK_INT(hf_guard_file_replace(path, 1, "x", 1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_file_replace("", 1, "x", 1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_file_replace(NULL, 1, "x", 1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_file_token(NULL, &(uint64_t){0}, NULL), HF_INVALID);
}

/* A holder of a lock on `file`, which writes when it is told to. */
static int writer(struct lab_proc *self, const void *arg)
{
    char line[PROC_LINE_MAX];
    uint64_t token = *(const uint64_t *)arg;
    while (proc_hear(self, line, RIG_PATIENCE_MS))
        proc_say(self, "%s", hf_status_name(replace(token, "first")));
    return 0;
}

TEST(guard_file, refuses_a_holder_that_was_paused_past_its_lease)
{
    static struct lab_proc p;
    static uint64_t first;
    hf_hold *g;
    begin();
    rig_begin_on("memory:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(0, 100, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    first = hf_hold_fence(g);
    proc_start(&p, writer, &first);
    proc_signal(&p, SIGSTOP);
    proc_say(&p, "write");
    CHECK_INT(rig_acquire(l, hf_holder_new(), RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > first);
    CHECK_INT(hf_guard_file_touch(at.path, hf_hold_fence(g), NULL), HF_OK);
    proc_signal(&p, SIGCONT);
    CHECK(proc_hears(&p, "STALE", RIG_PATIENCE_MS));
    CHECK_STR(contents(at.path), "(none)");
    CHECK_INT(replace(hf_hold_fence(g), "second"), HF_OK);
    CHECK_STR(contents(at.path), "second");
}

TEST(guard_file, waits_for_who_is_changing_it)
{
    static struct lab_proc p;
    static const uint64_t token = 3;
    begin();
    CHECK_INT(replace(2, "two"), HF_OK);
    int fd = open(at.guard, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    proc_start(&p, writer, &token);
    CHECK_INT(flock(fd, LOCK_EX), 0);
    proc_say(&p, "write");
    rig_pause_ms(200);
    CHECK_STR(contents(at.path), "two");
    CHECK_INT(flock(fd, LOCK_UN), 0);
    CHECK(proc_hears(&p, "OK", RIG_PATIENCE_MS));
    close(fd);
    CHECK_STR(contents(at.path), "first");
}
