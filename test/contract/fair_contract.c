/*
 * fair_contract.c: locks that go to the longest waiter.  One rule: a test
 * starts the next waiter when the store reports that the last one is queued.
 */
#include "lib/fair.h"

#define CLIENTS 3
#define WAITERS 6

static struct fair_waiter waiters[FAIR_MAX];
static atomic_int turns;

/* Waiters on several clients in turn, all behind each other. */
static void queue_up(hf_client *const *clients, int len, int64_t hold_ms)
{
    atomic_store(&turns, 0);
    for (int i = 0; i < len; i++) {
        hf_lock *l = fair_lock(clients[i % CLIENTS], "a");
        waiters[i] = (struct fair_waiter){
            .lock = l, .turns = &turns, .hold_ms = hold_ms};
        fair_join(&waiters[i]);
    }
}

static void clients_open(hf_client **clients)
{
    for (int i = 0; i < CLIENTS; i++) clients[i] = rig_client(NULL);
}

/* testConcurrency_MultiInstance_Ordering */
TEST(fair, who_came_first_is_served_first_across_clients)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, WAITERS, 5);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT(waiters[i].status, HF_OK);
        CHECK_INT(waiters[i].release_status, HF_OK);
        CHECK_INT(waiters[i].turn, i + 1);
    }
    CHECK_INT(fair_queued(l), 0);
    CHECK_INT(rig_probe(l), HF_OK);
}

/* A waiter that notes what it was granted, and releases it at once.  Static:
 * its thread may outlive a test that fails. */
struct reader {
    hf_lock *lock;
    int64_t lease_ms; /* 0: the client's */
    unsigned flags;   /* HF_ACQUIRE_* */
    int status, release_status;
    uint64_t fence;
    int64_t valid_ms;
};

static void reader_run(void *arg)
{
    struct reader *r = arg;
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, r->lease_ms, r->flags);
    hf_hold *g = NULL;
    r->status = hf_lock_acquire(r->lock, &o, &g, NULL);
    r->valid_ms = hf_hold_valid_ms(g);
    r->fence = hf_hold_fence(g);
    r->release_status = hf_hold_release(g, NULL);
}

/* Start one, and wait until it is in the queue as the last one. */
static void reader_join(struct reader *r)
{
    int64_t queued = fair_queued(r->lock);
    rig_spawn(reader_run, r);
    CHECK(fair_until_queued(r->lock, queued + 1));
}

TEST(fair, tokens_rise_with_every_hand_over)
{
    static struct reader readers[WAITERS];
    hf_client *clients[CLIENTS];
    hf_hold *first;
    if (!rig_begin_with(HF_CAP_QUEUE | HF_CAP_FENCE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, &first), HF_OK);
    uint64_t before = hf_hold_fence(first);
    for (int i = 0; i < WAITERS; i++) {
        readers[i] =
            (struct reader){.lock = fair_lock(clients[i % CLIENTS], "a")};
        reader_join(&readers[i]);
    }
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < WAITERS; i++) {
        CHECK_INT(readers[i].status, HF_OK);
        CHECK_INT(readers[i].release_status, HF_OK);
        CHECK(readers[i].fence > before);
        before = readers[i].fence;
    }
}

TEST(fair, a_free_lock_is_had_at_once)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_hold *g;
    CHECK_INT(rig_acquire(l, 0, 5000, &g), HF_OK);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK(hf_hold_valid_ms(g) > 20000);
    CHECK_INT(fair_queued(l), 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(fair, length_and_position_are_told)
{
    hf_client *clients[CLIENTS];
    struct hf_info info = HF_INFO_INIT;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, 3, 0);
    for (int i = 0; i < 3; i++)
        CHECK_INT(
            fair_position(waiters[i].lock, atomic_load(&waiters[i].holder)),
            i + 1);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.queued, 3);
    CHECK_INT(info.position, 0); /* the holder is not queued */
    CHECK(info.mine);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
}

TEST(fair, a_try_respects_the_queue_and_never_enters_it)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(rig_probe(fair_lock(clients[1], "a")), HF_TAKEN);
    CHECK_INT(fair_queued(l), 0);
    queue_up(clients, 1, 3000);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(fair_lock(clients[2], "a")), HF_TAKEN);
    CHECK_INT(rig_probe(rig_lock(clients[2], "a")), HF_TAKEN);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    CHECK_INT(fair_queued(l), 0);
}

/* The holder's own next acquire comes after the waiters. */
TEST(fair, who_releases_and_asks_again_is_served_last)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, 3, 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(atomic_load(&turns), 3);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
}

