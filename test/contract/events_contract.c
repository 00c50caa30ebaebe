/*
 * events_contract.c: being told.  One rule: AT_RISK comes before LOST, each
 * once, and a released hold is silent.
 */
#include <string.h>

#include "lib/rig.h"

#define EVENTS_KEPT 32

struct ear {
    atomic_int len;
    struct hf_event events[EVENTS_KEPT];
    int64_t at_ms[EVENTS_KEPT];
};

static void on_state(const struct hf_event *ev, void *user)
{
    struct ear *e = user;
    int at = atomic_load(&e->len);
    if (at == EVENTS_KEPT) return;
    e->events[at] = *ev;
    e->at_ms[at] = rig_now_ms();
    atomic_store(&e->len, at + 1);
}

/* One ear per test, alive until the client is closed. */
static hf_client *client_with_ear(struct ear *e, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(e, 0, sizeof *e);
    o.on_state = on_state;
    o.state_user = e;
    o.lease_ms = lease_ms;
    return rig_client(&o);
}

TEST(events, at_risk_comes_before_lost_and_each_once)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e, 0), "a");
    struct hf_acquire_options o = rig_options(0, 500, HF_ACQUIRE_FIXED);
    hf_hold *g;
    int64_t began_ms = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_equal(&e.len, 2));
    CHECK_INT(e.events[0].state, HF_STATE_AT_RISK);
    CHECK_INT(e.events[1].state, HF_STATE_LOST);
    CHECK(e.events[0].valid_ms > 0 || e.at_ms[0] - began_ms > 490);
    CHECK_INT(e.events[1].valid_ms, 0);
    CHECK_INT(e.events[1].status, HF_EXPIRED);
    for (int i = 0; i < 2; i++) {
        CHECK(e.events[i].hold == g);
        CHECK(e.events[i].holder == hf_holder_self());
        CHECK(e.events[i].fence == hf_hold_fence(g));
        CHECK_STR(e.events[i].name, "a");
        CHECK_INT(e.events[i].name_len, 1);
        CHECK(e.events[i].text[0] != 0);
    }
    CHECK(e.at_ms[1] - began_ms >= 500 - 5 - 2 - 1);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&e.len), 2);
}

/* Hold it until it is lost; how often it was seen at risk before. */
static int risks_seen(hf_lock *l)
{
    struct hf_acquire_options o = rig_options(0, 1000, HF_ACQUIRE_FIXED);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    int seen = 0;
    hf_hold *g;
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (;;) {
        int state = hf_hold_state(g);
        if (state == HF_STATE_LOST) break;
        CHECK(state != HF_STATE_NONE && rig_now_ms() < end_ms);
        if (state == HF_STATE_AT_RISK) seen++;
        rig_pause_ms(1);
    }
    CHECK(hf_hold_release(g, NULL) != HF_OK);
    return seen;
}

/* It is at risk for 50 ms only, which a busy machine may sleep through. */
TEST(events, state_goes_through_at_risk)
{
    int seen = 0;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 10 && !seen; i++) seen = risks_seen(l);
    CHECK(seen > 0);
}

TEST(events, a_released_hold_is_silent)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e, 0), "a");
    struct hf_acquire_options o = rig_options(0, 3000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_pause_ms(3300);
    CHECK_INT(atomic_load(&e.len), 0);
}

TEST(events, a_renewed_hold_is_never_lost)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e, 4000), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    rig_pause_ms(6000);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    for (int i = 0; i < atomic_load(&e.len); i++)
        CHECK(e.events[i].state != HF_STATE_LOST);
}

