/*
 * client_fuzz.c: the whole client against a server that answers anything: each
 * kind of object, through redirects, Sentinels, a quorum and subscriptions.
 *
 * Whatever it answers: every call returns, every callback comes once, an error
 * has a sentence that ends, no token is above the highest there can be, a
 * handle that was released or whose client was closed stands for nothing and is
 * told nothing, and all memory comes back.
 *
 * The first byte chooses the URL, the second the first call and how many follow
 * it, the third what the server does with the greeting and at the end, and by
 * its highest bit whether holds are played with: entered again, released inside
 * callbacks.  The rest is the server's script, see lib/client.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "holdfast/holdfast.h"
#include "fuzz/lib/client.h"
#include "lib/nodes.h"

#define HEAD 3
#define LEASE_MS 3000
#define WAIT_MS 2500
#define STEPS_MAX 30 /* of the loop behind the calls */
#define KEPT_MAX 128 /* handles in one run */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int allocs_open;
static int calls_open; /* asynchronous ones without their callback */
static int plays;
static unsigned play; /* what is begun with */

static void check(int ok)
{
    if (!ok) abort();
}

/* ---- memory ---- */

static void *allocate(size_t size, void *user)
{
    (void)user;
    void *p = malloc(size);
    if (p) allocs_open++;
    return p;
}

static void *resize(void *ptr, size_t size, void *user)
{
    (void)user;
    void *p = realloc(ptr, size);
    if (!ptr && p) allocs_open++;
    return p;
}

static void release(void *ptr, void *user)
{
    (void)user;
    if (ptr) allocs_open--;
    free(ptr);
}

/* ---- what a call says ---- */

static void check_error(int status, const struct hf_error *err)
{
    check(hf_status_name(status) != NULL);
    if (status == HF_OK) return;
    const char *end = memchr(err->text, '\0', sizeof err->text);
    check(end != NULL && end > err->text);
}

static void check_fence(uint64_t fence)
{
    check(fence <= (uint64_t)BALLOT_MAX + HANDOVER_MAX);
}

static void call_begun(int status)
{
    check(hf_status_name(status) != NULL);
    if (status == HF_OK) calls_open++;
}

static void call_ended(int status)
{
    check(hf_status_name(status) != NULL);
    check(--calls_open >= 0);
}

/* ---- holds ---- */

/* A handle that was given in this run. */
struct kept {
    hf_hold *hold;
    int is_over; /* it must not be told anything any more */
};

static struct kept kept[KEPT_MAX];
static size_t kept_len;

static void hold_give(struct kept *k);

static void told(hf_hold *hold, const struct hf_event *ev, void *user)
{
    struct kept *k = user;
    check(hold == k->hold && !k->is_over);
    check(ev->state >= HF_STATE_HELD && ev->state <= HF_STATE_LOST);
    check(memchr(ev->text, '\0', sizeof ev->text) != NULL);
    if (plays && ev->state == HF_STATE_LOST) hold_give(k);
}

/* What can be asked of one that stands for nothing. */
static void check_gone_view(hf_hold *hold)
{
    char why[HF_ERROR_TEXT_MAX];
    hf_hold_why(hold, why);
    check(why[0] == '\0' && hf_hold_name(hold)[0] == '\0');
    check(hf_hold_state(hold) == HF_STATE_NONE);
    check(hf_hold_fence(hold) == 0 && hf_hold_valid_ms(hold) == 0);
    check(hf_hold_count(hold) == 0 && hf_hold_lease_ms(hold) == 0);
    check(hf_hold_parts(hold) == 0 && hf_hold_part(hold, 0) == NULL);
    check(hf_hold_guarantee(hold) == HF_GUARANTEE_STORE);
    check(hf_hold_replicas(hold) == 0);
}

static void check_invalid(int status, const struct hf_error *err)
{
    check(status == HF_INVALID);
    check_error(status, err);
}

