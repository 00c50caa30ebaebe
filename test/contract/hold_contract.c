/*
 * hold_contract.c: the handles of what was acquired.  One rule: a handle is one
 * acquire's, and what is done with one that is gone touches nothing.
 */
#include <string.h>

#include "lib/rig_multi.h"
#include "lib/rig_semaphore.h"

static int is_lost(void *hold)
{
    return hf_hold_state(hold) == HF_STATE_LOST;
}

/* ---- what stands for nothing --------------------------------------------- */

static atomic_int unwanted;

static void unwanted_call(hf_hold *hold, int status, const struct hf_error *err,
                          void *user)
{
    (void)hold, (void)status, (void)err, (void)user;
    atomic_fetch_add(&unwanted, 1);
}

static void unwanted_state(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold, (void)ev, (void)user;
    atomic_fetch_add(&unwanted, 1);
}

static void tells_nothing(hf_hold *h)
{
    char why[HF_ERROR_TEXT_MAX] = "untouched";
    CHECK_INT(hf_hold_state(h), HF_STATE_NONE);
    CHECK(hf_hold_fence(h) == 0);
    CHECK_INT(hf_hold_valid_ms(h), 0);
    CHECK_INT(hf_hold_lease_ms(h), 0);
    CHECK_INT(hf_hold_count(h), 0);
    CHECK_INT(hf_hold_replicas(h), 0);
    CHECK_INT(hf_hold_guarantee(h), HF_GUARANTEE_STORE);
    CHECK_INT(hf_hold_parts(h), 0);
    CHECK(hf_hold_part(h, 0) == NULL);
    CHECK_STR(hf_hold_name(h), "");
    hf_hold_why(h, why);
    CHECK_STR(why, "");
}

static void does_nothing(hf_hold *h)
{
    char ticket[HF_TICKET_MAX] = "untouched";
    struct hf_error err = {0};
    int fd = 77;
    atomic_store(&unwanted, 0);
    CHECK_INT(hf_hold_extend(h, 0, &err), HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0] != 0);
    CHECK_INT(hf_hold_extend_start(h, 0, unwanted_call, NULL, NULL),
              HF_INVALID);
    CHECK_INT(hf_hold_feed(h), HF_INVALID);
    err = (struct hf_error){0};
    CHECK_INT(hf_hold_on_state(h, unwanted_state, NULL, &err), HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0] != 0);
    CHECK_INT(hf_hold_ticket(h, ticket, sizeof ticket, NULL), HF_INVALID);
    CHECK_STR(ticket, "untouched");
    CHECK_INT(hf_hold_inherit(h, &fd, NULL), HF_INVALID);
    CHECK_INT(fd, 77);
    err = (struct hf_error){0};
    CHECK_INT(hf_hold_release_start(h, unwanted_call, NULL, &err), HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0] != 0);
    err = (struct hf_error){0};
    CHECK_INT(hf_hold_release(h, &err), HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0] != 0);
}

static void stands_for_nothing(hf_hold *h)
{
    tells_nothing(h);
    does_nothing(h);
    tells_nothing(h);
    CHECK_INT(atomic_load(&unwanted), 0);
}

TEST(hold, that_is_null_is_invalid_for_every_call)
{
    rig_begin();
    stands_for_nothing(NULL);
}

TEST(hold, that_was_released_is_invalid_for_every_call)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    hf_hold *of_lock, *of_permits, *last = NULL;
    hf_semaphore *s = rig_semaphore(c, "s", 3);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(hf_lock_try(l, &of_lock, NULL), HF_OK);
        CHECK(of_lock != NULL && of_lock != last);
        last = of_lock;
        CHECK_INT(hf_hold_release(of_lock, NULL), HF_OK);
        stands_for_nothing(of_lock);
    }
    CHECK_INT(rig_take(s, 2, 0, &of_permits), HF_OK);
    CHECK_INT(hf_hold_release(of_permits, NULL), HF_OK);
    stands_for_nothing(of_permits);
}