TEST(events, a_broken_hold_is_lost_once)
{
    static struct ear e;
    rig_begin();
    hf_lock *l = rig_lock(client_with_ear(&e, 3000), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    if (!rig_has(HF_CAP_BREAK) || rig_has(HF_CAP_KERNEL)) {
        CHECK_INT(hf_lock_break(other, NULL, NULL), HF_UNSUPPORTED);
        rig_pause_ms(300);
        CHECK_INT(atomic_load(&e.len), 0);
        return;
    }
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    rig_pause_ms(3300);
    int lost = 0;
    for (int i = 0; i < atomic_load(&e.len); i++)
        lost += e.events[i].state == HF_STATE_LOST;
    CHECK_INT(lost, 1);
    CHECK_INT(e.events[atomic_load(&e.len) - 1].state, HF_STATE_LOST);
}

TEST(events, can_be_polled_for)
{
    struct hf_event ev = HF_EVENT_INIT;
    hf_hold *g;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    int fd = hf_client_event_fd(c);
    CHECK(fd >= 0);
    CHECK_INT(hf_client_event_fd(c), fd);
    CHECK(!rig_until_readable(fd, 0));
    CHECK_INT(hf_client_next_event(c, &ev), HF_EMPTY);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_readable(fd, RIG_PATIENCE_MS));
    CHECK_INT(hf_client_next_event(c, &ev), HF_OK);
    CHECK_INT(ev.state, HF_STATE_AT_RISK);
    CHECK(ev.fence == hf_hold_fence(g));
    CHECK(rig_until_readable(fd, RIG_PATIENCE_MS));
    CHECK_INT(hf_client_next_event(c, &ev), HF_OK);
    CHECK_INT(ev.state, HF_STATE_LOST);
    CHECK_STR(ev.name, "a");
    CHECK_INT(hf_client_next_event(c, &ev), HF_EMPTY);
    CHECK(!rig_until_readable(fd, 0));
}

struct helper {
    atomic_int calls;
    int status;
};

static void on_state_release(const struct hf_event *ev, void *user)
{
    struct helper *h = user;
    /* On a machine that is late, LOST is the first that is heard. */
    if (ev->state == HF_STATE_HELD || atomic_load(&h->calls)) return;
    h->status = hf_hold_release(ev->hold, NULL);
    atomic_fetch_add(&h->calls, 1);
}

TEST(events, callback_may_release_the_lock_in_time)
{
    static struct helper h;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options o = rig_options(0, 2000, HF_ACQUIRE_FIXED);
    rig_begin();
    memset(&h, 0, sizeof h);
    co.on_state = on_state_release;
    co.state_user = &h;
    hf_lock *l = rig_lock(rig_client(&co), "a");
    hf_hold *g;
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    CHECK(rig_until_equal(&h.calls, 1));
    CHECK(h.status == HF_OK || h.status == HF_EXPIRED);
    CHECK_INT(hf_hold_state(g), HF_STATE_NONE);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* Keeps the thread that tells busy until the lease is over, so that AT_RISK and
 * LOST are due at once. */
static void on_acquired_linger(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user)
{
    (void)lock, (void)status, (void)hold, (void)err, (void)user;
    rig_pause_ms(600);
}

struct nest {
    hf_lock *lock;
    atomic_int calls, inside, nested;
};

static void on_state_ask(const struct hf_event *ev, void *user)
{
    struct nest *n = user;
    int locked;
    (void)ev;
    if (atomic_fetch_add(&n->inside, 1) > 0) atomic_fetch_add(&n->nested, 1);
    hf_lock_is_locked(n->lock, &locked, NULL);
    atomic_fetch_sub(&n->inside, 1);
    atomic_fetch_add(&n->calls, 1);
}

TEST(events, callback_that_blocks_is_not_called_inside_itself)
{
    static struct nest n;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options o = rig_options(0, 300, HF_ACQUIRE_FIXED);
    rig_begin();
    memset(&n, 0, sizeof n);
    co.on_state = on_state_ask;
    co.state_user = &n;
    n.lock = rig_lock(rig_client(&co), "a");
    CHECK_INT(hf_lock_acquire_start(n.lock, &o, on_acquired_linger, NULL, NULL),
              HF_OK);
    CHECK(rig_until_equal(&n.calls, 2));
    CHECK_INT(atomic_load(&n.nested), 0);
}