static void check_gone(hf_hold *hold)
{
    char ticket[HF_TICKET_MAX];
    struct hf_error err;
    int fd = -1;
    check_gone_view(hold);
    check_invalid(hf_hold_extend(hold, LEASE_MS, &err), &err);
    check_invalid(hf_hold_extend_start(hold, 0, NULL, NULL, &err), &err);
    check_invalid(hf_hold_release(hold, &err), &err);
    check_invalid(hf_hold_release_start(hold, NULL, NULL, &err), &err);
    check_invalid(hf_hold_ticket(hold, ticket, sizeof ticket, &err), &err);
    check_invalid(hf_hold_inherit(hold, &fd, &err), &err);
    check(hf_hold_feed(hold) == HF_INVALID);
    check(hf_hold_on_state(hold, told, NULL, NULL) == HF_INVALID);
}

static void check_held(hf_hold *hold)
{
    char why[HF_ERROR_TEXT_MAX];
    int state = hf_hold_state(hold);
    size_t parts = hf_hold_parts(hold);
    check(state > HF_STATE_NONE && state <= HF_STATE_LOST);
    check(hf_hold_valid_ms(hold) >= 0);
    check(hf_hold_name(hold)[0] != '\0');
    check_fence(hf_hold_fence(hold));
    hf_hold_why(hold, why);
    check(memchr(why, '\0', sizeof why) != NULL);
    check(parts > 0 && hf_hold_part(hold, parts) == NULL);
    if (parts == 1) check(hf_hold_part(hold, 0) == hold);
    for (size_t i = 0; parts > 1 && i < parts; i++)
        check_held(hf_hold_part(hold, i));
}

/* It was given: look at it, and listen to it. */
static struct kept *hold_keep(hf_hold *hold)
{
    check(kept_len < KEPT_MAX);
    struct kept *k = &kept[kept_len++];
    *k = (struct kept){.hold = hold};
    check_held(hold);
    int is_set = hf_hold_parts(hold) > 1;
    int status = hf_hold_on_state(hold, told, k, NULL);
    check(status == (is_set ? HF_INVALID : HF_OK));
    return k;
}

static void kept_end(struct kept *k)
{
    k->is_over = 1;
    check_gone(k->hold);
}

static void hold_give(struct kept *k)
{
    struct hf_error err;
    check_error(hf_hold_release(k->hold, &err), &err);
    kept_end(k);
}

/* The client is closed, and with it every handle is gone. */
static void kept_check(void)
{
    for (size_t i = 0; i < kept_len; i++) check_gone(kept[i].hold);
    check_gone(NULL);
}

static void released(hf_hold *hold, int status, const struct hf_error *err,
                     void *user)
{
    struct kept *k = user;
    (void)err;
    call_ended(status);
    check(hold == k->hold);
    check_gone(hold);
}

static void extended(hf_hold *hold, int status, const struct hf_error *err,
                     void *user)
{
    struct kept *k = user;
    (void)err;
    call_ended(status);
    check(hold == k->hold);
    if (plays) hold_give(k); /* perhaps for the second time */
}

/* Inside a callback. */
static void hold_play(struct kept *k)
{
    int status = HF_OK;
    switch (play++ % 5) {
    case 0:
        hold_give(k);
        break;
    case 1:
        status = hf_hold_release_start(k->hold, released, k, NULL);
        call_begun(status);
        if (status == HF_OK) kept_end(k);
        break;
    case 2:
        call_begun(hf_hold_extend_start(k->hold, 0, extended, k, NULL));
        break;
    case 3:
        check(hf_hold_on_state(k->hold, NULL, NULL, NULL) == HF_OK);
        break;
    default: /* it is renewed, and listened to */
        break;
    }
}

static void acquired(hf_lock *lock, int status, hf_hold *hold,
                     const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    (void)user;
    call_ended(status);
    check((status == HF_OK) == (hold != NULL));
    if (!hold) return;
    struct kept *k = hold_keep(hold);
    if (plays) hold_play(k);
}