TEST(hold, whose_ticket_was_taken_is_invalid_for_every_call)
{
    char ticket[HF_TICKET_MAX];
    if (!rig_begin_with(HF_CAP_DETACHED)) return;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    hf_hold *hold;
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(hold, ticket, sizeof ticket, NULL), HF_OK);
    stands_for_nothing(hold);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_OK);
}

TEST(hold, whose_client_was_closed_is_invalid_for_every_call)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "c")};
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    hf_hold *hold[5];
    hf_multi *m = NULL;
    hf_semaphore *s = NULL;
    o.permits = 2;
    CHECK_INT(hf_multi_open(locks + 1, 2, &m, NULL), HF_OK);
    int status = hf_multi_try(m, &hold[2], NULL);
    hf_multi_close(m);
    CHECK_INT(status, HF_OK);
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_OK);
    status = hf_semaphore_try(s, &hold[4], NULL);
    hf_semaphore_close(s);
    CHECK_INT(status, HF_OK);
    CHECK_INT(hf_lock_try(locks[0], &hold[0], NULL), HF_OK);
    CHECK_INT(hf_lock_try(locks[0], &hold[1], NULL), HF_OK);
    hold[3] = hf_hold_part(hold[2], 1);
    CHECK_INT(hf_hold_state(hold[3]), HF_STATE_HELD);
    rig_close(c);
    for (int i = 0; i < 5; i++) stands_for_nothing(hold[i]);
}

/* ---- one handle for each acquire ----------------------------------------- */

TEST(hold, is_one_for_each_acquire)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l[] = {rig_lock(c, "a"), rig_lock(c, "b"), rig_lock(c, "a")};
    hf_hold *hold[3];
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_try(l[i], &hold[i], NULL), HF_OK);
        CHECK(hold[i] != NULL);
        for (int k = 0; k < i; k++) CHECK(hold[k] != hold[i]);
        CHECK_STR(hf_hold_name(hold[i]), hf_lock_name(l[i]));
        CHECK_INT(hf_hold_parts(hold[i]), 1);
        CHECK(hf_hold_part(hold[i], 0) == hold[i]);
        CHECK(hf_hold_part(hold[i], 1) == NULL);
    }
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_hold_release(hold[i], NULL), HF_OK);
}

/* Enter it three times, and leave it in this order. */
static void enter_and_leave(hf_lock *l, hf_lock *other, const int *order)
{
    hf_hold *hold[3];
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_lock_try(l, &hold[i], NULL), HF_OK);
    CHECK(hold[0] != hold[1] && hold[1] != hold[2] && hold[2] != hold[0]);
    uint64_t fence = hf_hold_fence(hold[0]);
    CHECK(rig_fence_rises(0, fence));
    for (int left = 3; left > 0; left--) {
        for (int i = 3 - left; i < 3; i++) {
            CHECK_INT(hf_hold_state(hold[order[i]]), HF_STATE_HELD);
            CHECK_INT(hf_hold_count(hold[order[i]]), left);
            CHECK(hf_hold_fence(hold[order[i]]) == fence);
        }
        CHECK_INT(rig_probe(other), HF_TAKEN);
        CHECK_INT(hf_hold_release(hold[order[3 - left]], NULL), HF_OK);
        CHECK_INT(hf_hold_release(hold[order[3 - left]], NULL), HF_INVALID);
    }
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(hold, that_is_shared_goes_with_the_last_handle_in_any_order)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 6; i++) enter_and_leave(l, other, orders[i]);
}

TEST(hold, is_the_same_for_a_thread_that_keeps_no_handle)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    for (int thread_first = 0; thread_first < 2; thread_first++) {
        hf_hold *hold;
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
        CHECK_INT(hf_hold_count(hold), 2);
        if (thread_first) CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        if (!thread_first) CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
        CHECK_INT(rig_probe(other), HF_TAKEN);
        if (thread_first) CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
        if (!thread_first) CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
        CHECK_INT(rig_probe(other), HF_OK);
        CHECK_INT(hf_hold_release(hold, NULL), HF_INVALID);
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    }
}

