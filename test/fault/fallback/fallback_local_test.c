/*
 * fallback_local_test.c: fallback=local, the blocking calls.  One rule: a lock
 * of this host is taken only where the store could not be asked, and says so.
 */
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig_fallback.h"

static struct fall f;

static hf_lock *local_lock(const char *name)
{
    struct hf_client_options o = fall_options(&f);
    return rig_lock(rig_client(&o), name);
}

TEST(fallback_local, a_hold_of_this_host_says_so)
{
    hf_hold *g = NULL;
    int held = 0;
    int64_t count = 0;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_fence(g), 0);
    CHECK_INT(hf_hold_count(g), 1);
    CHECK(hf_hold_valid_ms(g) > 0);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_lock_is_mine(l, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
    CHECK_INT(hf_lock_hold_count(l, &count, NULL), HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(atomic_load(&f.warnings), 1);
    CHECK(strncmp(f.warning, "a: held on this host only: ", 27) == 0);
}

TEST(fallback_local, a_hold_of_this_host_is_released)
{
    int64_t left = -1;
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a"), *other = local_lock("a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK); /* by its thread */
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
    CHECK_INT(left, 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK); /* by its handle */
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    CHECK_INT(hf_hold_release(g, NULL), HF_INVALID);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
}

TEST(fallback_local, is_entered_again_extended_and_left)
{
    hf_hold *first = NULL, *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &first, NULL), HF_OK);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_count(g), 2);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_fence(g), 0);
    CHECK_INT(hf_hold_extend(g, 5000, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_count(first), 1);
    CHECK_INT(hf_hold_state(first), HF_STATE_HELD);
    CHECK_INT(atomic_load(&f.warnings), 1); /* one hold, one warning */
}

/* A process that takes the lock, and gives it back when it is told to. */
static int holder_run(struct lab_proc *self, const void *arg)
{
    hf_hold *g = NULL;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    char line[PROC_LINE_MAX];
    (void)arg;
    if (!proc_hear(self, line, 60000)) return 1;
    if (hf_client_open(f.url, NULL, &c, NULL) != HF_OK) return 2;
    if (hf_lock_open(c, "a", &l, NULL) != HF_OK) return 3;
    int status = hf_lock_try(l, &g, NULL);
    proc_say(self, "%s %d", hf_status_name(status), hf_hold_guarantee(g));
    if (!proc_hear(self, line, 60000)) return 4;
    status = hf_hold_release(g, NULL);
    proc_say(self, "%s", hf_status_name(status));
    hf_client_close(c);
    return 0;
}

TEST(fallback_local, excludes_two_processes_of_this_host)
{
    static struct lab_proc p;
    struct hf_error err = {0};
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    proc_start(&p, holder_run, NULL);
    hf_lock *l = local_lock("a");
    fall_down(&f);
    proc_say(&p, "take it");
    CHECK(proc_hears(&p, "OK 1", RIG_PATIENCE_MS));
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_TAKEN);
    CHECK(strstr(err.text, "on this host") != NULL);
    CHECK_INT(rig_acquire(l, 0, 2 * FALL_PATIENCE_MS, NULL), HF_TIMEOUT);
    proc_say(&p, "give it back");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK(proc_hears(&p, "OK", RIG_PATIENCE_MS));
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), 0);
}

TEST(fallback_local, is_not_for_a_wait_that_the_store_answered)
{
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a"), *other = local_lock("a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(other, 0, 2000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    CHECK_INT(fall_files(&f), 0);
    CHECK_INT(atomic_load(&f.warnings), 0);
}

TEST(fallback_local, is_not_for_the_re_entry_of_a_store_s_hold)
{
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    uint64_t fence = hf_hold_fence(g);
    CHECK(fence > 0);
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK(hf_hold_fence(g) == fence);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_UNAVAILABLE);
    CHECK_INT(fall_files(&f), 0);
}

