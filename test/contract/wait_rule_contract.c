/*
 * wait_rule_contract.c: one rule for every call that waits.  wait_ms of 0 is no
 * limit, a positive one is milliseconds, a negative one is invalid; one try is
 * a flag.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_gate.h"
#include "lib/rig_multi.h"
#include "lib/rig_semaphore.h"

/* ---- what is waited for ------------------------------------------------- */

#define SPOILS 20

/* `mine` is the caller's; the other has what is waited for. */
static struct {
    hf_client *mine, *other;
    hf_lock *lock, *taken, *part;
    hf_multi *multi;
    hf_semaphore *sem, *taken_sem;
    hf_hold *permit;
    hf_election *post, *led, *throne, *king;
    struct hf_leader seen;
    hf_latch *latch;
    hf_barrier *barrier;
    hf_once *run;
    atomic_int spoils; /* so often the other is faster yet */
    atomic_int calls;
    atomic_int told; /* callbacks of what was started */
} at;

static void elections_close(void *unused)
{
    (void)unused;
    rig_join(); /* no call may be under way */
    hf_election_close(at.post);
    hf_election_close(at.led);
    hf_election_close(at.throne);
    hf_election_close(at.king);
}

static hf_election *election(hf_client *c, const char *name)
{
    hf_election *e = NULL;
    CHECK_INT(hf_election_open(c, name, NULL, &e, NULL), HF_OK);
    return e;
}

static void open_all(void)
{
    memset(&at, 0, sizeof at);
    rig_begin();
    at.mine = rig_client(NULL);
    at.other = rig_client(NULL);
    at.lock = rig_lock(at.mine, "a");
    at.taken = rig_lock(at.other, "a");
    at.part = rig_lock(at.other, "c");
    hf_lock *set[] = {rig_lock(at.mine, "b"), rig_lock(at.mine, "c")};
    at.multi = rig_multi(set, 2);
    at.sem = rig_semaphore(at.mine, "s", 1);
    at.taken_sem = rig_semaphore(at.other, "s", 1);
    test_cleanup(elections_close, NULL);
    at.post = election(at.mine, "post");
    at.led = election(at.other, "post");
    at.throne = election(at.mine, "throne");
    at.king = election(at.other, "throne");
    if (!rig_has(HF_CAP_TALLY)) return;
    at.latch = rig_latch(at.mine, "l");
    at.barrier = rig_barrier(at.mine, "p", 2);
}

/* The other has it all, and each call would have to wait. */
static void take_all(void)
{
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    CHECK_INT(rig_acquire(at.taken, 0, RIG_TRY, NULL), HF_OK);
    CHECK_INT(rig_acquire(at.part, 0, RIG_TRY, NULL), HF_OK);
    CHECK_INT(rig_take(at.taken_sem, 1, 0, &at.permit), HF_OK);
    CHECK_INT(hf_election_campaign(at.led, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_election_campaign(at.king, NULL, NULL, NULL), HF_OK);
    hf_leader_init(&at.seen);
    CHECK_INT(hf_election_look(at.throne, &at.seen, NULL), HF_OK);
    hf_leader_free(at.throne, &at.seen);
    if (rig_has(HF_CAP_VALUE))
        CHECK_INT(hf_once_begin(at.other, "job", NULL, &at.run, &r, NULL),
                  HF_OK);
    if (rig_has(HF_CAP_TALLY))
        CHECK_INT(hf_latch_set(at.latch, 1, NULL), HF_OK);
    atomic_store(&at.spoils, SPOILS);
}

/* ---- the calls ---------------------------------------------------------- */

/* How to wait; NULL stands for no options at all. */
struct how {
    int64_t wait_ms;
    int is_try;
};

static struct hf_acquire_options acquire_how(const struct how *how)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    if (how && how->is_try) o.flags = HF_ACQUIRE_TRY;
    if (how) o.wait_ms = how->wait_ms;
    return o;
}

static int lock_call(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    return hf_lock_acquire(at.lock, how ? &o : NULL, NULL, err);
}

static void lock_told(hf_lock *lock, int status, hf_hold *hold,
                      const struct hf_error *err, void *user)
{
    (void)lock, (void)status, (void)hold, (void)err, (void)user;
    atomic_fetch_add(&at.told, 1);
}

