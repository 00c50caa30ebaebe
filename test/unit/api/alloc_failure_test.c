/*
 * alloc_failure_test.c: every public call survives the failure of its n-th
 * allocation, for all n.  One rule: the call says NOMEM or succeeds, nothing
 * leaks, and the lock is not stuck afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"

#define ALLOCS_MAX 2000 /* no call should need more */
#define LEASE_MS 1500   /* an answer we could not take ends with it */

static struct {
    atomic_long outstanding;
    atomic_long count;   /* allocations since the failure was armed */
    atomic_long fail_at; /* 0: none */
    atomic_int fails_on; /* every one after it fails too */
    atomic_int fired;
} heap;

static int heap_fails(void)
{
    long at = atomic_load(&heap.fail_at);
    long n = atomic_fetch_add(&heap.count, 1) + 1;
    if (at == 0 || n < at) return 0;
    if (n > at && !atomic_load(&heap.fails_on)) return 0;
    atomic_store(&heap.fired, 1);
    return 1;
}

static void *heap_allocate(size_t size, void *user)
{
    (void)user;
    if (heap_fails()) return NULL;
    void *p = malloc(size ? size : 1);
    if (p) atomic_fetch_add(&heap.outstanding, 1);
    return p;
}

static void *heap_resize(void *ptr, size_t size, void *user)
{
    if (!ptr) return heap_allocate(size, user);
    if (heap_fails()) return NULL;
    return realloc(ptr, size ? size : 1);
}

static void heap_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) atomic_fetch_sub(&heap.outstanding, 1);
    free(ptr);
}

static void heap_arm(long n, int fails_on)
{
    atomic_store(&heap.fired, 0);
    atomic_store(&heap.count, 0);
    atomic_store(&heap.fails_on, fails_on);
    atomic_store(&heap.fail_at, n);
}

/* ---- what is tried ------------------------------------------------------ */

/* One client whose heap fails, and one that never does. */
struct bench {
    struct hf_client_options options;
    hf_client *client;
    hf_lock *lock;
    hf_hold *hold;
    hf_client *sound;
    hf_lock *sound_lock;
    hf_hold *sound_hold;
};

struct scenario {
    const char *name;
    int opens_itself;                /* no client is made before */
    int (*arrange)(struct bench *b); /* with a sound heap; HF_OK */
    int (*act)(struct bench *b);     /* with a failing one */
    int expected;                    /* if nothing failed */
};

static int act_try(struct bench *b)
{
    return hf_lock_try(b->lock, &b->hold, NULL);
}

static int act_release(struct bench *b)
{
    return hf_hold_release(b->hold, NULL);
}

static int act_release_by_thread(struct bench *b)
{
    return hf_lock_release(b->lock, NULL, NULL);
}

static int act_extend(struct bench *b)
{
    return hf_hold_extend(b->hold, 0, NULL);
}

static void on_change(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold;
    (void)ev;
    (void)user;
}

static int act_on_state(struct bench *b)
{
    return hf_hold_on_state(b->hold, on_change, NULL, NULL);
}

static int act_inspect(struct bench *b)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(b->lock, &info, NULL);
}

static int act_break(struct bench *b)
{
    return hf_lock_break(b->lock, NULL, NULL);
}

