/*
 * watchdog_contract.c: renewals as asked for, the longest hold, and feeding.
 * One rule: whatever the watchdog does, a hold ends when its user said that it
 * must, and is told before.
 */
#include <string.h>

#include "lib/rig.h"

#define EVENTS_KEPT 8
#define HOUR_MS 3600000

struct ear {
    atomic_int len;
    struct hf_event events[EVENTS_KEPT];
};

static void on_state(const struct hf_event *ev, void *user)
{
    struct ear *e = user;
    int at = atomic_load(&e->len);
    if (at == EVENTS_KEPT) return;
    e->events[at] = *ev;
    atomic_store(&e->len, at + 1);
}

static hf_client *client_with_ear(struct ear *e)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(e, 0, sizeof *e);
    o.on_state = on_state;
    o.state_user = e;
    return rig_client(&o);
}

static int acquire_capped(hf_lock *l, int64_t lease_ms, int64_t max_hold_ms,
                          hf_hold **g)
{
    struct hf_acquire_options o = rig_options(0, lease_ms, 0);
    o.max_hold_ms = max_hold_ms;
    return hf_lock_acquire(l, &o, g, NULL);
}

static int acquire_fed(hf_lock *l, int64_t lease_ms, int64_t feed_ms,
                       hf_hold **g)
{
    struct hf_acquire_options o = rig_options(0, lease_ms, 0);
    o.feed_ms = feed_ms;
    return hf_lock_acquire(l, &o, g, NULL);
}

/* Has its time left gone up since the last look? */
struct look {
    hf_hold *hold;
    int64_t last_ms;
};

static int is_renewed(void *arg)
{
    struct look *k = arg;
    int64_t before_ms = k->last_ms;
    k->last_ms = hf_hold_valid_ms(k->hold);
    return k->last_ms > before_ms;
}

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

static int is_half_gone(void *arg)
{
    struct look *k = arg;
    return hf_hold_valid_ms(k->hold) < k->last_ms;
}

/* ---- renewals ----------------------------------------------------------- */

/* By itself, an hour's lease is renewed after some ten minutes. */
TEST(watchdog, renews_as_often_as_it_was_asked_to)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct look k = {NULL, HOUR_MS};
    struct hf_acquire_options o = rig_options(0, HOUR_MS, 0);
    if (rig_has(HF_CAP_KERNEL)) return; /* there is no time to be seen */
    o.renew_ms = 100;
    CHECK_INT(hf_lock_acquire(l, &o, &k.hold, NULL), HF_OK);
    CHECK(rig_until(is_renewed, &k));
    CHECK(rig_until(is_renewed, &k));
    CHECK_INT(hf_hold_release(k.hold, NULL), HF_OK);
}

static int status_of(hf_lock *l, struct hf_acquire_options o)
{
    struct hf_error err = {0};
    int status = hf_lock_acquire(l, &o, NULL, &err);
    CHECK(status == HF_OK || err.text[0] != '\0');
    return status;
}

TEST(watchdog, period_must_fit_the_lease)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 10000, 0);
    o.renew_ms = -1;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.renew_ms = 5001;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.renew_ms = 5000;
    o.flags |= HF_ACQUIRE_FIXED;
    CHECK_INT(status_of(l, o), HF_INVALID); /* nothing renews it */
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    o.flags &= ~HF_ACQUIRE_FIXED;
    CHECK_INT(status_of(l, o), HF_OK);
}

/* ---- the longest hold --------------------------------------------------- */

TEST(watchdog, lets_go_after_the_longest_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(acquire_capped(l, HOUR_MS, 2000, &g), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= 2000);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    /* Long before the lease would end. */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
    CHECK_INT(hf_hold_valid_ms(g), 0);
    int status = hf_hold_release(g, NULL);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
    CHECK_INT(hf_lock_release(other, NULL, NULL), HF_OK);
}