TEST(fair, a_holder_who_did_not_queue_hands_over_as_well)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *plain = rig_lock(clients[0], "a");
    CHECK_INT(rig_acquire(plain, 0, 0, NULL), HF_OK);
    queue_up(clients, 3, 0);
    CHECK_INT(hf_lock_release(plain, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 3; i++) CHECK_INT(waiters[i].turn, i + 1);
}

/* It waits until no client has a queued waiter. */
TEST(fair, who_does_not_queue_comes_after_all_who_do)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, 2, 100);
    hf_lock *plain = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(plain, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(atomic_load(&turns), 2);
    CHECK_INT(hf_lock_release(plain, NULL, NULL), HF_OK);
    rig_join();
}

/* testTryLockNonDelayed */
TEST(fair, a_wait_that_times_out_leaves_no_trace)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(rig_acquire(other, 0, 1000, NULL), HF_TIMEOUT);
    CHECK(fair_until_queued(l, 0));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_free(l));
    CHECK(rig_until_free(other));
}

TEST(fair, who_left_the_queue_does_not_change_the_token_that_is_told)
{
    hf_hold *g;
    struct hf_info info = HF_INFO_INIT;
    if (!rig_begin_with(HF_CAP_QUEUE | HF_CAP_FENCE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, &g), HF_OK);
    CHECK_INT(rig_acquire(other, 0, 1000, NULL), HF_TIMEOUT);
    CHECK(fair_until_queued(l, 0));
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK(info.fence == hf_hold_fence(g));
}

TEST(fair, who_is_cancelled_leaves_the_queue_to_the_next)
{
    static hf_cancel *cancel;
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    CHECK_INT(hf_cancel_open(clients[1], &cancel), HF_OK);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    atomic_store(&turns, 0);
    waiters[0] = (struct fair_waiter){.lock = fair_lock(clients[1], "a"),
                                      .cancel = cancel};
    waiters[1] = (struct fair_waiter){.lock = fair_lock(clients[2], "a"),
                                      .turns = &turns};
    fair_join(&waiters[0]);
    fair_join(&waiters[1]);
    hf_cancel_fire(cancel);
    CHECK(fair_until_queued(l, 1));
    CHECK_INT(fair_position(waiters[1].lock, atomic_load(&waiters[1].holder)),
              1);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiters[0].status, HF_CANCELLED);
    CHECK_INT(waiters[1].status, HF_OK);
    hf_cancel_close(cancel);
}

static void note_status(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock, (void)hold, (void)err;
    atomic_store((atomic_int *)user, status);
}

TEST(fair, a_client_that_is_closed_leaves_the_queue)
{
    static atomic_int told;
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    hf_lock *other = fair_lock(clients[1], "a");
    atomic_store(&told, HF_INTERNAL);
    CHECK_INT(hf_lock_acquire_start(other, &o, note_status, &told, NULL),
              HF_OK);
    CHECK(fair_until_queued(l, 1));
    rig_close(clients[1]);
    CHECK_INT(atomic_load(&told), HF_CLOSED);
    CHECK(fair_until_queued(l, 0));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_free(l));
}

TEST(fair, breaking_gives_it_to_the_first_who_waits)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE | HF_CAP_BREAK)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, 3, 50);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 3; i++) CHECK_INT(waiters[i].turn, i + 1);
}

/* testLeaseTimeout: the holder does not release, and the waiters still come in
 * order. */
TEST(fair, the_end_of_a_lease_gives_it_to_the_first_who_waits)
{
    hf_client *clients[CLIENTS];
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    struct hf_acquire_options o = rig_options(0, 5000, HF_ACQUIRE_FIXED);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    queue_up(clients, 3, 0);
    rig_join();
    for (int i = 0; i < 3; i++) CHECK_INT(waiters[i].turn, i + 1);
}

/* The store grants it for a moment only; the acquire asks for the rest of the
 * lease. */
TEST(fair, what_was_handed_over_is_held_for_its_whole_lease)
{
    static struct fair_waiter w;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    w = (struct fair_waiter){.lock = other,
                             .lease_ms = 60000,
                             .flags = HF_ACQUIRE_FIXED,
                             .turns = &turns,
                             .hold_ms = 5000};
    atomic_store(&turns, 0);
    fair_join(&w);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until_equal(&turns, 1));
    CHECK_INT(hf_hold_state(w.hold), HF_STATE_HELD);
    rig_second_is_idle();
    rig_pause_ms(800);
    CHECK(hf_hold_valid_ms(w.hold) > 30000);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    rig_join();
    CHECK_INT(w.release_status, HF_OK);
}

/* The lock is released `pause_ms` after the waiter came; the waiter's lease is
 * 30 s. */