static int on_row(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

static int act_list(struct bench *b)
{
    return hf_client_list(b->client, NULL, on_row, NULL, NULL);
}

static int act_lock_open(struct bench *b)
{
    hf_lock *l = NULL;
    int status = hf_lock_open(b->client, "another", &l, NULL);
    hf_lock_close(l);
    return status;
}

static int act_cancel(struct bench *b)
{
    struct hf_acquire_options o = rig_options(5000, LEASE_MS, 0);
    int status = hf_cancel_open(b->client, &o.cancel);
    if (status != HF_OK) return status;
    hf_cancel_fire(o.cancel);
    status = hf_lock_acquire(b->lock, &o, NULL, NULL);
    hf_cancel_close(o.cancel);
    return status;
}

static int act_wait(struct bench *b)
{
    struct hf_acquire_options o = rig_options(60, LEASE_MS, 0);
    return hf_lock_acquire(b->lock, &o, NULL, NULL);
}

static int act_event_fd(struct bench *b)
{
    return hf_client_event_fd(b->client) >= 0 ? HF_OK : HF_NOMEM;
}

static int act_life(struct bench *b)
{
    int status = hf_client_open(rig_url(), &b->options, &b->client, NULL);
    if (status != HF_OK) return status;
    status = hf_lock_open(b->client, "a", &b->lock, NULL);
    if (status == HF_OK) status = hf_lock_try(b->lock, NULL, NULL);
    if (status == HF_OK) status = hf_lock_release(b->lock, NULL, NULL);
    return status;
}

struct answer {
    atomic_int calls;
    atomic_int open; /* releases under way: the lock is in use */
    int status;
};

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    struct answer *a = user;
    (void)hold;
    (void)status;
    (void)err;
    atomic_fetch_sub(&a->open, 1);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)lock;
    (void)err;
    a->status = status;
    if (hold && hf_hold_release_start(hold, on_released, a, NULL) == HF_OK)
        atomic_fetch_add(&a->open, 1);
    atomic_fetch_add(&a->calls, 1);
}

/* The callback must come exactly once however the heap behaves. */
static int act_start(struct bench *b)
{
    static struct answer a;
    struct hf_acquire_options o = rig_options(5000, LEASE_MS, 0);
    memset(&a, 0, sizeof a);
    int status = hf_lock_acquire_start(b->lock, &o, on_acquired, &a, NULL);
    if (status != HF_OK) return status;
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while ((atomic_load(&a.calls) == 0 || atomic_load(&a.open) != 0)
           && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    int is_over = atomic_load(&a.calls) == 1 && atomic_load(&a.open) == 0;
    return is_over ? a.status : HF_INTERNAL;
}

static int act_ticket(struct bench *b)
{
    char ticket[HF_TICKET_MAX];
    struct hf_acquire_options o =
        rig_options(RIG_TRY, LEASE_MS, HF_ACQUIRE_DETACHED);
    hf_hold *hold;
    int status = hf_lock_acquire(b->lock, &o, &hold, NULL);
    if (status == HF_OK)
        status = hf_hold_ticket(hold, ticket, sizeof ticket, NULL);
    if (status == HF_OK)
        status = hf_lock_attach(b->lock, ticket, LEASE_MS, &hold, NULL);
    if (status == HF_OK)
        status = hf_hold_ticket(hold, ticket, sizeof ticket, NULL);
    if (status == HF_OK) status = hf_ticket_release(b->lock, ticket, NULL);
    return status;
}

static int act_value(struct bench *b)
{
    struct hf_value v = HF_VALUE_INIT;
    uint64_t version = 0;
    int status = hf_value_write(b->client, "v", HF_VALUE_ANY, "bytes", 5, 0,
                                &version, NULL);
    if (status == HF_OK) status = hf_value_read(b->client, "v", &v, NULL);
    if (status != HF_OK) return status;
    if (v.len != 5 || v.version != version) status = HF_INTERNAL;
    hf_value_free(b->client, &v);
    if (status != HF_OK) return status;
    return hf_value_delete(b->client, "v", version, NULL);
}

static int act_guard(struct bench *b)
{
    struct hf_value v = HF_VALUE_INIT;
    int status = hf_guard_set(b->client, "g", 1, "bytes", 5, 0, NULL);
    if (status == HF_OK) status = hf_guard_read(b->client, "g", &v, NULL);
    if (status != HF_OK) return status;
    hf_value_free(b->client, &v);
    return hf_guard_delete(b->client, "g", 1, NULL);
}

/* More units than one segment has, so that they are fetched. */
static int act_stock(struct bench *b)
{
    static int made; /* what one left behind is in nobody's way */
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    struct hf_reservation got = HF_RESERVATION_INIT;
    struct hf_stock_report books = HF_STOCK_REPORT_INIT;
    hf_stock *s;
    char name[24];
    snprintf(name, sizeof name, "sale%d", ++made);
    spec.quantity = 4;
    spec.segments = 2;
    int status = hf_stock_create(b->client, name, &spec, NULL);
    if (status == HF_OK) status = hf_stock_open(b->client, name, &s, NULL);
    if (status != HF_OK) return status;
    status = hf_stock_reserve(s, "ann", 3, "1", &got, NULL);
    if (status == HF_OK && got.verdict != HF_STOCK_RESERVED)
        status = HF_INTERNAL;
    if (status == HF_OK) status = hf_stock_confirm(s, got.token, NULL, NULL);
    if (status == HF_OK) status = hf_stock_restock(s, 1, "more", NULL);
    if (status == HF_OK) status = hf_stock_audit(s, NULL, NULL, &books, NULL);
    if (status == HF_OK && !books.is_balanced) status = HF_INTERNAL;
    hf_stock_close(s);
    return status;
}

static int act_election(struct bench *b)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_leader l = HF_LEADER_INIT;
    hf_election *e;
    int status = hf_election_open(b->client, "post", NULL, &e, NULL);
    if (status != HF_OK) return status;
    o.value = "bytes";
    o.value_len = 5;
    status = hf_election_campaign(e, &o, NULL, NULL);
    if (status == HF_OK) status = hf_election_look(e, &l, NULL);
    if (status == HF_OK) {
        if (!l.is_me || l.len != 5) status = HF_INTERNAL;
        hf_leader_free(e, &l);
    }
    if (status == HF_OK) status = hf_election_resign(e, NULL);
    hf_election_close(e);
    return status;
}