/* ---- from thread to thread ----------------------------------------------- */

struct heir {
    hf_hold *hold;
    uint64_t fence;
    int state, extended, released;
};

static void heir_run(void *arg)
{
    struct heir *h = arg;
    h->state = hf_hold_state(h->hold);
    h->fence = hf_hold_fence(h->hold);
    h->extended = hf_hold_extend(h->hold, 0, NULL);
    h->released = hf_hold_release(h->hold, NULL);
}

TEST(hold, is_used_and_released_by_another_thread)
{
    static struct heir heirs[2];
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_try(l, &heirs[i].hold, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(heirs[0].hold);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(rig_probe(other), HF_TAKEN);
        rig_spawn(heir_run, &heirs[i]);
        rig_join();
        CHECK_INT(heirs[i].state, HF_STATE_HELD);
        CHECK(heirs[i].fence == fence);
        CHECK_INT(heirs[i].extended, HF_OK);
        CHECK_INT(heirs[i].released, HF_OK);
        CHECK_INT(hf_hold_release(heirs[i].hold, NULL), HF_INVALID);
    }
    CHECK_INT(rig_probe(other), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
}

struct racer {
    hf_hold *hold;
    atomic_int *may_go;
    int status;
};

static void racer_run(void *arg)
{
    struct racer *r = arg;
    while (!atomic_load(r->may_go)) continue;
    r->status = hf_hold_release(r->hold, NULL);
}

TEST(hold, that_many_threads_release_is_released_by_one)
{
    static struct racer racers[4];
    static atomic_int may_go;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (int round = 0; round < 20; round++) {
        hf_hold *hold;
        int won = 0;
        CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
        atomic_store(&may_go, 0);
        for (int i = 0; i < 4; i++) {
            racers[i] = (struct racer){hold, &may_go, HF_INTERNAL};
            rig_spawn(racer_run, &racers[i]);
        }
        atomic_store(&may_go, 1);
        rig_join();
        for (int i = 0; i < 4; i++) {
            won += racers[i].status == HF_OK;
            if (racers[i].status != HF_OK)
                CHECK_INT(racers[i].status, HF_INVALID);
        }
        CHECK_INT(won, 1);
    }
}

/* ---- released twice ------------------------------------------------------ */

TEST(hold, that_is_released_twice_leaves_what_came_after_it_alone)
{
    hf_hold *old[10], *next;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 10; i++) {
        /* The next one is the same thread's, and another client's. */
        CHECK_INT(hf_lock_try(l, &old[i], NULL), HF_OK);
        CHECK_INT(hf_hold_release(old[i], NULL), HF_OK);
        CHECK_INT(hf_lock_try(i % 2 ? other : l, &next, NULL), HF_OK);
        uint64_t fence = hf_hold_fence(next);
        for (int k = 0; k <= i; k++) {
            CHECK(old[k] != next);
            CHECK_INT(hf_hold_release(old[k], NULL), HF_INVALID);
            CHECK_INT(hf_hold_extend(old[k], 10, NULL), HF_INVALID);
            CHECK_INT(hf_hold_state(old[k]), HF_STATE_NONE);
        }
        CHECK_INT(hf_hold_state(next), HF_STATE_HELD);
        CHECK_INT(hf_hold_count(next), 1);
        CHECK(hf_hold_fence(next) == fence);
        CHECK_INT(rig_probe(l), HF_TAKEN);
        CHECK_INT(hf_hold_release(next, NULL), HF_OK);
    }
}

/* ---- what closing does not touch ----------------------------------------- */

static void is_alive(hf_hold *hold, const char *name, hf_lock *other)
{
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK(hf_hold_valid_ms(hold) > 0);
    CHECK_STR(hf_hold_name(hold), name);
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(hold, outlives_the_lock_object)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *other = rig_lock(rig_client(NULL), "a"), *l = NULL;
    hf_hold *hold;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int status = hf_lock_try(l, &hold, NULL);
    hf_lock_close(l);
    CHECK_INT(status, HF_OK);
    is_alive(hold, "a", other);
}

