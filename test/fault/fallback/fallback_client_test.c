/*
 * fallback_client_test.c: fallback=local, two holders of one client.  One rule:
 * they never have the store's lock and this host's at the same time.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rig_fallback.h"

static struct fall f;

/* What the callbacks have told, by holder. */
struct told {
    atomic_int acquired;
    int status;
    hf_hold *hold;
    char text[HF_ERROR_TEXT_MAX];
};
static struct told mine, theirs;

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)lock;
    snprintf(t->text, sizeof t->text, "%s", err->text);
    t->status = status;
    t->hold = hold;
    atomic_fetch_add(&t->acquired, 1);
}

static hf_lock *begin(void)
{
    fall_begin(&f, "local");
    memset(&mine, 0, sizeof mine);
    memset(&theirs, 0, sizeof theirs);
    struct hf_client_options o = fall_options(&f);
    return rig_lock(rig_client(&o), "a");
}

static void start(hf_lock *l, struct told *t)
{
    CHECK_INT(hf_lock_acquire_start(l, NULL, on_acquired, t, NULL), HF_OK);
}

/* The store answers again, and this client knows it. */
static void store_is_back(hf_lock *l)
{
    struct hf_info info = HF_INFO_INIT;
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    fall_up(&f);
    do {
        CHECK(rig_now_ms() < end_ms);
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    } while (info.guarantee != HF_GUARANTEE_STORE);
}

TEST(fallback_client, who_comes_later_goes_to_this_host_as_well)
{
    hf_hold *g = NULL;
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    hf_lock *l = begin();
    o.holder = hf_holder_new();
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    store_is_back(l);
    CHECK_INT(hf_lock_acquire(l, &o, &g, &err), HF_TAKEN);
    CHECK(strstr(err.text, "on this host") != NULL);
    CHECK_INT(redis_number(&f.redis, "EXISTS a"), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
}

TEST(fallback_client, who_waits_for_this_host_s_lock_is_told_what_he_got)
{
    hf_lock *l = begin();
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    store_is_back(l);
    start(l, &theirs);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&theirs.acquired), 0);
    CHECK_INT(redis_number(&f.redis, "EXISTS a"), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&theirs.acquired, 1));
    CHECK_INT(theirs.status, HF_OK);
    CHECK_INT(hf_hold_guarantee(theirs.hold), HF_GUARANTEE_LOCAL);
    CHECK_INT(hf_hold_state(theirs.hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_fence(theirs.hold), 0);
    CHECK_INT(atomic_load(&f.warnings), 2);
    CHECK(strstr(f.warning, "another holder of this client") != NULL);
}

/* The second holder asked the store while this host's lock was free. */
TEST(fallback_client, who_is_granted_the_store_s_meanwhile_gives_it_back)
{
    hf_lock *l = begin();
    CHECK_INT(rig_probe(l), HF_OK);
    redis_pause(&f.redis);
    start(l, &mine);
    rig_pause_ms(FALL_PATIENCE_MS - 100);
    start(l, &theirs);
    CHECK(rig_until_equal(&mine.acquired, 1));
    redis_resume(&f.redis);
    CHECK_INT(hf_hold_guarantee(mine.hold), HF_GUARANTEE_LOCAL);
    rig_pause_ms(2 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&theirs.acquired), 0);
    CHECK_INT(redis_number(&f.redis, "EXISTS a"), 0);
    CHECK_INT(hf_hold_release(mine.hold, NULL), HF_OK);
    CHECK(rig_until_equal(&theirs.acquired, 1));
    CHECK_INT(theirs.status, HF_OK);
    CHECK_INT(hf_hold_guarantee(theirs.hold), HF_GUARANTEE_LOCAL);
}

TEST(fallback_client, a_ticket_is_not_had_while_another_has_this_host_s)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_DETACHED);
    hf_lock *l = begin();
    o.holder = hf_holder_new();
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    store_is_back(l);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "on this host") != NULL);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (redis_number(&f.redis, "EXISTS a")) CHECK(rig_now_ms() < end_ms);
}

/* ---- a ticket ------------------------------------------------------------ */

/* The store is silent, not down: it remembers the ticket's hold. */
TEST(fallback_client, the_lock_of_this_host_is_given_back_for_the_store_s)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_DETACHED);
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    char ticket[HF_TICKET_MAX];
    hf_hold *attached = NULL, *other = NULL;
    hf_lock *l = begin();
    CHECK_INT(hf_lock_acquire(l, &o, &attached, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(attached, ticket, sizeof ticket, NULL), HF_OK);
    redis_pause(&f.redis);
    hf_lock *beside = rig_lock(rig_client(&co), "a");
    CHECK_INT(hf_lock_try(beside, &other, NULL), HF_OK);
    start(l, &mine); /* it waits for this host's */
    rig_pause_ms(2 * FALL_PATIENCE_MS);
    CHECK_INT(atomic_load(&mine.acquired), 0);
    redis_resume(&f.redis);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (hf_lock_attach(l, ticket, 0, &attached, NULL) != HF_OK)
        CHECK(rig_now_ms() < end_ms);
    CHECK_INT(hf_hold_release(other, NULL), HF_OK);
    CHECK(rig_until_equal(&mine.acquired, 1));
    CHECK_INT(mine.status, HF_UNAVAILABLE);
    CHECK(strstr(mine.text, "has the store's lock by now") != NULL);
    CHECK_INT(hf_hold_state(attached), HF_STATE_HELD);
    CHECK_INT(hf_hold_guarantee(attached), HF_GUARANTEE_STORE);
    /* It is free again. */
    redis_pause(&f.redis);
    CHECK_INT(hf_lock_try(beside, &other, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(other), HF_GUARANTEE_LOCAL);
    redis_resume(&f.redis);
}