static void on_campaigned(hf_election *e, int status, hf_hold *hold,
                          const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)e;
    (void)hold;
    (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static int act_campaign_start(struct bench *b)
{
    static struct answer a;
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    hf_election *e;
    int status = hf_election_open(b->client, "post", NULL, &e, NULL);
    if (status != HF_OK) return status;
    memset(&a, 0, sizeof a);
    o.value = "bytes";
    o.value_len = 5;
    status = hf_election_campaign_start(e, &o, on_campaigned, &a, NULL);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (status == HF_OK && atomic_load(&a.calls) == 0
           && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    if (status == HF_OK)
        status = atomic_load(&a.calls) == 1 ? a.status : HF_INTERNAL;
    hf_election_close(e);
    return status;
}

static void on_value(hf_client *client, int status, uint64_t version,
                     const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)client;
    (void)version;
    (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static int act_value_start(struct bench *b)
{
    static struct answer a;
    memset(&a, 0, sizeof a);
    int status = hf_value_write_start(b->client, "v", HF_VALUE_ANY, "bytes", 5,
                                      0, on_value, &a, NULL);
    if (status != HF_OK) return status;
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (atomic_load(&a.calls) == 0 && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    return atomic_load(&a.calls) == 1 ? a.status : HF_INTERNAL;
}

/* The lock behind it is the one that must not be stuck afterwards. */
static int act_once(struct bench *b)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    o.flags = HF_ONCE_TRY;
    o.period_ms = 1;
    int status = hf_once_begin(b->client, "a", &o, &run, &r, NULL);
    if (status == HF_OK) hf_once_result_free(b->client, &r);
    if (status != HF_OK || !run) return status;
    return hf_once_end(run, 0, "result", 6, NULL);
}

/* Started calls: wait for the callback; run the loop if it is the program's. */
static int answer_await(struct bench *b, struct answer *a, int status)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    if (status != HF_OK) return status;
    while (atomic_load(&a->calls) == 0 && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    return atomic_load(&a->calls) == 1 ? a->status : HF_INTERNAL;
}

static int update_next(const struct hf_value *now, struct hf_value_next *next,
                       void *user)
{
    (void)now;
    (void)user;
    next->data = "next";
    next->len = 4;
    return 0;
}

static int act_update_start(struct bench *b)
{
    static struct answer a;
    memset(&a, 0, sizeof a);
    return answer_await(b, &a,
                        hf_value_update_start(b->client, "v", update_next, NULL,
                                              on_value, &a, NULL));
}

static void on_ended(hf_client *client, int status, const struct hf_error *err,
                     void *user)
{
    struct answer *a = user;
    (void)client;
    (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static void on_begun(hf_client *client, int status, hf_once *once,
                     const struct hf_once_result *result,
                     const struct hf_error *err, void *user)
{
    (void)result;
    if (once)
        status = hf_once_end_start(once, 0, "result", 6, on_ended, user, NULL);
    if (!once || status != HF_OK) on_ended(client, status, err, user);
}

static int act_once_start(struct bench *b)
{
    static struct answer a;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    memset(&a, 0, sizeof a);
    o.flags = HF_ONCE_TRY;
    o.period_ms = 1;
    return answer_await(
        b, &a, hf_once_begin_start(b->client, "a", &o, on_begun, &a, NULL));
}

static int row_skip(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

static int act_list_start(struct bench *b)
{
    static struct answer a;
    memset(&a, 0, sizeof a);
    return answer_await(
        b, &a,
        hf_client_list_start(b->client, NULL, row_skip, on_ended, &a, NULL));
}

static int act_guard_start(struct bench *b)
{
    static struct answer a;
    memset(&a, 0, sizeof a);
    return answer_await(
        b, &a, hf_guard_token_start(b->client, "res", on_value, &a, NULL));
}

static void on_reserved(hf_stock *stock, int status,
                        const struct hf_reservation *got,
                        const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)stock;
    (void)err;
    a->status = status;
    if (got && got->verdict > HF_STOCK_DUPLICATE) a->status = HF_INTERNAL;
    atomic_fetch_add(&a->calls, 1);
}

static int act_stock_start(struct bench *b)
{
    static struct answer a;
    struct hf_stock_spec spec = HF_STOCK_SPEC_INIT;
    hf_stock *s;
    memset(&a, 0, sizeof a);
    spec.quantity = 2;
    int status = hf_stock_create(b->client, "started", &spec, NULL);
    if (status == HF_OK) status = hf_stock_open(b->client, "started", &s, NULL);
    if (status != HF_OK) return status;
    status = answer_await(
        b, &a, hf_stock_reserve_start(s, "ann", 1, "1", on_reserved, &a, NULL));
    hf_stock_close(s);
    return status;
}

static int semaphore_make(struct bench *b, hf_semaphore **out)
{
    static int made; /* what one left behind is in nobody's way */
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    char name[24];
    snprintf(name, sizeof name, "s%d", ++made);
    o.permits = 3;
    int status = hf_semaphore_open(b->client, name, &o, out, NULL);
    if (status == HF_OK && hf_client_caps(b->client) & HF_CAP_PERMIT)
        status = hf_semaphore_set(*out, 1000, 0, NULL, NULL);
    return status;
}

static int act_semaphore(struct bench *b)
{
    hf_semaphore *s = NULL;
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    hf_hold *hold;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, LEASE_MS, 0);
    o.permits = 2;
    int status = semaphore_make(b, &s);
    if (status == HF_OK) status = hf_semaphore_acquire(s, &o, &hold, NULL);
    if (status == HF_OK) status = hf_hold_extend(hold, 0, NULL);
    if (status == HF_OK) status = hf_semaphore_state(s, &state, NULL);
    if (status == HF_OK) status = hf_hold_release(hold, NULL);
    hf_semaphore_close(s);
    return status;
}

static void on_permit(hf_semaphore *sem, int status, hf_hold *hold,
                      const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)sem;
    (void)hold;
    (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static int act_semaphore_start(struct bench *b)
{
    static struct answer a;
    hf_semaphore *s = NULL;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, LEASE_MS, 0);
    memset(&a, 0, sizeof a);
    o.permits = 2;
    int status = semaphore_make(b, &s);
    if (status == HF_OK)
        status = hf_semaphore_acquire_start(s, &o, on_permit, &a, NULL);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (status == HF_OK && atomic_load(&a.calls) == 0
           && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    hf_semaphore_close(s);
    if (status != HF_OK) return status;
    return atomic_load(&a.calls) == 1 ? a.status : HF_INTERNAL;
}

/* What the last try left. */
static int sound_delete(struct bench *b)
{
    hf_latch *l = NULL;
    int status = hf_latch_open(b->sound, "l", &l, NULL);
    if (status == HF_OK) status = hf_latch_delete(l, NULL, NULL);
    hf_latch_close(l);
    return status;
}

static int latch_use(hf_latch *l)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    int status = hf_latch_set(l, 1, NULL);
    o.wait_ms = 30;
    if (status == HF_OK) status = hf_latch_wait(l, &o, NULL);
    if (status == HF_TIMEOUT) status = hf_latch_down(l, NULL, NULL);
    return status == HF_OK ? hf_latch_wait(l, NULL, NULL) : status;
}

static int act_latch(struct bench *b)
{
    hf_latch *l = NULL;
    int status = hf_latch_open(b->client, "l", &l, NULL);
    if (status == HF_OK) status = latch_use(l);
    hf_latch_close(l);
    return status;
}

/* A party that has no memory left to say that it gives up stays counted for
 * three seconds: so each run waits at a barrier of its own. */
static int act_barrier(struct bench *b)
{
    static unsigned runs;
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    hf_barrier *one = NULL, *two = NULL;
    char name[32];
    int status = hf_barrier_open(b->client, "one", 1, &one, NULL);
    snprintf(name, sizeof name, "two-%u", runs++);
    o.wait_ms = 30;
    if (status == HF_OK)
        status = hf_barrier_open(b->client, name, 2, &two, NULL);
    if (status == HF_OK) status = hf_barrier_wait(one, NULL, NULL, NULL);
    if (status == HF_OK) status = hf_barrier_wait(two, &o, NULL, NULL);
    hf_barrier_close(one);
    hf_barrier_close(two);
    return status;
}

static void on_latch(hf_latch *latch, int status, int64_t left,
                     const struct hf_error *err, void *user)
{
    struct answer *a = user;
    (void)latch, (void)left, (void)err;
    a->status = status;
    atomic_fetch_add(&a->calls, 1);
}

static int act_latch_start(struct bench *b)
{
    static struct answer a;
    hf_latch *l = NULL;
    memset(&a, 0, sizeof a);
    int status = hf_latch_open(b->client, "l", &l, NULL);
    if (status == HF_OK) status = hf_latch_set_start(l, 1, on_latch, &a, NULL);
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (status == HF_OK && atomic_load(&a.calls) == 0
           && rig_now_ms() < end_ms) {
        if (b->options.flags & HF_CLIENT_OWN_LOOP) hf_client_process(b->client);
        rig_pause_ms(1);
    }
    hf_latch_close(l);
    if (status != HF_OK) return status;
    return atomic_load(&a.calls) == 1 ? a.status : HF_INTERNAL;
}

static int sound_try(struct bench *b)
{
    return hf_lock_try(b->sound_lock, &b->sound_hold, NULL);
}

static const struct scenario scenarios[] = {
    {"open, try, release", 1, NULL, act_life, HF_OK},
    {"lock_open", 0, NULL, act_lock_open, HF_OK},
    {"try", 0, NULL, act_try, HF_OK},
    {"try of a held lock", 0, sound_try, act_try, HF_TAKEN},
    {"wait for a held lock", 0, sound_try, act_wait, HF_TIMEOUT},
    {"re-entry", 0, act_try, act_try, HF_OK},
    {"release", 0, act_try, act_release, HF_OK},
    {"release by thread", 0, act_try, act_release_by_thread, HF_OK},
    {"extend", 0, act_try, act_extend, HF_OK},
    {"on_state", 0, act_try, act_on_state, HF_OK},
    {"inspect", 0, act_try, act_inspect, HF_OK},
    {"break", 0, NULL, act_break, HF_OK},
    {"list", 0, act_try, act_list, HF_OK},
    {"cancel", 0, sound_try, act_cancel, HF_CANCELLED},
    {"event_fd", 0, NULL, act_event_fd, HF_OK},
    {"acquire_start", 0, NULL, act_start, HF_OK},
    {"tickets", 0, NULL, act_ticket, HF_OK},
    {"value", 0, NULL, act_value, HF_OK},
    {"value_write_start", 0, NULL, act_value_start, HF_OK},
    {"election", 0, NULL, act_election, HF_OK},
    {"election_campaign_start", 0, NULL, act_campaign_start, HF_OK},
    {"once", 0, NULL, act_once, HF_OK},
    {"once_begin_start", 0, NULL, act_once_start, HF_OK},
    {"value_update_start", 0, NULL, act_update_start, HF_OK},
    {"list_start", 0, act_try, act_list_start, HF_OK},
    {"guard", 0, NULL, act_guard, HF_OK},
    {"guard_token_start", 0, NULL, act_guard_start, HF_OK},
    {"stock", 0, NULL, act_stock, HF_OK},
    {"stock_reserve_start", 0, NULL, act_stock_start, HF_OK},
    {"semaphore", 0, NULL, act_semaphore, HF_OK},
    {"semaphore_acquire_start", 0, NULL, act_semaphore_start, HF_OK},
    {"latch", 0, sound_delete, act_latch, HF_OK},
    {"latch_set_start", 0, sound_delete, act_latch_start, HF_OK},
    {"barrier", 0, NULL, act_barrier, HF_TIMEOUT},
};

/* ---- how it is tried ---------------------------------------------------- */

/* With a `patience_ms` of 0 the client has its default, so that a call that
 * gets no memory at all ends soon. */
static void bench_open(struct bench *b, const struct scenario *s,
                       unsigned flags, int64_t patience_ms)
{
    static const struct hf_client_options defaults = HF_CLIENT_OPTIONS_INIT;
    memset(b, 0, sizeof *b);
    b->options = defaults;
    b->options.flags = flags;
    b->options.lease_ms = LEASE_MS;
    b->options.patience_ms = patience_ms;
    b->options.allocator =
        (struct hf_allocator){heap_allocate, heap_resize, heap_release, NULL};
    b->sound = rig_client(NULL);
    b->sound_lock = rig_lock(b->sound, "a");
    if (s->opens_itself) return;
    CHECK_INT(hf_client_open(rig_url(), &b->options, &b->client, NULL), HF_OK);
    CHECK_INT(hf_lock_open(b->client, "a", &b->lock, NULL), HF_OK);
    /* A first call, so that what it sets up is not part of the test. */
    if (s->arrange != act_try) CHECK_INT(act_inspect(b), HF_OK);
    if (s->arrange) CHECK_INT(s->arrange(b), HF_OK);
}

/* Whatever failed, the lock can be had again, and all memory is back. */
static void bench_close(struct bench *b)
{
    if (hf_hold_state(b->sound_hold) == HF_STATE_HELD)
        CHECK_INT(hf_hold_release(b->sound_hold, NULL), HF_OK);
    hf_lock_close(b->lock);
    hf_client_close(b->client);
    CHECK_INT(rig_acquire(b->sound_lock, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(b->sound_lock, NULL, NULL), HF_OK);
    /* One of several nodes may have it until the lease ends, which would make
     * the next try another one. */
    if (hf_client_nodes(b->sound, NULL, NULL) > 1)
        CHECK_INT(hf_lock_break(b->sound_lock, NULL, NULL), HF_OK);
    rig_close(b->sound);
    CHECK_INT(atomic_load(&heap.outstanding), 0);
}

/* Without memory for good a link cannot be made nor a try be answered: then the
 * deadline may end the call just as well. */
static int is_honest(int status, int fails_on)
{
    if (status == HF_NOMEM) return 1;
    return fails_on && (status == HF_UNAVAILABLE || status == HF_TIMEOUT);
}

static int is_late(int status, int fired)
{
    return status == HF_EXPIRED || (!fired && status == HF_UNAVAILABLE);
}

/* 1 if an allocation failed, 0 if the call needed fewer than n.  The leases are
 * short, since some must end: one that a busy machine let end is no matter of
 * memory, and is tried again.  So is a call that no allocation failed of, and
 * that the machine was too busy to answer in time. */
static int scenario_run(const struct scenario *s, unsigned flags, long n,
                        int fails_on)
{
    static struct bench b;
    int status = HF_EXPIRED, fired = 0;
    for (int i = 0; i < 5 && is_late(status, fired); i++) {
        if (i > 0) bench_close(&b);
        bench_open(&b, s, flags, fails_on ? 0 : RIG_PATIENCE_MS);
        heap_arm(n, fails_on);
        status = s->act(&b);
        fired = atomic_load(&heap.fired);
        heap_arm(0, 0);
    }
    if (status != s->expected && !(fired && is_honest(status, fails_on)))
        TEST_FAIL("%s, allocation %ld%s: %s", s->name, n,
                  fails_on ? " and all after it" : "", hf_status_name(status));
    bench_close(&b);
    return fired;
}

static int scenario_applies(const struct scenario *s)
{
    if (s->act == act_ticket) return rig_has(HF_CAP_DETACHED);
    if (s->act == act_break) return rig_has(HF_CAP_BREAK);
    if (s->act == act_list || s->act == act_list_start)
        return rig_has(HF_CAP_LIST);
    if (s->act == act_latch || s->act == act_latch_start
        || s->act == act_barrier)
        return rig_has(HF_CAP_TALLY);
    if (s->act == act_guard || s->act == act_guard_start)
        return rig_has(HF_CAP_GUARD);
    if (s->act == act_stock || s->act == act_stock_start)
        return rig_has(HF_CAP_STOCK);
    if (s->act == act_election || s->act == act_campaign_start)
        return rig_has(HF_CAP_VALUE | HF_CAP_FENCE);
    if (s->act == act_value || s->act == act_value_start || s->act == act_once
        || s->act == act_once_start || s->act == act_update_start)
        return rig_has(HF_CAP_VALUE);
    return 1;
}

static void survives(const char *kind, unsigned flags, int fails_on)
{
    rig_begin_on(kind);
    hf_client *keep = rig_client(NULL); /* also keeps a memory space alive */
    (void)keep;
    atomic_store(&heap.outstanding, 0);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        long n = 1;
        if (!scenario_applies(&scenarios[i])) continue;
        while (scenario_run(&scenarios[i], flags, n, fails_on))
            CHECK(++n < ALLOCS_MAX);
    }
}

TEST(alloc_failure, in_memory_one_at_a_time)
{
    survives("memory:", HF_CLIENT_OWN_LOOP, 0);
}

TEST(alloc_failure, in_memory_from_one_on)
{
    survives("memory:", HF_CLIENT_OWN_LOOP, 1);
}

TEST(alloc_failure, in_memory_with_a_thread)
{
    survives("memory:", 0, 0);
}

TEST(alloc_failure, in_a_file_one_at_a_time)
{
    survives("file:", HF_CLIENT_OWN_LOOP, 0);
}

TEST(alloc_failure, in_a_file_from_one_on)
{
    survives("file:", HF_CLIENT_OWN_LOOP, 1);
}

TEST(alloc_failure, in_a_quorum_one_at_a_time)
{
    survives("quorum:", HF_CLIENT_OWN_LOOP, 0);
}

TEST(alloc_failure, in_a_quorum_from_one_on)
{
    survives("quorum:", HF_CLIENT_OWN_LOOP, 1);
}

TEST(alloc_failure, in_a_quorum_with_a_thread)
{
    survives("quorum:", 0, 0);
}

TEST(alloc_failure, on_redis_one_at_a_time)
{
    survives("redis", HF_CLIENT_OWN_LOOP, 0);
}

TEST(alloc_failure, on_redis_from_one_on)
{
    survives("redis", HF_CLIENT_OWN_LOOP, 1);
}

TEST(alloc_failure, on_redis_with_a_thread)
{
    survives("redis", 0, 0);
}