TEST(hold, outlives_the_set_and_its_lock_objects)
{
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *l[2] = {NULL, NULL}, *a = rig_lock(d, "a"), *b = rig_lock(d, "b");
    hf_multi *m = NULL;
    hf_hold *hold;
    CHECK_INT(hf_lock_open(c, "a", &l[0], NULL), HF_OK);
    CHECK_INT(hf_lock_open(c, "b", &l[1], NULL), HF_OK);
    CHECK_INT(hf_multi_open(l, 2, &m, NULL), HF_OK);
    int status = hf_multi_try(m, &hold, NULL);
    hf_multi_close(m);
    for (int i = 0; i < 2; i++) hf_lock_close(l[i]);
    CHECK_INT(status, HF_OK);
    CHECK_INT(rig_probe(b), HF_TAKEN);
    is_alive(hold, "a", a);
    CHECK_INT(rig_probe(b), HF_OK);
}

TEST(hold, outlives_the_semaphore_object)
{
    rig_begin();
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    hf_client *c = rig_client(NULL);
    hf_semaphore *other = rig_semaphore(rig_client(NULL), "s", 2), *s = NULL;
    hf_hold *hold;
    o.permits = 2;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_OK);
    struct hf_acquire_options two = rig_options(RIG_TRY, 0, 0);
    two.permits = 2;
    int status = hf_semaphore_acquire(s, &two, &hold, NULL);
    hf_semaphore_close(s);
    CHECK_INT(status, HF_OK);
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_count(hold), 2);
    CHECK_INT(hf_hold_extend(hold, 0, NULL), HF_OK);
    CHECK_INT(rig_take(other, 1, 0, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(rig_take(other, 2, 0, NULL), HF_OK);
}

/* ---- lost ---------------------------------------------------------------- */

/* A hold that hears soon that it was broken.  A kernel lock cannot be: there it
 * ends by itself. */
static struct hf_acquire_options losable(void)
{
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    if (!rig_has(HF_CAP_BREAK) || rig_has(HF_CAP_KERNEL)) o.max_hold_ms = 3000;
    return o;
}

static void lose(hf_hold *hold, hf_lock *other)
{
    int was = 0;
    if (rig_has(HF_CAP_BREAK) && !rig_has(HF_CAP_KERNEL)) {
        CHECK_INT(hf_lock_break(other, &was, NULL), HF_OK);
        CHECK_INT(was, 1);
    }
    CHECK(rig_until(is_lost, hold));
}

/* Of a lost hold; `now` is what the same thread has instead. */
static void old_is_lost(hf_hold *old, uint64_t fence, hf_hold *now)
{
    char why[HF_ERROR_TEXT_MAX] = "";
    hf_hold_why(old, why);
    CHECK(why[0] != '\0');
    CHECK_INT(hf_hold_state(old), HF_STATE_LOST);
    CHECK_INT(hf_hold_valid_ms(old), 0);
    CHECK(hf_hold_fence(old) == fence);
    CHECK_STR(hf_hold_name(old), "a");
    int status = hf_hold_extend(old, 0, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    status = hf_hold_release(old, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    stands_for_nothing(old);
    CHECK_INT(hf_hold_state(now), HF_STATE_HELD);
    CHECK_INT(hf_hold_count(now), 1);
}

TEST(hold, that_was_lost_is_not_the_one_that_its_thread_has_now)
{
    hf_hold *old[2], *now;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = losable();
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_acquire(l, &o, &old[i], NULL), HF_OK);
    uint64_t fence = hf_hold_fence(old[0]);
    lose(old[0], other);
    CHECK(hf_hold_fence(old[0]) == fence);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &now), HF_OK);
    CHECK(now != old[0] && now != old[1]);
    CHECK(rig_fence_rises(fence, hf_hold_fence(now)));
    CHECK_INT(hf_hold_count(now), 1);
    for (int i = 0; i < 2; i++) old_is_lost(old[i], fence, now);
    CHECK(rig_fence_rises(fence, hf_hold_fence(now)));
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(now, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(hold, that_was_lost_outlives_the_one_that_came_after_it)
{
    hf_hold *old, *now;
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = losable();
    CHECK_INT(hf_lock_acquire(l, &o, &old, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(old);
    lose(old, other);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &now), HF_OK);
    CHECK_INT(hf_hold_release(now, NULL), HF_OK);
    CHECK_INT(hf_hold_state(old), HF_STATE_LOST);
    CHECK(hf_hold_fence(old) == fence);
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, &now), HF_OK);
    old_is_lost(old, fence, now);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_hold_release(now, NULL), HF_OK);
}