static void inspected(hf_lock *lock, int status, const struct hf_info *info,
                      const struct hf_error *err, void *user)
{
    (void)lock;
    (void)info;
    (void)err;
    (void)user;
    call_ended(status);
}

/* ---- locks ---- */

static struct hf_acquire_options how(int64_t wait_ms)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.wait_ms = wait_ms;
    o.lease_ms = LEASE_MS;
    return o;
}

/* A second handle of the same hold; or of a new one, if that was lost. */
static void lock_reenter(hf_lock *lock, const struct kept *first)
{
    struct hf_error err;
    hf_hold *hold = NULL;
    int status = hf_lock_try(lock, &hold, &err);
    check_error(status, &err);
    if (status != HF_OK) return;
    struct kept *k = hold_keep(hold);
    check(hold != first->hold);
    if (!first->is_over && hf_hold_state(first->hold) != HF_STATE_LOST)
        check(hf_hold_fence(hold) == hf_hold_fence(first->hold));
    hold_give(k);
    if (!first->is_over) check_held(first->hold);
}

static void lock_use(hf_lock *lock)
{
    struct hf_error err;
    hf_hold *hold = NULL;
    struct hf_info info = HF_INFO_INIT;
    int was = 0;
    struct hf_acquire_options o = how(WAIT_MS);
    int status = hf_lock_acquire(lock, &o, &hold, &err);
    check_error(status, &err);
    check((status == HF_OK) == (hold != NULL));
    if (status == HF_OK) {
        struct kept *k = hold_keep(hold);
        check_error(hf_hold_extend(hold, LEASE_MS, &err), &err);
        if (plays) lock_reenter(lock, k);
        hold_give(k);
    }
    check_error(hf_lock_inspect(lock, &info, &err), &err);
    check_error(hf_lock_break(lock, &was, &err), &err);
}

/* A hold whose ticket may be used by another client. */
static void act_ticket(hf_client *c)
{
    struct hf_acquire_options o = how(WAIT_MS);
    char ticket[HF_TICKET_MAX];
    struct kept *k = NULL;
    hf_hold *hold = NULL;
    struct hf_error err;
    hf_lock *lock;
    o.flags = HF_ACQUIRE_DETACHED;
    if (hf_lock_open(c, "t", &lock, NULL) != HF_OK) return;
    int status = hf_lock_acquire(lock, &o, &hold, &err);
    check_error(status, &err);
    if (status == HF_OK) {
        k = hold_keep(hold);
        status = hf_hold_ticket(hold, ticket, sizeof ticket, &err);
        check_error(status, &err);
    }
    if (status == HF_OK) {
        kept_end(k);
        status = hf_lock_attach(lock, ticket, LEASE_MS, &hold, &err);
        check_error(status, &err);
        if (status == HF_OK) k = hold_keep(hold);
        check_error(hf_ticket_release(lock, ticket, &err), &err);
        if (plays && status == HF_OK) hold_give(k);
    }
    hf_lock_close(lock);
}

static void lock_of(hf_client *c, int kind, int order)
{
    struct hf_lock_options as = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options o = how(WAIT_MS);
    hf_lock *lock;
    as.kind = kind;
    as.order = order;
    if (hf_lock_open_as(c, "a", &as, &lock, NULL) != HF_OK) return;
    unsigned others = plays ? play % 3 : 3;
    for (unsigned i = 0; i < others; i++)
        call_begun(hf_lock_acquire_start(lock, &o, acquired, NULL, NULL));
    call_begun(hf_lock_inspect_start(lock, inspected, NULL, NULL));
    lock_use(lock); /* the others wait on: it is closed with the client */
}

static void act_plain(hf_client *c)
{
    lock_of(c, HF_KIND_PLAIN, HF_ORDER_ANY);
}

static void act_fair(hf_client *c)
{
    lock_of(c, HF_KIND_PLAIN, HF_ORDER_FAIR);
}

static void act_read(hf_client *c)
{
    lock_of(c, HF_KIND_READ, HF_ORDER_ANY);
}

