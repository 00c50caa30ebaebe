/*
 * file_lock_test.c: the file backend within one process.  One rule: each test
 * has a directory of its own.
 */
#include "backend/file/table.h"
#include "file_rig.h"

static struct rig a, b;

static const char *rigs_start(void)
{
    const char *dir = dir_make();
    rig_start(&a, dir);
    rig_start(&b, dir);
    return dir;
}

TEST(file, is_up_at_once_and_says_what_it_can_do)
{
    rigs_start();
    CHECK_INT(a.links, 1);
    CHECK(hf__backend_file.caps & HF_CAP_KERNEL);
    CHECK_STR(hf__backend_file.scheme, "file");
}

TEST(file, a_hold_excludes_the_others)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
    CHECK_INT(b.reply.ttl_us, -1);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_BUSY);
    CHECK_INT(rig_propose(&a, "y", "a:1", 2, 0), V_GRANTED);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:1", 2, 0), V_GRANTED);
    CHECK_INT(rig_propose(&a, "x", "a:1", 3, 0), V_BUSY);
}

TEST(file, a_repeated_proposal_gets_the_same_answer)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
    a.req.ballot = fence + US_PER_S;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK_INT(a.reply.fence, fence + US_PER_S);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
}

TEST(file, numbers_that_are_not_new_are_stale)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    rig_req(&b, VERB_PROPOSE, "x", "b:1", 1, 0);
    b.req.ballot = fence;
    CHECK_INT(rig_send(&b), V_STALE);
    CHECK_INT(b.reply.counter, fence);
    b.req.ballot = fence + 1000000;
    CHECK_INT(rig_send(&b), V_GRANTED);
    CHECK_INT(b.reply.fence, fence + 1000000);
    rig_release(&b, "x", "b:1", 1);
    b.req.verb = VERB_PROPOSE;
    b.req.name = "fresh";
    b.req.window_us = BALLOT_WINDOW_US;
    b.req.ballot = hf__clock_wall_us() - 10 * US_PER_S;
    CHECK_INT(rig_send(&b), V_STALE);
    CHECK_INT(rig_propose(&a, "fresh", "a:1", 1, 0), V_GRANTED);
}

TEST(file, a_release_raises_the_counter)
{
    rigs_start();
    rig_req(&a, VERB_RELEASE, "x", "a:1", 1, 0);
    CHECK_INT(rig_send(&a), V_ABSENT);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    rig_req(&a, VERB_RELEASE, "x", "a:1", 1, 0);
    a.req.ballot = hf__clock_wall_us() + US_PER_S;
    CHECK_INT(rig_send(&a), V_GRANTED);
    int64_t counter = a.req.ballot;
    CHECK_INT(a.reply.counter, counter);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_STALE);
    CHECK_INT(b.reply.counter, counter);
    rig_last_ballot = counter;
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
}

TEST(file, renew_and_release_want_owner_and_attempt)
{
    rigs_start();
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 1), V_ABSENT);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_ABSENT);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 2), V_OTHER);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:2", 1), V_OTHER);
    CHECK_INT(rig_ask(&b, VERB_RENEW, "x", "a:1", 1), V_OTHER);
    CHECK_INT(rig_release(&a, "x", "a:1", 2), V_OTHER);
    CHECK_INT(rig_release(&b, "x", "a:1", 1), V_OTHER);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_ABSENT);
}

TEST(file, a_fixed_lease_ends_by_itself)
{
    rigs_start();
    rig_req(&a, VERB_PROPOSE, "x", "a:1", 1, 0);
    a.req.ballot = rig_ballot();
    a.req.lease_us = 60 * US_PER_S;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK(a.timer_us < TIME_NEVER);
    CHECK_INT(rig_inspect(&b, "x", ""), V_GRANTED);
    CHECK(b.info.ttl_ms > 30000 && b.info.ttl_ms <= 60000);
    rig_req(&a, VERB_RENEW, "x", "a:1", 1, 0);
    a.req.lease_us = 30 * US_PER_MS;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK(a.reply.ttl_us > 30 * US_PER_S);
    rig_ask(&b, VERB_WATCH, "x", "b:1", 0);
    int64_t end_us = hf__clock_us() + RIG_WAIT_US;
    while (rig_propose(&b, "x", "b:1", 1, 0) != V_GRANTED
           && hf__clock_us() < end_us)
        rig_poll(&a, 5, 1);
    CHECK_INT(b.reply.verdict, V_GRANTED);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_OTHER);
}