/* ---- being told ---------------------------------------------------------- */

/* Static: it may be told of something until its client is closed. */
struct ear {
    atomic_int lost, wrong; /* LOST; with another handle, or after LOST */
    hf_hold *hold;
    atomic_int is_released; /* by its own function */
};

static void ear_hear(hf_hold *hold, const struct hf_event *ev, void *user)
{
    struct ear *e = user;
    if (hold != e->hold || atomic_load(&e->lost))
        atomic_fetch_add(&e->wrong, 1);
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&e->lost, 1);
}

static void ear_hear_and_release(hf_hold *hold, const struct hf_event *ev,
                                 void *user)
{
    struct ear *e = user;
    ear_hear(hold, ev, user);
    if (ev->state != HF_STATE_LOST) return;
    int status = hf_hold_release(hold, NULL);
    if (status == HF_LOST || status == HF_EXPIRED)
        atomic_store(&e->is_released, 1);
}

static void ear_open(struct ear *e, hf_hold *hold, hf_hold_state_fn fn)
{
    memset(e, 0, sizeof *e);
    e->hold = hold;
    CHECK_INT(hf_hold_on_state(hold, fn, e, NULL), HF_OK);
}

TEST(hold, tells_each_of_its_handles_that_it_is_lost)
{
    static struct ear ears[3], beside;
    hf_hold *hold[3], *b;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = losable();
    CHECK_INT(hf_lock_try(rig_lock(c, "b"), &b, NULL), HF_OK);
    ear_open(&beside, b, ear_hear);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_acquire(l, &o, &hold[i], NULL), HF_OK);
        ear_open(&ears[i], hold[i], i ? ear_hear : ear_hear_and_release);
    }
    lose(hold[1], other);
    for (int i = 0; i < 3; i++) CHECK(rig_until_equal(&ears[i].lost, 1));
    CHECK(rig_until_equal(&ears[0].is_released, 1));
    stands_for_nothing(hold[0]);
    rig_pause_ms(100);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(atomic_load(&ears[i].lost), 1);
        CHECK_INT(atomic_load(&ears[i].wrong), 0);
    }
    CHECK_INT(atomic_load(&beside.lost), 0);
    CHECK_INT(hf_hold_state(b), HF_STATE_HELD);
}

TEST(hold, tells_no_handle_that_is_gone_or_wants_no_more)
{
    static struct ear ears[3];
    hf_hold *hold[3];
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = losable();
    for (int i = 0; i < 3; i++) {
        CHECK_INT(hf_lock_acquire(l, &o, &hold[i], NULL), HF_OK);
        ear_open(&ears[i], hold[i], ear_hear);
    }
    CHECK_INT(hf_hold_release(hold[0], NULL), HF_OK);
    CHECK_INT(hf_hold_on_state(hold[1], NULL, NULL, NULL), HF_OK);
    lose(hold[2], other);
    CHECK(rig_until_equal(&ears[2].lost, 1));
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&ears[0].lost), 0);
    CHECK_INT(atomic_load(&ears[1].lost), 0);
}