static void act_write(hf_client *c)
{
    lock_of(c, HF_KIND_WRITE, HF_ORDER_WRITERS);
}

static void act_write_fair(hf_client *c)
{
    lock_of(c, HF_KIND_WRITE, HF_ORDER_FAIR);
}

/* Held until the client is closed, so that it is renewed meanwhile. */
static void act_keep(hf_client *c)
{
    static const char *const names[] = {"k1", "k2", "k3"};
    struct hf_acquire_options o = how(0);
    for (int i = 0; i < 3; i++) {
        hf_lock *lock;
        if (hf_lock_open(c, names[i], &lock, NULL) != HF_OK) return;
        call_begun(hf_lock_acquire_start(lock, &o, acquired, NULL, NULL));
    }
}

static void act_multi(hf_client *c)
{
    hf_lock *locks[3] = {NULL, NULL, NULL};
    static const char *const names[] = {"m1", "m2", "m3"};
    struct hf_acquire_options o = how(WAIT_MS);
    hf_hold *hold = NULL, *part = NULL;
    struct hf_error err;
    hf_multi *multi;
    for (int i = 0; i < 3; i++)
        if (hf_lock_open(c, names[i], &locks[i], NULL) != HF_OK) return;
    if (hf_multi_open(locks, 3, &multi, NULL) != HF_OK) return;
    int status = hf_multi_acquire(multi, &o, &hold, &err);
    check_error(status, &err);
    check((status == HF_OK) == (hold != NULL));
    hf_multi_close(multi); /* its holds do not mind */
    if (status == HF_OK) {
        struct kept *k = hold_keep(hold);
        check(hf_hold_parts(hold) == 3);
        part = hf_hold_part(hold, 2);
        check(strcmp(hf_hold_name(part), names[2]) == 0);
        if (plays) check_error(hf_hold_extend(hold, LEASE_MS, &err), &err);
        hold_give(k);
        check_gone(part);
    }
    for (int i = 0; i < 3; i++) hf_lock_close(locks[i]);
}

/* ---- what several have, or nobody ---- */

static void semaphore_of(hf_client *c, unsigned flags, int order)
{
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_acquire_options o = how(WAIT_MS);
    struct hf_semaphore_state state = HF_SEMAPHORE_STATE_INIT;
    hf_hold *hold = NULL;
    struct hf_error err;
    hf_semaphore *sem;
    so.flags = flags;
    so.order = order;
    so.permits = 2;
    if (hf_semaphore_open(c, "s", &so, &sem, NULL) != HF_OK) return;
    check_error(hf_semaphore_try_set(sem, 2, &state, &err), &err);
    if (plays) o.permits = 2;
    int status = hf_semaphore_acquire(sem, &o, &hold, &err);
    check_error(status, &err);
    int is_held = status == HF_OK && !(flags & HF_SEMAPHORE_PLAIN);
    check(is_held == (hold != NULL));
    if (is_held) {
        struct kept *k = hold_keep(hold);
        check_error(hf_hold_extend(hold, LEASE_MS, &err), &err);
        hold_give(k);
    } else if (status == HF_OK) {
        check_error(hf_semaphore_add(sem, 1, 0, NULL, &err), &err);
    }
    check_error(hf_semaphore_add(sem, 1, 0, &state, &err), &err);
    check_error(hf_semaphore_state(sem, &state, &err), &err);
    if (flags) check_error(hf_semaphore_drain(sem, &state, &err), &err);
    if (hf_semaphore_lock(sem)) {
        struct hf_info info = HF_INFO_INIT;
        hf_lock *lock = hf_semaphore_lock(sem);
        check_error(hf_lock_inspect(lock, &info, &err), &err);
    }
    hf_semaphore_close(sem);
}

static void act_permit(hf_client *c)
{
    semaphore_of(c, 0, HF_ORDER_ANY);
}

static void act_permit_fair(hf_client *c)
{
    semaphore_of(c, 0, HF_ORDER_FAIR);
}