static int lock_start(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    return hf_lock_acquire_start(at.lock, &o, lock_told, NULL, err);
}

static int multi_call(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    hf_hold *hold;
    return hf_multi_acquire(at.multi, how ? &o : NULL, &hold, err);
}

static void multi_told(hf_multi *multi, int status, hf_hold *hold,
                       const struct hf_error *err, void *user)
{
    (void)multi, (void)status, (void)hold, (void)err, (void)user;
    atomic_fetch_add(&at.told, 1);
}

static int multi_start(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    return hf_multi_acquire_start(at.multi, &o, multi_told, NULL, err);
}

static int semaphore_call(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    hf_hold *p;
    return hf_semaphore_acquire(at.sem, how ? &o : NULL, &p, err);
}

static void semaphore_told(hf_semaphore *sem, int status, hf_hold *hold,
                           const struct hf_error *err, void *user)
{
    (void)sem, (void)status, (void)hold, (void)err, (void)user;
    atomic_fetch_add(&at.told, 1);
}

static int semaphore_start(const struct how *how, struct hf_error *err)
{
    struct hf_acquire_options o = acquire_how(how);
    return hf_semaphore_acquire_start(at.sem, &o, semaphore_told, NULL, err);
}

static struct hf_campaign_options campaign_how(const struct how *how)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    if (how && how->is_try) o.flags = HF_CAMPAIGN_TRY;
    if (how) o.wait_ms = how->wait_ms;
    return o;
}

static int campaign_call(const struct how *how, struct hf_error *err)
{
    struct hf_campaign_options o = campaign_how(how);
    return hf_election_campaign(at.post, how ? &o : NULL, NULL, err);
}

static int campaign_start(const struct how *how, struct hf_error *err)
{
    struct hf_campaign_options o = campaign_how(how);
    return hf_election_campaign_start(at.post, &o, NULL, NULL, err);
}

static struct hf_await_options await_how(const struct how *how)
{
    struct hf_await_options o = HF_AWAIT_OPTIONS_INIT;
    if (how && how->is_try) o.flags = HF_AWAIT_TRY;
    if (how) o.wait_ms = how->wait_ms;
    return o;
}

static int await_call(const struct how *how, struct hf_error *err)
{
    struct hf_await_options o = await_how(how);
    struct hf_leader l = HF_LEADER_INIT;
    int status =
        hf_election_await(at.throne, &at.seen, how ? &o : NULL, &l, err);
    if (status == HF_OK) hf_leader_free(at.throne, &l);
    return status;
}

static int await_start(const struct how *how, struct hf_error *err)
{
    struct hf_await_options o = await_how(how);
    return hf_election_await_start(at.throne, &at.seen, &o, NULL, NULL, err);
}

/* HF_TAKEN stands for the outcome that it runs. */
static int once_call(const struct how *how, struct hf_error *err)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    if (how && how->is_try) o.flags = HF_ONCE_TRY;
    if (how) o.wait_ms = how->wait_ms;
    int status = hf_once_begin(at.mine, "job", how ? &o : NULL, &run, &r, err);
    if (status != HF_OK) return status;
    int outcome = r.outcome;
    hf_once_result_free(at.mine, &r);
    if (outcome == HF_ONCE_RUNNING) return HF_TAKEN;
    return outcome == HF_ONCE_DONE ? HF_OK : HF_INTERNAL;
}

static int spoil(const struct hf_value *now, struct hf_value_next *next,
                 void *unused)
{
    (void)now;
    (void)unused;
    atomic_fetch_add(&at.calls, 1);
    next->data = "mine";
    next->len = 4;
    if (atomic_load(&at.spoils) == 0) return 0;
    atomic_fetch_sub(&at.spoils, 1);
    return hf_value_write(at.other, "v", HF_VALUE_ANY, "its", 3, 0, NULL, NULL);
}

static int update_call(const struct how *how, struct hf_error *err)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    if (how && how->is_try) o.flags = HF_UPDATE_TRY;
    if (how) o.wait_ms = how->wait_ms;
    return hf_value_update(at.mine, "v", spoil, NULL, how ? &o : NULL, NULL,
                           err);
}

static struct hf_wait_options gate_how(const struct how *how)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    if (how && how->is_try) o.flags = HF_WAIT_TRY;
    if (how) o.wait_ms = how->wait_ms;
    return o;
}