/* The loss is found out by the release itself. */
TEST(hold, tells_nothing_to_who_releases_it)
{
    static struct ear ear;
    hf_hold *hold;
    if (!rig_begin_with(HF_CAP_BREAK)) return;
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 60000, HF_ACQUIRE_FIXED);
    if (rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    ear_open(&ear, hold, ear_hear);
    CHECK_INT(hf_lock_break(other, NULL, NULL), HF_OK);
    int status = hf_hold_release(hold, NULL);
    CHECK(status == HF_LOST || status == HF_EXPIRED);
    rig_pause_ms(100);
    CHECK_INT(atomic_load(&ear.lost), 0);
}

TEST(hold, of_a_set_is_told_of_by_its_parts)
{
    static struct ear ears[2];
    struct hf_error err = {0};
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b")};
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = losable();
    int ends_by_itself = o.max_hold_ms > 0;
    CHECK_INT(hf_multi_acquire(rig_multi(locks, 2), &o, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_on_state(hold, ear_hear, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, "use its parts") != NULL);
    for (size_t i = 0; i < 2; i++)
        ear_open(&ears[i], hf_hold_part(hold, i), ear_hear);
    lose(hf_hold_part(hold, 0), other);
    CHECK(rig_until_equal(&ears[0].lost, 1));
    if (!ends_by_itself) CHECK_INT(atomic_load(&ears[1].lost), 0);
    CHECK_INT(atomic_load(&ears[0].wrong), 0);
}

/* ---- sets ---------------------------------------------------------------- */

TEST(hold, of_a_set_releases_all_of_it)
{
    struct three t, other;
    hf_hold *hold, *parts[3];
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_parts(hold), 3);
    CHECK(hf_hold_fence(hold) == 0); /* each part has its own */
    CHECK_STR(hf_hold_name(hold), "a");
    for (size_t i = 0; i < 3; i++) {
        parts[i] = hf_hold_part(hold, i);
        CHECK(parts[i] != NULL && parts[i] != hold);
        CHECK_INT(hf_hold_extend(parts[i], 0, NULL), HF_OK);
        CHECK_INT(rig_probe(other.locks[i]), HF_TAKEN);
    }
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK(three_are_free(&other));
    stands_for_nothing(hold);
    for (int i = 0; i < 3; i++) stands_for_nothing(parts[i]);
}

static int is_free(void *lock)
{
    return rig_probe(lock) == HF_OK;
}

TEST(hold, of_a_set_gives_the_rest_back_when_the_first_client_is_closed)
{
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *b = rig_lock(rig_client(NULL), "b");
    hf_multi *m = NULL;
    CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
    int status = hf_multi_try(m, &hold, NULL);
    hf_multi_close(m);
    CHECK_INT(status, HF_OK);
    CHECK_INT(rig_probe(b), HF_TAKEN);
    rig_close(c);
    stands_for_nothing(hold);
    CHECK(rig_until(is_free, b));
}

TEST(hold, of_a_set_releases_the_rest_when_another_client_is_closed)
{
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *a = rig_lock(rig_client(NULL), "a");
    hf_multi *m = NULL;
    CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
    int status = hf_multi_try(m, &hold, NULL);
    hf_multi_close(m);
    CHECK_INT(status, HF_OK);
    rig_close(d);
    CHECK_INT(rig_probe(a), HF_TAKEN);
    CHECK(hf_hold_state(hold) != HF_STATE_HELD);
    CHECK_INT(hf_hold_valid_ms(hold), 0);
    CHECK(hf_hold_release(hold, NULL) != HF_OK);
    CHECK_INT(rig_probe(a), HF_OK);
    stands_for_nothing(hold);
}

/* ---- started ------------------------------------------------------------- */

struct answer {
    atomic_int calls;
    int status;
    hf_hold *hold;
};

static void answered(hf_hold *hold, int status, const struct hf_error *err,
                     void *user)
{
    struct answer *a = user;
    (void)err;
    a->status = status;
    a->hold = hold;
    atomic_fetch_add(&a->calls, 1);
}

static void is_answered(struct answer *a, hf_hold *hold)
{
    CHECK(rig_until_equal(&a->calls, 1));
    CHECK_INT(a->status, HF_OK);
    CHECK(a->hold == hold);
    rig_pause_ms(50);
    CHECK_INT(atomic_load(&a->calls), 1);
}