TEST(file, readers_share_and_exclude_writers)
{
    rigs_start();
    CHECK_INT(rig_read(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(a.reply.fence, 1);
    CHECK_INT(rig_read(&a, "x", "a:2", 2), V_GRANTED);
    CHECK_INT(rig_read(&b, "x", "b:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:2", 2, 0), V_BUSY);
    CHECK_INT(rig_inspect(&a, "x", "a:2"), V_GRANTED);
    CHECK(a.info.locked && a.info.shared && a.info.mine && !a.info.foreign);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_release(&a, "x", "a:2", 2), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:2", 3, 0), V_BUSY);
    CHECK_INT(rig_release(&b, "x", "b:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:2", 4, 0), V_GRANTED);
    int64_t fence = b.reply.fence;
    CHECK_INT(rig_read(&a, "x", "a:1", 3), V_BUSY);
    rig_release(&b, "x", "b:2", 4);
    CHECK_INT(rig_read(&a, "x", "a:1", 4), V_GRANTED);
    CHECK_INT(a.reply.fence, fence);
}

TEST(file, fences_rise_also_when_the_file_is_deleted)
{
    const char *dir = rigs_start();
    char path[600];
    int64_t last = 0;
    snprintf(path, sizeof path, "%s/x.lock", dir);
    for (uint64_t i = 1; i < 200; i++) {
        struct rig *r = i % 2 ? &a : &b;
        CHECK_INT(rig_propose(r, "x", "o:1", i, 0), V_GRANTED);
        CHECK(r->reply.fence > last);
        last = r->reply.fence;
        if (i % 3 == 0) CHECK_INT(unlink(path), 0);
        CHECK_INT(rig_release(r, "x", "o:1", i), V_GRANTED);
    }
}

TEST(file, a_deleted_file_is_a_lost_lock)
{
    const char *dir = rigs_start();
    char path[600], moved[600];
    snprintf(path, sizeof path, "%s/x.lock", dir);
    snprintf(moved, sizeof moved, "%s/old", dir);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 1), V_ABSENT);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
    CHECK_INT(rename(path, moved), 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 2), V_ABSENT);
    CHECK_INT(rig_ask(&b, VERB_RENEW, "x", "b:1", 1), V_GRANTED);
}

TEST(file, odd_names_are_locks_of_their_own)
{
    static const char *const names[] = {
        ".", "..", " ", "%",     "%20", "a b", "\n", "\x01\xff",
        "a", "A",  "~", "path~", "-rf", "*",   "\\", "name.lock"};
    char long_a[513], long_b[513];
    rigs_start();
    memset(long_a, 'x', 512);
    memset(long_b, 'x', 512);
    long_a[512] = long_b[512] = '\0';
    long_b[511] = 'y';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_INT(rig_propose(&a, names[i], "a:1", i, 0), V_GRANTED);
    CHECK_INT(rig_propose(&a, long_a, "a:1", 100, 0), V_GRANTED);
    CHECK_INT(rig_propose(&b, long_a, "b:1", 100, 0), V_BUSY);
    CHECK_INT(rig_propose(&b, long_b, "b:1", 101, 0), V_GRANTED);
    rig_list(&b, NULL);
    CHECK_INT(b.rows_len, (int)(sizeof names / sizeof *names) + 2);
    int found = 0;
    for (int i = 0; i < b.rows_len; i++)
        found += !strcmp(b.rows[i], long_b) + !strcmp(b.rows[i], "\x01\xff");
    CHECK_INT(found, 2);
}