TEST(fallback_local, is_not_for_tickets_and_breaking)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_DETACHED);
    char ticket[HF_TICKET_MAX];
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a"), *m = local_lock("m");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_OK);
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(m, &o, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_lock_attach(l, ticket, 0, &g, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(fall_files(&f), 0);
    CHECK_INT(hf_lock_try(m, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(g, ticket, sizeof ticket, NULL), HF_UNSUPPORTED);
}

TEST(fallback_local, ends_when_the_store_answers_again)
{
    hf_hold *first = NULL, *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &first, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(first), HF_GUARANTEE_LOCAL);
    fall_up(&f);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK); /* still the same hold */
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_count(g), 2);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK_INT(fall_until_store(l, &g), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    CHECK(hf_hold_fence(g) > 0);
    CHECK_INT(redis_number(&f.redis, "EXISTS a"), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_INT(atomic_load(&f.returns), 1);
}

TEST(fallback_local, takes_over_from_a_server_that_hangs)
{
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    CHECK_INT(rig_probe(l), HF_OK);
    redis_pause(&f.redis);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    redis_resume(&f.redis);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(fall_until_store(l, &g), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
}

TEST(fallback_local, this_host_is_asked_who_holds)
{
    struct hf_info info = HF_INFO_INIT;
    int locked = 0;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a"), *other = local_lock("a");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.guarantee, HF_GUARANTEE_STORE);
    fall_down(&f);
    CHECK_INT(hf_lock_is_locked(other, &locked, NULL), HF_OK);
    CHECK_INT(locked, 0);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.guarantee, HF_GUARANTEE_LOCAL);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.pid, getpid());
    CHECK_INT(info.fence, 0);
}

TEST(fallback_local, a_name_with_a_slash_is_no_file_of_this_host)
{
    char path[192];
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    snprintf(path, sizeof path, "%s/made", f.dir);
    hf_lock *l = local_lock(path), *other = local_lock(path);
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

TEST(fallback_local, a_lost_hold_of_this_host_is_followed_by_the_store_s)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 1000, HF_ACQUIRE_FIXED);
    hf_hold *lost = NULL, *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(l, &o, &lost, NULL), HF_OK);
    CHECK(rig_until(is_lost, lost));
    CHECK_INT(hf_hold_guarantee(lost), HF_GUARANTEE_LOCAL);
    fall_up(&f);
    CHECK_INT(fall_until_store(l, &g), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_state(lost), HF_STATE_LOST); /* it stays so */
}

TEST(fallback_local, that_fails_too_says_both)
{
    struct hf_error err = {0};
    char url[600];
    fall_begin(&f, "local");
    snprintf(url, sizeof url, "%s?fallback=local&patience=%dms&fallback_dir=%s",
             f.redis.url, FALL_PATIENCE_MS, "/no/such/parent/dir");
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "redis") != NULL);
    CHECK(strstr(err.text, "this host: ") != NULL);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(fallback_local, whose_file_is_no_lock_says_both)
{
    struct hf_error err = {0};
    char path[sizeof f.dir + 16];
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a");
    fall_down(&f);
    snprintf(path, sizeof path, "%s/a.lock", f.dir);
    CHECK_INT(mkdir(path, 0700), 0);
    CHECK(hf_lock_try(l, NULL, &err) < HF_OK);
    CHECK(strstr(err.text, "redis") != NULL);
    CHECK(strstr(err.text, "this host: ") != NULL);
}

/* Slots are plain locks, but permits of this host would not count on other
 * hosts. */
TEST(fallback_local, is_not_for_the_slots_of_a_semaphore)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    struct hf_error err = {0};
    hf_semaphore *sem = NULL;
    char url[1200];
    fall_begin(&f, "local");
    fall_down(&f);
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?fallback=local&"
             "patience=%dms&fallback_dir=%s",
             FALL_PATIENCE_MS, f.dir);
    o.permits = 2;
    hf_client *c = rig_client_at(url, NULL);
    CHECK_INT(hf_semaphore_open(c, "s", &o, &sem, NULL), HF_OK);
    CHECK_INT(hf_semaphore_state(sem, &state, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "not kept on this host") != NULL);
}

TEST(fallback_local, a_hold_of_this_host_is_fed_and_inherited)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 3000, 0);
    hf_hold *g = NULL, *none = NULL;
    int fd = -1;
    fall_begin(&f, "local");
    hf_lock *l = local_lock("a"), *other = local_lock("a");
    o.feed_ms = 60000;
    fall_down(&f);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_feed(g), HF_OK);
    CHECK_INT(hf_lock_try(other, &none, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_feed(none), HF_INVALID);
    CHECK_INT(hf_hold_inherit(g, &fd, NULL), HF_OK);
    CHECK(fd >= 0);
    close(fd);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_feed(g), HF_INVALID);
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
}