/* Extend it, release it, by callbacks; `other` is a lock of it. */
static void started(hf_hold *hold, hf_lock *other)
{
    static struct answer extended, bad, released;
    memset(&extended, 0, sizeof extended);
    memset(&bad, 0, sizeof bad);
    memset(&released, 0, sizeof released);
    CHECK_INT(hf_hold_extend_start(hold, 1, answered, &bad, NULL), HF_INVALID);
    CHECK_INT(hf_hold_extend_start(hold, 90000, answered, &extended, NULL),
              HF_OK);
    is_answered(&extended, hold);
    CHECK(hf_hold_valid_ms(hold) > 60000);
    CHECK_INT(hf_hold_lease_ms(hold), 90000);
    CHECK_INT(hf_hold_extend_start(hold, 0, NULL, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release_start(hold, answered, &released, NULL), HF_OK);
    CHECK_INT(hf_hold_release(hold, NULL), HF_INVALID); /* it is on its way */
    is_answered(&released, hold);
    stands_for_nothing(hold);
    CHECK_INT(rig_probe(other), HF_OK);
    CHECK_INT(atomic_load(&bad.calls), 0);
    CHECK_INT(atomic_load(&extended.calls), 1);
}

TEST(hold, is_extended_and_released_by_callbacks_that_run_once)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    struct hf_acquire_options o = rig_options(RIG_TRY, 30000, 0);
    hf_hold *hold;
    CHECK_INT(hf_lock_acquire(l, &o, &hold, NULL), HF_OK);
    started(hold, other);
}

TEST(hold, of_a_set_is_extended_and_released_by_callbacks_that_run_once)
{
    struct three t, other;
    struct hf_acquire_options o = rig_options(RIG_TRY, 30000, 0);
    hf_hold *hold;
    rig_begin();
    three_open(&t);
    three_open(&other);
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, NULL), HF_OK);
    started(hold, other.locks[2]);
    CHECK(three_are_free(&other));
}

TEST(hold, is_released_without_a_callback_too)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *hold;
    CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_release_start(hold, NULL, NULL, NULL), HF_OK);
    stands_for_nothing(hold);
    CHECK(rig_until(is_free, other));
}

/* As by the call that waits: the rest is released, and the callback tells. */
TEST(hold, of_a_set_is_released_by_a_callback_when_another_client_is_closed)
{
    static struct answer extended, released;
    hf_hold *hold;
    rig_begin();
    memset(&extended, 0, sizeof extended);
    memset(&released, 0, sizeof released);
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "b")};
    hf_lock *a = rig_lock(rig_client(NULL), "a");
    hf_multi *m = NULL;
    CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
    int status = hf_multi_try(m, &hold, NULL);
    hf_multi_close(m);
    CHECK_INT(status, HF_OK);
    rig_close(d);
    CHECK_INT(hf_hold_extend_start(hold, 0, answered, &extended, NULL), HF_OK);
    CHECK(rig_until_equal(&extended.calls, 1));
    CHECK_INT(extended.status, HF_INVALID);
    CHECK_INT(hf_hold_release_start(hold, answered, &released, NULL), HF_OK);
    CHECK(rig_until_equal(&released.calls, 1));
    CHECK_INT(released.status, HF_INVALID);
    CHECK_INT(rig_probe(a), HF_OK);
    stands_for_nothing(hold);
}

static _Thread_local int is_starting;

static void answered_elsewhere(hf_hold *hold, int status,
                               const struct hf_error *err, void *user)
{
    answered(hold, is_starting ? HF_INTERNAL : status, err, user);
}

/* However soon it is over: the caller may hold a mutex that its callback takes.
 */