TEST(watchdog, tells_of_the_longest_hold_before_it_is_over)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e), "a");
    CHECK_INT(acquire_capped(l, 3000, 4000, NULL), HF_OK);
    CHECK(rig_until_equal(&e.len, 2));
    CHECK_INT(e.events[0].state, HF_STATE_AT_RISK);
    CHECK_INT(e.events[0].status, HF_EXPIRED);
    CHECK_INT(e.events[1].state, HF_STATE_LOST);
    CHECK_INT(e.events[1].status, HF_EXPIRED);
    CHECK(strstr(e.events[1].text, "longest hold") != NULL);
}

TEST(watchdog, longest_hold_is_not_moved_by_anything)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *first, *g;
    CHECK_INT(acquire_capped(l, 3000, 4000, &first), HF_OK);
    CHECK_INT(acquire_capped(l, HOUR_MS, HOUR_MS, &g), HF_OK);
    CHECK_INT(hf_hold_count(g), 2);
    CHECK(hf_hold_valid_ms(g) <= 4000);
    CHECK_INT(hf_hold_extend(g, HOUR_MS, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= 4000);
    CHECK(hf_hold_valid_ms(first) <= 4000);
    CHECK(rig_until(is_lost, first));
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
}

TEST(watchdog, longest_hold_out_of_range_is_invalid)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    o.max_hold_ms = -1;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.max_hold_ms = HF_LEASE_MS_MIN - 1;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.max_hold_ms = INT64_MAX;
    CHECK_INT(status_of(l, o), HF_INVALID);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

/* ---- feeding ------------------------------------------------------------ */

static int is_fed_and_renewed(void *arg)
{
    struct look *k = arg;
    return hf_hold_feed(k->hold) == HF_OK && is_renewed(k);
}

TEST(watchdog, keeps_what_is_fed)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_renewed(0);
    o.feed_ms = 20000;
    struct look k = {NULL, INT64_MAX};
    CHECK_INT(hf_lock_acquire(l, &o, &k.hold, NULL), HF_OK);
    for (int i = 0; i < 10; i++) CHECK(rig_until(is_fed_and_renewed, &k));
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(k.hold, NULL), HF_OK);
}

TEST(watchdog, lets_go_of_what_is_not_fed_and_says_so)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(acquire_fed(l, 900, 100, &g), HF_OK);
    CHECK(hf_hold_valid_ms(g) <= 900); /* also where holds have no end */
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_until_equal(&e.len, 2));
    CHECK_INT(e.events[0].state, HF_STATE_AT_RISK);
    CHECK_INT(e.events[0].status, HF_EXPIRED);
    CHECK_INT(e.events[1].state, HF_STATE_LOST);
    CHECK_INT(e.events[1].status, HF_EXPIRED);
    for (int i = 0; i < 2; i++)
        CHECK(strstr(e.events[i].text, "not fed") != NULL);
    int status = hf_hold_feed(g);
    CHECK(status == HF_EXPIRED || status == HF_LOST);
}

TEST(watchdog, feed_in_time_saves_a_starving_hold)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct look k = {NULL, 3500};
    CHECK_INT(acquire_fed(l, 6000, 50, &k.hold), HF_OK);
    CHECK(rig_until(is_half_gone, &k)); /* the renewal is overdue */
    CHECK_INT(hf_hold_feed(k.hold), HF_OK);
    CHECK(rig_until(is_renewed, &k));
    CHECK_INT(hf_hold_state(k.hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(k.hold, NULL), HF_OK);
}

TEST(watchdog, feeds_only_what_wants_to_be_fed)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_hold_feed(NULL), HF_INVALID);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_feed(g), HF_INVALID);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(acquire_fed(l, 6000, 3000, &g), HF_OK);
    CHECK_INT(hf_hold_feed(g), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(hf_hold_feed(g), HF_INVALID);
}

TEST(watchdog, feeding_out_of_range_is_invalid)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    o.feed_ms = -1;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.feed_ms = 86400001;
    CHECK_INT(status_of(l, o), HF_INVALID);
    o.feed_ms = 1000;
    o.flags |= HF_ACQUIRE_FIXED;
    CHECK_INT(status_of(l, o), HF_INVALID); /* nothing renews it */
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

TEST(watchdog, hold_of_the_store_is_guaranteed_by_the_store)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_STORE);
}