static void act_count(hf_client *c)
{
    semaphore_of(c, HF_SEMAPHORE_PLAIN, HF_ORDER_ANY);
}

static void act_latch(hf_client *c)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    struct hf_error err;
    hf_latch *latch;
    int64_t left = 0;
    o.wait_ms = WAIT_MS;
    if (hf_latch_open(c, "l", &latch, NULL) != HF_OK) return;
    check_error(hf_latch_set(latch, 2, &err), &err);
    check_error(hf_latch_down(latch, &left, &err), &err);
    check_error(hf_latch_wait(latch, &o, &err), &err);
    check_error(hf_latch_count(latch, &left, &err), &err);
    check_error(hf_latch_delete(latch, NULL, &err), &err);
    hf_latch_close(latch);
}

static void act_barrier(hf_client *c)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    struct hf_passed passed = HF_PASSED_INIT;
    struct hf_error err;
    hf_barrier *barrier;
    int64_t waiting = 0;
    o.wait_ms = WAIT_MS;
    if (hf_barrier_open(c, "b", 2, &barrier, NULL) != HF_OK) return;
    check_error(hf_barrier_wait(barrier, &o, &passed, &err), &err);
    check_error(hf_barrier_waiting(barrier, &waiting, &err), &err);
    hf_barrier_close(barrier);
}

/* ---- what is stored ---- */

static int value_make(const struct hf_value *now, struct hf_value_next *next,
                      void *user)
{
    (void)now;
    (void)user;
    next->data = "x";
    next->len = 1;
    return 0;
}

static void act_value(hf_client *c)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    struct hf_value value = HF_VALUE_INIT;
    struct hf_error err;
    uint64_t version = 0;
    o.tries = 16; /* the server may say for ever that it has changed */
    int status = hf_value_read(c, "v", &value, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_value_free(c, &value);
    status = hf_value_write(c, "v", version, "x", 1, 0, &version, &err);
    check_error(status, &err);
    check_error(hf_value_delete(c, "v", version, &err), &err);
    status = hf_value_update(c, "v", value_make, NULL, &o, &version, &err);
    check_error(status, &err);
}