TEST(hold, of_a_set_calls_nothing_back_from_inside_the_call_that_starts_it)
{
    enum { TIMES = 300 };
    static struct answer a;
    struct three t;
    struct hf_acquire_options o = rig_options(RIG_TRY, 30000, 0);
    hf_hold *hold;
    rig_begin();
    three_open(&t);
    CHECK_INT(hf_multi_acquire(t.multi, &o, &hold, NULL), HF_OK);
    for (int i = 0; i < TIMES; i++) {
        memset(&a, 0, sizeof a);
        is_starting = 1;
        int status =
            hf_hold_extend_start(hold, 0, answered_elsewhere, &a, NULL);
        is_starting = 0;
        CHECK_INT(status, HF_OK);
        CHECK(rig_until_equal(&a.calls, 1));
        CHECK_INT(a.status, HF_OK);
    }
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

/* What was started before the close is told before it is over. */
TEST(hold, that_is_being_released_when_its_client_is_closed_is_told_of_once)
{
    static struct answer a;
    hf_hold *hold;
    rig_begin();
    memset(&a, 0, sizeof a);
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_release_start(hold, answered, &a, NULL), HF_OK);
    rig_close(c);
    CHECK_INT(atomic_load(&a.calls), 1);
    CHECK(a.hold == hold);
    stands_for_nothing(hold);
}

TEST(hold, that_its_thread_released_by_the_lock_leaves_the_handle_without_it)
{
    rig_begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *hold, *theirs;
    CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_hold_state(hold), HF_STATE_NONE);
    CHECK_INT(rig_acquire(other, hf_holder_new(), RIG_TRY, &theirs), HF_OK);
    CHECK_INT(hf_hold_release(hold, NULL), HF_NOT_OWNER);
    CHECK_INT(hf_hold_state(theirs), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(theirs, NULL), HF_OK);
}

/* ---- borrowed ones ------------------------------------------------------- */

TEST(hold, of_a_set_keeps_the_parts_that_were_not_released)
{
    struct hf_error err = {0};
    hf_hold *hold;
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b")};
    CHECK_INT(hf_multi_acquire(rig_multi(locks, 2), NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_release(hf_hold_part(hold, 0), NULL), HF_OK);
    CHECK_INT(rig_probe(locks[0]), HF_OK);
    CHECK_INT(rig_probe(locks[1]), HF_TAKEN);
    CHECK_INT(hf_hold_release(hold, &err), HF_INVALID);
    CHECK(strstr(err.text, "one of its parts was released") != NULL);
    CHECK_INT(rig_probe(locks[1]), HF_OK);
}

TEST(hold, of_a_leadership_that_is_released_ends_it)
{
    hf_election *election;
    hf_hold *hold, *again;
    rig_begin();
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_election_open(c, "post", NULL, &election, NULL), HF_OK);
    CHECK_INT(hf_election_campaign(election, NULL, &hold, NULL), HF_OK);
    CHECK(hf_election_hold(election) == hold);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_hold_release(hold, NULL), HF_INVALID);
    CHECK_INT(hf_election_resign(election, NULL), HF_NOT_OWNER);
    CHECK_INT(rig_probe(rig_lock(c, "post")), HF_OK);
    CHECK_INT(hf_election_campaign(election, NULL, &again, NULL), HF_OK);
    CHECK(again != hold);
    CHECK_INT(hf_election_resign(election, NULL), HF_OK);
    CHECK_INT(hf_hold_release(again, NULL), HF_INVALID);
}

TEST(hold, of_a_run_that_is_released_leaves_it_to_be_ended)
{
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_once *once, *other;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_once_begin(c, "job", NULL, &once, &result, NULL), HF_OK);
    hf_hold *hold = hf_once_hold(once);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(hf_once_begin(c, "job", NULL, &other, &result, NULL), HF_OK);
    CHECK_INT(result.outcome, HF_ONCE_DIED);
    hf_once_result_free(c, &result);
    CHECK_INT(hf_once_end(once, 5, "x", 1, NULL), HF_OK);
    CHECK_INT(hf_once_begin(c, "job", NULL, &other, &result, NULL), HF_OK);
    CHECK_INT(result.outcome, HF_ONCE_DONE);
    CHECK_INT(result.status, 5);
    hf_once_result_free(c, &result);
}