TEST(file, a_bad_name_is_refused)
{
    char name[514];
    rigs_start();
    memset(name, 'x', 513);
    name[513] = '\0';
    CHECK_INT(rig_propose(&a, name, "a:1", 1, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
    CHECK_INT(rig_propose(&a, "", "a:1", 1, 0), V_ERROR);
    CHECK_INT(rig_propose(&a, "/nowhere/at/all", "a:1", 1, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
}

TEST(file, a_number_out_of_range_is_refused)
{
    rigs_start();
    rig_req(&a, VERB_RELEASE, "x", "a:1", 1, REQ_DETACHED);
    a.req.ballot = INT64_MAX;
    CHECK_INT(rig_send(&a), V_ERROR);
    CHECK_INT(a.reply.status, HF_INVALID);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
}

TEST(file, a_directory_that_was_replaced_or_deleted_is_followed)
{
    const char *dir = rigs_start();
    char aside[600], path[700];
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    rig_release(&a, "x", "a:1", 1);
    snprintf(aside, sizeof aside, "%s-aside", dir);
    CHECK_INT(rename(dir, aside), 0);
    CHECK_INT(mkdir(dir, 0700), 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
    snprintf(path, sizeof path, "%s/x.lock", dir);
    CHECK_INT(access(path, F_OK), 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
    rig_release(&a, "x", "a:1", 2);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(dir), 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 2, 0), V_GRANTED);
    CHECK_INT(rig_propose(&a, "x", "a:1", 3, 0), V_BUSY);
    snprintf(path, sizeof path, "%s/x.lock", aside);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(aside), 0);
}

TEST(file, a_torn_record_is_begun_anew_with_a_warning)
{
    char text[RECORD_MAX];
    const char *dir = rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    int64_t fence = a.reply.fence;
    rig_release(&a, "x", "a:1", 1);
    size_t len = file_read_all(dir, "x.lock", text, sizeof text);
    file_write(dir, "x.lock", text, len / 4);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
    CHECK(a.reply.fence > fence);
    CHECK_INT(a.warnings, 1);
    rig_release(&a, "x", "a:1", 2);
    CHECK_INT(rig_propose(&a, "x", "a:1", 3, 0), V_GRANTED);
    CHECK_INT(a.warnings, 1);
}

TEST(file, a_foreign_file_is_left_alone)
{
    char text[64];
    const char *dir = rigs_start();
    file_write(dir, "x.lock", "12345\n", 6);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK(strstr(a.text, "x.lock"));
    CHECK_INT(rig_inspect(&a, "x", ""), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    file_read_all(dir, "x.lock", text, sizeof text);
    CHECK_STR(text, "12345\n");
    CHECK_INT(symlinkat("x.lock", a.c->dir_fd, "y.lock"), 0);
    CHECK_INT(rig_propose(&a, "y", "a:1", 1, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(mkfifoat(a.c->dir_fd, "z.lock", 0600), 0);
    CHECK_INT(rig_propose(&a, "z", "a:1", 1, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
}

TEST(file, another_names_record_is_a_conflict)
{
    const char *dir = rigs_start();
    char from[600], to[600];
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    rig_release(&a, "x", "a:1", 1);
    snprintf(from, sizeof from, "%s/x.lock", dir);
    snprintf(to, sizeof to, "%s/y.lock", dir);
    CHECK_INT(rename(from, to), 0);
    CHECK_INT(rig_propose(&a, "y", "a:1", 2, 0), V_ERROR);
    CHECK_INT(a.reply.status, HF_CONFLICT);
    CHECK_INT(rig_propose(&a, "x", "a:1", 3, 0), V_GRANTED);
}

TEST(file, inspect_tells_who_holds)
{
    rigs_start();
    CHECK_INT(rig_inspect(&b, "x", "b:1"), V_GRANTED);
    CHECK(!b.info.locked && b.info.ttl_ms == -2);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(rig_inspect(&b, "x", "b:1"), V_GRANTED);
    CHECK(b.info.locked && !b.info.mine && !b.info.foreign);
    CHECK_INT(b.info.pid, getpid());
    CHECK_INT(b.info.ttl_ms, -1);
    CHECK_INT((int64_t)b.info.fence, a.reply.fence);
    CHECK(b.info.since_ms > 0 && b.info.since_ms <= b.info.now_ms);
    CHECK_STR(b.info.owner, "a:1");
    CHECK_STR(b.info.host, "somehost");
    CHECK_STR(b.info.label, "a label");
    CHECK_INT(b.info.waiters, 0);
    rig_req(&a, VERB_RENEW, "x", "a:1", 1, REQ_NO_EXPIRY);
    a.req.count = 3;
    CHECK_INT(rig_send(&a), V_GRANTED);
    CHECK_INT(rig_inspect(&a, "x", "a:1"), V_GRANTED);
    CHECK(a.info.mine && a.info.count == 3 && a.info.owner_count == 3);
    rig_ask(&b, VERB_WATCH, "x", "b:1", 0);
    CHECK_INT(rig_inspect(&a, "x", "a:1"), V_GRANTED);
    CHECK_INT(a.info.waiters, 1);
    rig_ask(&b, VERB_UNWATCH, "x", "b:1", 0);
    rig_release(&a, "x", "a:1", 1);
    CHECK_INT(rig_inspect(&b, "x", "b:1"), V_GRANTED);
    CHECK(!b.info.locked && b.info.owner[0] == '\0' && b.info.waiters == 0);
}

TEST(file, list_shows_what_is_locked_in_pages)
{
    char name[32];
    rigs_start();
    for (uint64_t i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "many-%d", (int)i);
        CHECK_INT(rig_propose(&a, name, "a:1", i, 0), V_GRANTED);
    }
    CHECK_INT(rig_propose(&a, "free", "a:1", 200, 0), V_GRANTED);
    rig_release(&a, "free", "a:1", 200);
    CHECK_INT(rig_read(&a, "read", "a:1", 201), V_GRANTED);
    rig_list(&b, NULL);
    CHECK_INT(b.rows_len, 151);
    CHECK(b.replies > 2);
    rig_list(&b, "many-1?");
    CHECK_INT(b.rows_len, 10);
    CHECK(b.row_infos[0].locked && b.row_infos[0].pid == getpid());
    CHECK_STR(b.row_infos[0].label, "a label");
    rig_list(&b, "re[a]*");
    CHECK_INT(b.rows_len, 1);
    CHECK(b.row_infos[0].shared && !b.row_infos[0].foreign);
}

static int fds_open(void)
{
    int n = 0;
    for (int fd = 0; fd < 4096; fd++) n += fcntl(fd, F_GETFD) != -1;
    return n;
}

TEST(file, keeps_few_files_open)
{
    char name[32];
    rigs_start();
    int before = fds_open();
    for (uint64_t i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "lock-%d", (int)i);
        CHECK_INT(rig_propose(&a, name, "a:1", i, 0), V_GRANTED);
        CHECK_INT(rig_release(&a, name, "a:1", i), V_GRANTED);
    }
    CHECK(fds_open() - before <= IDLE_LOCKS_MAX);
    rig_close(&a);
    CHECK(fds_open() <= before);
}

TEST(file, a_release_wakes_the_waiters_of_the_process)
{
    rigs_start();
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    rig_ask(&a, VERB_WATCH, "x", "a:2", 0);
    rig_ask(&b, VERB_WATCH, "x", "b:1", 0);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(a.wakes, 1);
    CHECK_INT(a.reply.waiters, 2);
    for (int i = 0; i < 1000 && !b.wakes; i++) rig_poll(&b, 10, 0);
    CHECK(b.wakes > 0);
}

TEST(file, a_grant_and_a_failed_try_wake_nobody)
{
    rigs_start();
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_GRANTED);
    rig_release(&b, "x", "b:1", 1);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    rig_release(&a, "x", "a:1", 1);
    rig_ask(&b, VERB_WATCH, "x", "b:1", 0);
    rig_poll(&b, 20, 0);
    b.wakes = 0;
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
    for (uint64_t i = 10; i < 20; i++)
        CHECK_INT(rig_propose(&b, "x", "b:1", i, 0), V_BUSY);
    rig_poll(&b, 20, 0);
    CHECK_INT(b.wakes, 0);
    rig_release(&a, "x", "a:1", 2);
    for (int i = 0; i < 1000 && !b.wakes; i++) rig_poll(&b, 10, 0);
    CHECK(b.wakes > 0);
}

TEST(file, the_tick_finds_releases_that_ring_no_bell)
{
    rigs_start();
    rig_ask(&a, VERB_WATCH, "x", "a:1", 0);
    CHECK(a.timer_us < TIME_NEVER);
    int64_t end_us = hf__clock_us() + RIG_WAIT_US;
    while (!a.wakes && hf__clock_us() < end_us) rig_poll(&a, 5, 1);
    CHECK(a.wakes > 0);
    rig_ask(&a, VERB_UNWATCH, "x", "a:1", 0);
    CHECK(a.timer_us == TIME_NEVER);
}

/* ---- memory, and the directory ---------------------------------------- */

static int allocs_left;

static void *alloc_some(size_t size, void *user)
{
    (void)user;
    return allocs_left-- > 0 ? malloc(size) : NULL;
}

static void *resize_some(void *ptr, size_t size, void *user)
{
    (void)user;
    return allocs_left-- > 0 ? realloc(ptr, size) : NULL;
}

static void release_it(void *ptr, void *user)
{
    (void)user;
    free(ptr);
}

static const struct allocator poor = {
    {alloc_some, resize_some, release_it, NULL}};

/* One life with few allocations; 1 if none of them failed. */
static int life_run(const char *text, int allocs)
{
    static const enum verb ops[] = {VERB_WATCH, VERB_RENEW,   VERB_INSPECT,
                                    VERB_LIST,  VERB_RELEASE, VERB_BREAK};
    struct url url;
    struct hf_error err;
    CHECK_INT(hf__url_parse(&url, text, &err), HF_OK);
    rig_init(&a, &poor);
    allocs_left = allocs;
    int status = hf__backend_file.open(&a.env, &url, &a.c, &err);
    if (status != HF_OK) {
        CHECK_INT(status, HF_NOMEM);
        return 0;
    }
    int failed = 0;
    rig_last_ballot += 10; /* above what VERB_BREAK left */
    enum verdict got = rig_propose(&a, "x", "a:1", 1, 0);
    CHECK(got == V_GRANTED || a.reply.status == HF_NOMEM);
    failed += got != V_GRANTED;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        rig_req(&a, ops[i], ops[i] == VERB_LIST ? NULL : "x", "a:1", 1, 0);
        got = rig_send(&a);
        CHECK(got != V_ERROR || a.reply.status == HF_NOMEM);
        failed += got == V_ERROR;
    }
    rig_close(&a);
    return !failed && allocs_left > 0;
}

TEST(file, survives_each_failed_allocation)
{
    char text[512];
    snprintf(text, sizeof text, "file:%s", dir_make());
    int allocs = 0;
    while (!life_run(text, allocs)) CHECK(++allocs < 100);
    CHECK(allocs > 4);
}

TEST(file, makes_its_directory)
{
    char text[512], dir[400];
    struct hf_error err;
    struct stat st;
    snprintf(dir, sizeof dir, "%s/new", dir_make());
    snprintf(text, sizeof text, "file://%s", dir);
    CHECK_INT(rig_open_url(&a, text, &err), HF_OK);
    test_cleanup(rig_close, &a);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(stat(dir, &st), 0);
    CHECK_INT(st.st_mode & 0022, 0);
    snprintf(text, sizeof text, "%s/x.lock", dir);
    CHECK_INT(stat(text, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(unlink(text), 0);
}

TEST(file, the_environment_names_the_default_directory)
{
    char path[600];
    struct stat st;
    struct hf_error err;
    const char *dir = dir_make();
    setenv("HOLDFAST_DIR", dir, 1);
    int status = rig_open_url(&a, "file:", &err);
    unsetenv("HOLDFAST_DIR");
    CHECK_INT(status, HF_OK);
    test_cleanup(rig_close, &a);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    snprintf(path, sizeof path, "%s/x.lock", dir);
    CHECK_INT(stat(path, &st), 0);
}

static int open_status(const char *text)
{
    struct hf_error err = {0};
    int status = rig_open_url(&b, text, &err);
    if (status == HF_OK)
        rig_close(&b);
    else if (!err.text[0])
        TEST_FAIL("no sentence");
    return status;
}

TEST(file, unfit_directories_are_refused)
{
    char text[512];
    const char *dir = dir_make();
    file_write(dir, "plain", "", 0);
    snprintf(text, sizeof text, "file:%s/plain", dir);
    CHECK_INT(open_status(text), HF_INVALID);
    snprintf(text, sizeof text, "file:%s/no/such", dir);
    CHECK_INT(open_status(text), HF_INVALID);
    snprintf(text, sizeof text, "file:%s?network=maybe", dir);
    CHECK_INT(open_status(text), HF_INVALID);
    snprintf(text, sizeof text, "file:%s?network=allow", dir);
    CHECK_INT(open_status(text), HF_OK);
    CHECK_INT(open_status("file://elsewhere/tmp"), HF_INVALID);
}

/* 0 if `name` in the directory can be looked at by us, and not be had. */
static int look_only(const char *url, const char *dir, const char *name,
                     int is_locked)
{
    struct hf_error err = {0};
    struct hf_info info = HF_INFO_INIT;
    hf_client *c;
    hf_lock *l;
    if (hf_client_open(url, NULL, &c, &err) != HF_OK) return 1;
    if (hf_lock_open(c, name, &l, &err) != HF_OK) return 2;
    if (hf_lock_inspect(l, &info, &err) != HF_OK) return 3;
    if (info.locked != is_locked) return 4;
    if (hf_lock_try(l, NULL, &err) != HF_DENIED) return 5;
    if (!strstr(err.text, dir)) return 6;
    return hf_lock_break(l, NULL, NULL) == HF_DENIED ? 0 : 7;
}

/* Root may write anywhere, so this is asked as nobody. */
static void nobody_looks(const char *url, const char *dir, const char *name,
                         int is_locked)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setuid(65534)) _exit(9);
        _exit(look_only(url, dir, name, is_locked));
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(file, in_an_unwritable_directory_locks_can_be_looked_at)
{
    char text[512], path[600];
    const char *dir = dir_make();
    rig_start(&a, dir);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    snprintf(path, sizeof path, "%s/x.lock", dir);
    CHECK_INT(chmod(path, 0444), 0);
    CHECK_INT(chmod(dir, 0555), 0);
    snprintf(text, sizeof text, "file:%s", dir);
    nobody_looks(text, dir, "x", 1);
    nobody_looks(text, dir, "y", 0);
    CHECK_INT(chmod(dir, 0755), 0);
}