static void grant_is_whole(hf_lock *l, hf_lock *other, unsigned flags,
                           int64_t pause_ms)
{
    static struct reader r;
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    r = (struct reader){.lock = other, .lease_ms = 30000, .flags = flags};
    reader_join(&r);
    rig_pause_ms(pause_ms);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(r.status, HF_OK);
    CHECK(r.valid_ms > 15000);
    CHECK_INT(r.release_status, HF_OK);
}

/* Both if the waiter has asked just now, and if the store must be asked again
 * for the lease. */
TEST(fair, a_grant_has_its_whole_lease_at_once)
{
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    hf_lock *other = fair_lock(rig_client(NULL), "a");
    for (int pause_ms = 0; pause_ms <= 200; pause_ms += 200) {
        grant_is_whole(l, other, 0, pause_ms);
        grant_is_whole(l, other, HF_ACQUIRE_FIXED, pause_ms);
        if (rig_has(HF_CAP_DETACHED))
            grant_is_whole(l, other, HF_ACQUIRE_DETACHED, pause_ms);
    }
}

TEST(fair, what_was_handed_over_is_renewed_by_the_watchdog)
{
    static struct fair_waiter w;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    w = (struct fair_waiter){.lock = fair_lock(rig_client(NULL), "a"),
                             .lease_ms = 3000,
                             .hold_ms = 5000};
    fair_join(&w);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(w.release_status, HF_OK);
}

TEST(fair, who_has_it_enters_once_more_past_the_queue)
{
    hf_client *clients[CLIENTS];
    int64_t left = -1;
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    clients_open(clients);
    hf_lock *l = fair_lock(clients[0], "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    queue_up(clients, 2, 0);
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, &left, NULL), HF_OK);
    CHECK_INT(left, 1);
    CHECK_INT(atomic_load(&turns), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(atomic_load(&turns), 2);
}

TEST(fair, other_names_have_other_queues)
{
    static const char *const names[] = {"a", "{a}", "a}b{c", "{}"};
    if (!rig_begin_with(HF_CAP_QUEUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(rig_acquire(fair_lock(c, names[i]), 0, 0, NULL), HF_OK);
        waiters[i] = (struct fair_waiter){.lock = fair_lock(d, names[i])};
    }
    for (int i = 0; i < 4; i++) fair_join(&waiters[i]);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(fair_queued(waiters[i].lock), 1);
        CHECK_INT(hf_lock_release(fair_lock(c, names[i]), NULL, NULL), HF_OK);
        CHECK(fair_until_queued(waiters[i].lock, 0));
    }
    rig_join();
    for (int i = 0; i < 4; i++) CHECK_INT(waiters[i].release_status, HF_OK);
}

TEST(fair, is_refused_by_a_store_that_keeps_no_queue)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    if (rig_has(HF_CAP_QUEUE)) return;
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_lock *lock = NULL;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &lock, &err), HF_UNSUPPORTED);
    CHECK(lock == NULL);
    CHECK(err.text[0] != '\0');
}

/* ---- tickets ------------------------------------------------------------ */

struct leaver {
    hf_lock *lock;
    char ticket[HF_TICKET_MAX];
    atomic_int is_over;
    int status;
};

/* Let go of it before anything else can happen. */
static void leave_at_once(hf_lock *lock, int status, hf_hold *hold,
                          const struct hf_error *err, void *user)
{
    struct leaver *v = user;
    (void)lock, (void)err;
    v->status = status;
    if (hold)
        v->status = hf_hold_ticket(hold, v->ticket, sizeof v->ticket, NULL);
    atomic_store(&v->is_over, 1);
}

static int has_left(void *arg)
{
    return atomic_load(&((struct leaver *)arg)->is_over);
}

/* What is handed over is the waiter's for a moment only, until it has said for
 * how long it wants it. */
TEST(fair, ticket_of_what_was_handed_over_lasts_its_lease)
{
    static struct leaver v;
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, 30000, HF_ACQUIRE_DETACHED);
    struct hf_info info = HF_INFO_INIT;
    if (!rig_begin_with(HF_CAP_QUEUE | HF_CAP_DETACHED)) return;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    v = (struct leaver){.lock = fair_lock(rig_client(NULL), "a")};
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire_start(v.lock, &o, leave_at_once, &v, NULL),
              HF_OK);
    CHECK(fair_until_queued(l, 1));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(rig_until(has_left, &v));
    CHECK_INT(v.status, HF_OK);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK(info.locked);
    CHECK(info.ttl_ms > 1500);
    CHECK_INT(hf_ticket_release(l, v.ticket, NULL), HF_OK);
}