static int latch_call(const struct how *how, struct hf_error *err)
{
    struct hf_wait_options o = gate_how(how);
    return hf_latch_wait(at.latch, how ? &o : NULL, err);
}

static int latch_start(const struct how *how, struct hf_error *err)
{
    struct hf_wait_options o = gate_how(how);
    return hf_latch_wait_start(at.latch, &o, NULL, NULL, err);
}

static int barrier_call(const struct how *how, struct hf_error *err)
{
    struct hf_wait_options o = gate_how(how);
    return hf_barrier_wait(at.barrier, how ? &o : NULL, NULL, err);
}

static int barrier_start(const struct how *how, struct hf_error *err)
{
    struct hf_wait_options o = gate_how(how);
    return hf_barrier_wait_start(at.barrier, &o, NULL, NULL, err);
}

/* ---- what the other does at last ---------------------------------------- */

static int lock_give(void)
{
    return hf_lock_release(at.taken, NULL, NULL);
}

static int part_give(void)
{
    return hf_lock_release(at.part, NULL, NULL);
}

static int permit_give(void)
{
    return hf_hold_release(at.permit, NULL);
}

static int post_give(void)
{
    return hf_election_resign(at.led, NULL);
}

static int throne_give(void)
{
    return hf_election_resign(at.king, NULL);
}

static int run_end(void)
{
    return hf_once_end(at.run, 0, NULL, 0, NULL);
}

static int latch_count(void)
{
    return hf_latch_down(at.latch, NULL, NULL);
}

static int barrier_come(void)
{
    return rig_barrier_wait(rig_barrier(at.other, "p", 2), RIG_WAIT_MS, NULL,
                            NULL);
}

/* One row for each call that waits. */
static const struct row {
    const char *name;
    unsigned cap; /* 0: every store has it */
    int (*call)(const struct how *how, struct hf_error *err);
    int (*start)(const struct how *how, struct hf_error *err); /* or NULL */
    int tried;                                                 /* with TRY */
    int (*give)(void); /* NULL: it ends by itself */
} rows[] = {
    {"lock", 0, lock_call, lock_start, HF_TAKEN, lock_give},
    {"multi", 0, multi_call, multi_start, HF_TAKEN, part_give},
    {"semaphore", 0, semaphore_call, semaphore_start, HF_TAKEN, permit_give},
    {"campaign", 0, campaign_call, campaign_start, HF_TAKEN, post_give},
    {"await", 0, await_call, await_start, HF_TIMEOUT, throne_give},
    {"once", HF_CAP_VALUE, once_call, NULL, HF_TAKEN, run_end},
    {"update", HF_CAP_VALUE, update_call, NULL, HF_CHANGED, NULL},
    {"latch", HF_CAP_TALLY, latch_call, latch_start, HF_TAKEN, latch_count},
    {"barrier", HF_CAP_TALLY, barrier_call, barrier_start, HF_TAKEN,
     barrier_come},
};
#define ROWS (sizeof rows / sizeof rows[0])

static int row_is_there(const struct row *r)
{
    return !r->cap || rig_has(r->cap);
}

/* ---- bad input ---------------------------------------------------------- */

/* Nobody waits for any of it or has any of it, and nothing was stored. */
static void nothing_was_done(void)
{
    struct hf_leader l = HF_LEADER_INIT;
    struct hf_value v = HF_VALUE_INIT;
    int64_t waiting = -1;
    CHECK_INT(rig_take(at.taken_sem, 1, 0, NULL), HF_OK);
    CHECK_INT(rig_probe(at.taken), HF_OK);
    CHECK_INT(rig_probe(at.part), HF_OK);
    CHECK_INT(rig_probe(rig_lock(at.other, "b")), HF_OK);
    CHECK_INT(hf_election_look(at.led, &l, NULL), HF_OK);
    CHECK_INT(l.is_led, 0);
    CHECK_INT(atomic_load(&at.calls), 0);
    CHECK_INT(atomic_load(&at.told), 0);
    if (rig_has(HF_CAP_VALUE)) {
        CHECK_INT(hf_value_read(at.other, "v", &v, NULL), HF_OK);
        CHECK_INT(v.version, 0);
        CHECK_INT(hf_value_read(at.other, "holdfast_once:{job}", &v, NULL),
                  HF_OK);
        CHECK_INT(v.version, 0);
    }
    if (!rig_has(HF_CAP_TALLY)) return;
    CHECK_INT(hf_barrier_waiting(at.barrier, &waiting, NULL), HF_OK);
    CHECK_INT(waiting, 0);
}

