/*
 * errors_contract.c: what the text of an error begins with.  One rule for every
 * call: not with the name of the object that the call was made on, so that a
 * caller can put the name in front of it and never has to take one away.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_gate.h"
#include "lib/rig_multi.h"
#include "lib/rig_semaphore.h"

#define NAME "zebra"

/* A call that must fail: it has an error text, which does not begin with the
 * name. */
static void check(int status, const struct hf_error *err, int line)
{
    if (status == HF_OK) TEST_FAIL("line %d: it did not fail", line);
    CHECK_INT(err->status, status);
    if (!err->text[0] || strncmp(err->text, NAME, strlen(NAME)) == 0)
        TEST_FAIL("line %d: %s: \"%s\"", line, hf_status_name(status),
                  err->text);
}

#define FAILS(call)                                                            \
    do {                                                                       \
        struct hf_error err = {0};                                             \
        int got = (call);                                                      \
        check(got, &err, __LINE__);                                            \
    } while (0)

/* An acquire that must fail, with one or two options `set` in `o`. */
#define REFUSES(lock, set)                                                     \
    do {                                                                       \
        struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;                 \
        hf_hold *got_hold;                                                     \
        set;                                                                   \
        FAILS(hf_lock_acquire((lock), &o, &got_hold, &err));                   \
    } while (0)

TEST(errors, of_a_bad_option_do_not_begin_with_the_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, NAME), *other;
    struct hf_lock_options lo = HF_LOCK_OPTIONS_INIT;
    lo.kind = 99;
    FAILS(hf_lock_open_as(c, NAME, &lo, &other, &err));
    lo.kind = HF_KIND_PLAIN;
    lo.order = HF_ORDER_WRITERS;
    FAILS(hf_lock_open_as(c, NAME, &lo, &other, &err));
    REFUSES(l, o.lease_ms = 5);
    REFUSES(l, o.wait_ms = -1);
    REFUSES(l, o.wait_ms = INT64_MAX);
    REFUSES(l, (o.wait_ms = 5, o.flags = HF_ACQUIRE_TRY));
    REFUSES(l, o.flags = 1u << 31);
    REFUSES(l, o.flags = HF_ACQUIRE_UPGRADE | HF_ACQUIRE_TRY);
    REFUSES(l, o.permits = 2);
    REFUSES(l, (o.renew_ms = 20000, o.lease_ms = 30000));
    REFUSES(l, (o.renew_ms = 5, o.flags = HF_ACQUIRE_FIXED));
    REFUSES(l, o.max_hold_ms = 1);
    REFUSES(l, o.feed_ms = -1);
    REFUSES(l, o.backoff_ms = 5);
    REFUSES(l, o.backoff = 99);
    REFUSES(l, o.struct_size = 1);
    FAILS(hf_lock_acquire_start(l, NULL, NULL, NULL, &err));
}

TEST(errors, of_a_lock_do_not_begin_with_its_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *mine = rig_lock(c, NAME), *other = rig_lock(d, NAME);
    hf_hold *hold;
    CHECK_INT(hf_lock_acquire(mine, NULL, &hold, NULL), HF_OK);
    REFUSES(other, o.flags = HF_ACQUIRE_TRY);
    REFUSES(other, o.wait_ms = 20);
    FAILS(hf_lock_release(other, NULL, &err));
    FAILS(hf_hold_extend(hold, 5, &err));
    char ticket[HF_TICKET_MAX];
    FAILS(hf_hold_ticket(hold, ticket, 1, &err));
    FAILS(hf_hold_ticket(hold, ticket, sizeof ticket, &err));
    FAILS(hf_lock_attach(other, "no ticket", 0, &hold, &err));
    CHECK_INT(hf_lock_release(mine, NULL, NULL), HF_OK);
    FAILS(hf_lock_release(mine, NULL, &err));
}

TEST(errors, of_a_broken_hold_do_not_begin_with_its_name)
{
    if (!rig_begin_with(HF_CAP_BREAK | HF_CAP_DETACHED)) return;
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, NAME);
    hf_hold *hold;
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = HF_ACQUIRE_DETACHED;
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    CHECK_INT(hf_lock_break(rig_lock(rig_client(NULL), NAME), NULL, NULL),
              HF_OK);
    FAILS(hf_hold_extend(hold, 0, &err));
    char why[HF_ERROR_TEXT_MAX];
    hf_hold_why(hold, why);
    CHECK(why[0] && strncmp(why, NAME, strlen(NAME)) != 0);
    FAILS(hf_hold_release(hold, &err));
}

static struct hf_event told;
static atomic_int lost;

static void lost_note(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state != HF_STATE_LOST || atomic_load(&lost)) return;
    told = *ev;
    atomic_store(&lost, 1);
}