static void act_guard(hf_client *c)
{
    struct hf_value value = HF_VALUE_INIT;
    struct hf_error err;
    uint64_t token = 0;
    check_error(hf_guard_touch(c, "g", 5, &err), &err);
    check_error(hf_guard_set(c, "g", 5, "x", 1, 0, &err), &err);
    check_error(hf_guard_token(c, "g", &token, &err), &err);
    int status = hf_guard_read(c, "g", &value, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_value_free(c, &value);
    check_error(hf_guard_claim(c, "g", 7, &err), &err);
    check_error(hf_guard_delete(c, "g", 9, &err), &err);
}

static void act_once(hf_client *c)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    struct hf_error err;
    hf_once *once = NULL;
    o.flags = HF_ONCE_TRY;
    int status = hf_once_begin(c, "o", &o, &once, &result, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_once_result_free(c, &result);
    if (once) {
        hf_hold *hold = hf_once_hold(once); /* borrowed */
        check_held(hold);
        check_error(hf_once_end(once, 0, "r", 1, &err), &err);
        check_gone(hold);
    }
    status = hf_once_look(c, "o", NULL, &result, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_once_result_free(c, &result);
}

static void act_election(hf_client *c)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_leader leader = HF_LEADER_INIT;
    hf_hold *hold = NULL;
    struct hf_error err;
    hf_election *e;
    o.wait_ms = WAIT_MS;
    o.value = "here";
    o.value_len = 4;
    if (hf_election_open(c, "e", NULL, &e, NULL) != HF_OK) return;
    int status = hf_election_campaign(e, &o, &hold, &err);
    check_error(status, &err);
    check((status == HF_OK) == (hf_election_hold(e) != NULL));
    if (status == HF_OK) {
        check(hf_election_hold(e) == hold);
        check_held(hold);
        check_error(hf_election_publish(e, "there", 5, &err), &err);
        check_error(hf_election_resign(e, &err), &err);
        check(hf_election_hold(e) == NULL);
        check_gone(hold);
    }
    status = hf_election_look(e, &leader, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_leader_free(e, &leader);
    hf_election_close(e);
}

static int row_take(const struct hf_list_row *row, void *user)
{
    (void)user;
    check(row->name_len > 0 && row->name_len <= NAME_LEN_MAX);
    check(row->name[row->name_len] == '\0');
    return 0;
}

static void act_list(hf_client *c)
{
    struct hf_error err;
    check_error(hf_client_list(c, "*", row_take, NULL, &err), &err);
}

static const char *url_text;

/* By itself, without the client. */
static void act_probe(hf_client *c)
{
    hf_probe *probe = NULL;
    struct hf_probe_options o = HF_PROBE_OPTIONS_INIT;
    struct hf_error err;
    char fact[64];
    (void)c;
    int status = hf_probe_open(url_text, &o, &probe, &err);
    check_error(status, &err);
    for (int i = 0; status == HF_OK && i < hf_probe_len(probe); i++)
        hf_probe_fact(hf_probe_node(probe, i), "redis_version", fact,
                      sizeof fact);
    hf_probe_close(probe);
}

/* ---- a run ---- */

static void (*const acts[])(hf_client *) = {
    act_plain,       act_fair,     act_read,    act_write,  act_write_fair,
    act_keep,        act_ticket,   act_multi,   act_permit, act_count,
    act_permit_fair, act_latch,    act_barrier, act_value,  act_guard,
    act_once,        act_election, act_list,    act_probe};
#define ACTS (sizeof acts / sizeof acts[0])

static const char *const urls[] = {
    "redis://127.0.0.1:1",
    "redis://127.0.0.1:1?format=string",
    "redis://127.0.0.1:1?format=string&fence=off",
    "redis://127.0.0.1:1?wait=1",
    "redis://127.0.0.1:1?waitaof=1",
    "redis://127.0.0.1:1?handover=8",
    "redis-cluster://127.0.0.1:1",
    "redis-cluster://127.0.0.1:1?pubsub=sharded",
    "redis-sentinel://127.0.0.1:1,127.0.0.1:2/m",
    "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3",
};
#define URLS (sizeof urls / sizeof urls[0])

static hf_client *client_open(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    hf_client *c = NULL;
    o.flags = HF_CLIENT_OWN_LOOP;
    o.spin_us = -1;
    o.timeout_ms = 500;
    o.patience_ms = 1000;
    o.lease_ms = LEASE_MS;
    o.allocator = (struct hf_allocator){allocate, resize, release, NULL};
    check(hf_client_open(url_text, &o, &c, &err) == HF_OK);
    return c;
}

/* Let some time pass: renewals, messages, new connections. */
static void loop_run(hf_client *c)
{
    for (int i = 0; i < STEPS_MAX; i++) {
        check(hf_client_process(c) == HF_OK);
        int64_t left_ms = hf_client_timeout_ms(c);
        world_pass_us((left_ms < 0 ? 1000 : left_ms) * US_PER_MS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hf_node nodes[4];
    if (size < HEAD) return 0;
    url_text = urls[data[0] % URLS];
    allocs_open = calls_open = 0;
    kept_len = 0;
    plays = data[2] >= 128;
    play = data[2] / 6;
    world_begin(data + HEAD, size - HEAD, data[2] & 1,
                (enum script_end)(data[2] / 2 % 3));
    hf_client *c = client_open();
    for (unsigned i = 0; i <= data[1] / ACTS % 4; i++)
        acts[(data[1] + i) % ACTS](c);
    loop_run(c);
    nodes_of(c, nodes, 4);
    hf_client_close(c);
    kept_check();
    world_end();
    check(calls_open == 0);
    check(allocs_open == 0);
    return 0;
}