static void refused(int status, const struct hf_error *err, const char *name,
                    const char *why)
{
    if (status != HF_INVALID || !strstr(err->text, why))
        TEST_FAIL("%s: %s: %s", name, hf_status_name(status), err->text);
}

static void all_refuse(struct how how, const char *why)
{
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        struct hf_error err = {0};
        if (!row_is_there(r)) continue;
        refused(r->call(&how, &err), &err, r->name, why);
        err = (struct hf_error){0};
        if (r->start) refused(r->start(&how, &err), &err, r->name, why);
    }
}

TEST(wait_rule, a_negative_wait_is_invalid_in_every_call_and_does_nothing)
{
    open_all();
    all_refuse((struct how){-1, 0}, "wait of -1 ms: negative: 0 is no limit");
    all_refuse((struct how){-2, 0}, "wait of -2 ms: negative");
    all_refuse((struct how){INT64_MIN, 0}, "negative");
    all_refuse((struct how){-1, 1}, "negative");
    nothing_was_done();
}

TEST(wait_rule, one_try_with_a_wait_is_invalid_in_every_call_and_does_nothing)
{
    open_all();
    all_refuse((struct how){1, 1}, "one try and a wait of 1 ms: give one");
    all_refuse((struct how){60000, 1}, "one try and a wait of 60000 ms");
    nothing_was_done();
}

TEST(wait_rule, a_wait_that_no_clock_can_count_is_invalid_in_every_call)
{
    open_all();
    all_refuse((struct how){INT64_MAX, 0}, "out of range");
    nothing_was_done();
}

/* ---- trying and waiting ------------------------------------------------- */

TEST(wait_rule, one_try_does_not_wait_in_any_call)
{
    const struct how how = {0, 1};
    open_all();
    take_all();
    for (size_t i = 0; i < ROWS; i++) {
        struct hf_error err = {0};
        if (!row_is_there(&rows[i])) continue;
        int status = rows[i].call(&how, &err);
        if (status != rows[i].tried)
            TEST_FAIL("%s: %s: %s", rows[i].name, hf_status_name(status),
                      err.text);
    }
    if (rig_has(HF_CAP_VALUE)) CHECK_INT(atomic_load(&at.calls), 1);
    if (at.run) CHECK_INT(run_end(), HF_OK);
}

struct caller {
    const struct row *row;
    atomic_int started, ended;
    int status;
    struct hf_error err;
};

static void call_plainly(void *arg)
{
    struct caller *c = arg;
    atomic_store(&c->started, 1);
    c->status = c->row->call(NULL, &c->err);
    atomic_store(&c->ended, 1);
}

TEST(wait_rule, without_options_every_call_waits_until_it_has_what_it_wants)
{
    static struct caller callers[ROWS];
    memset(callers, 0, sizeof callers);
    open_all();
    take_all();
    for (size_t i = 0; i < ROWS; i++) {
        if (!row_is_there(&rows[i])) continue;
        callers[i].row = &rows[i];
        rig_spawn(call_plainly, &callers[i]);
        CHECK(rig_until_equal(&callers[i].started, 1));
    }
    rig_pause_ms(200);
    for (size_t i = 0; i < ROWS; i++) {
        struct caller *c = &callers[i];
        if (!c->row || !c->row->give) continue;
        if (atomic_load(&c->ended))
            TEST_FAIL("%s: %s: %s", c->row->name, hf_status_name(c->status),
                      c->err.text);
        CHECK_INT(c->row->give(), HF_OK);
    }
    rig_join();
    for (size_t i = 0; i < ROWS; i++)
        if (callers[i].row && callers[i].status != HF_OK)
            TEST_FAIL("%s: %s: %s", rows[i].name,
                      hf_status_name(callers[i].status), callers[i].err.text);
    if (rig_has(HF_CAP_VALUE)) CHECK_INT(atomic_load(&at.calls), SPOILS + 1);
}