TEST(errors, an_event_names_the_lock_but_its_text_does_not_begin_so)
{
    rig_begin();
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    co.on_state = lost_note;
    atomic_store(&lost, 0);
    hf_lock *l = rig_lock(rig_client(&co), NAME);
    struct hf_acquire_options o = rig_options(0, 500, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&lost, 1));
    CHECK_STR(told.name, NAME);
    CHECK(told.text[0] && strncmp(told.text, NAME, strlen(NAME)) != 0);
}

/* On every store: calls that it does not support must fail as well. */
TEST(errors, of_other_kinds_do_not_begin_with_their_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_latch *latch;
    hf_barrier *barrier;
    hf_semaphore *sem;
    hf_hold *hold;
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    so.permits = -1;
    FAILS(hf_semaphore_open(c, NAME, &so, &sem, &err));
    so.permits = 2;
    so.order = 99;
    FAILS(hf_semaphore_open(c, NAME, &so, &sem, &err));
    FAILS(hf_barrier_open(c, NAME, 0, &barrier, &err));
    sem = rig_semaphore(c, NAME, 1);
    CHECK_INT(hf_semaphore_try(sem, &hold, NULL), HF_OK);
    FAILS(hf_semaphore_try(sem, &hold, &err));
    FAILS(hf_semaphore_acquire(sem, NULL, NULL, &err));
    FAILS(hf_semaphore_set(sem, -1, 0, NULL, &err));
    FAILS(hf_semaphore_drain(sem, NULL, &err));
    FAILS(hf_semaphore_attach(sem, "no ticket", 0, &hold, &err));
    if (!rig_has(HF_CAP_TALLY)) {
        FAILS(hf_latch_open(c, NAME "-2", &latch, &err));
        FAILS(hf_barrier_open(c, NAME "-2", 2, &barrier, &err));
        return;
    }
    latch = rig_latch(c, NAME "-2");
    FAILS(hf_latch_set(latch, 0, &err));
    FAILS(hf_latch_down(latch, NULL, &err));
    CHECK_INT(hf_latch_set(latch, 3, NULL), HF_OK);
    FAILS(hf_latch_set(latch, 3, &err));
    struct hf_wait_options wo = HF_WAIT_OPTIONS_INIT;
    wo.flags = HF_WAIT_TRY;
    FAILS(hf_latch_wait(latch, &wo, &err));
    FAILS(rig_latch_wait(latch, 20, &err));
    FAILS(rig_barrier_wait(rig_barrier(c, NAME "-3", 2), 20, NULL, &err));
    /* One name, one kind. */
    FAILS(hf_lock_try(rig_lock(c, NAME "-2"), &hold, &err));
}

TEST(errors, of_a_set_name_the_part_behind_the_first_word)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, NAME), rig_lock(c, NAME "-2")};
    hf_multi *m = rig_multi(locks, 2);
    hf_lock *other = rig_lock(rig_client(NULL), NAME "-2");
    struct hf_error why = {0};
    hf_hold *hold;
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    int status = hf_multi_try(m, &hold, &why);
    check(status, &why, __LINE__);
    CHECK(strstr(why.text, NAME "-2: ") != NULL);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_try(m, &hold, NULL), HF_OK);
    FAILS(hf_hold_extend(hold, 5, &err));
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

TEST(errors, of_an_election_do_not_begin_with_its_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_election *e;
    hf_hold *hold;
    struct hf_election_options eo = HF_ELECTION_OPTIONS_INIT;
    eo.lease_ms = 5;
    FAILS(hf_election_open(c, NAME, &eo, &e, &err));
    CHECK_INT(hf_election_open(c, NAME, NULL, &e, NULL), HF_OK);
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    co.wait_ms = -1;
    FAILS(hf_election_campaign(e, &co, &hold, &err));
    FAILS(hf_election_resign(e, &err));
    CHECK_INT(hf_election_campaign(e, NULL, &hold, NULL), HF_OK);
    FAILS(hf_election_campaign(e, NULL, &hold, &err));
    FAILS(hf_election_publish(e, NULL, 1, &err));
    hf_election_close(e);
}

TEST(errors, of_values_and_runs_do_not_begin_with_their_name)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    struct hf_once_options oo = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_once *run;
    oo.wait_ms = -1;
    FAILS(hf_once_begin(c, NAME, &oo, &run, &result, &err));
    FAILS(hf_value_write(c, NAME, 0, NULL, 1, 0, NULL, &err));
    FAILS(hf_value_write(c, NAME, 0, "a", 1, -1, NULL, &err));
    FAILS(hf_value_write(c, NAME, 77, "a", 1, 0, NULL, &err));
    FAILS(hf_value_delete(c, NAME, 77, &err));
    FAILS(hf_guard_set(c, NAME, 0, "a", 1, 0, &err));
    FAILS(hf_guard_set(c, NAME, 1, NULL, 1, 0, &err));
    FAILS(hf_guard_set(c, NAME, 1, "a", 1, -1, &err));
    if (!rig_has(HF_CAP_GUARD)) return;
    CHECK_INT(hf_guard_touch(c, NAME, 12, NULL), HF_OK);
    FAILS(hf_guard_touch(c, NAME, 11, &err));
}
