/*
 * client_fuzz.c: the whole client against a server that answers anything: each
 * kind of object, through redirects, Sentinels, a quorum and subscriptions.
 *
 * Whatever it answers: every call returns, every callback comes once, an error
 * has a sentence that ends, no token is above the highest there can be, and all
 * memory comes back.
 *
 * The first byte chooses the URL, the second the first call and how many follow
 * it, the third what the server does with the greeting and at the end; the rest
 * is the server's script, see lib/client.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "holdfast/holdfast.h"
#include "fuzz/lib/client.h"

#define HEAD 3
#define LEASE_MS 3000
#define WAIT_MS 2500
#define STEPS_MAX 30 /* of the loop behind the calls */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int allocs_open;
static int calls_open; /* asynchronous ones without their callback */

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

static void acquired(hf_lock *lock, int status, const struct hf_grant *grant,
                     const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    (void)user;
    call_ended(status);
    check((status == HF_OK) == (grant != NULL));
    if (grant) check_fence(grant->fence);
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

static void lock_use(hf_lock *lock)
{
    struct hf_error err;
    struct hf_grant grant;
    struct hf_info info;
    int was = 0;
    struct hf_acquire_options o = how(WAIT_MS);
    int status = hf_lock_acquire(lock, &o, &grant, &err);
    check_error(status, &err);
    if (status == HF_OK) {
        check_fence(grant.fence);
        check_error(hf_lock_extend(lock, 0, LEASE_MS, &grant, &err), &err);
        check_error(hf_lock_release(lock, NULL, &err), &err);
    }
    check_error(hf_lock_inspect(lock, 0, &info, &err), &err);
    check_error(hf_lock_break(lock, &was, &err), &err);
}

/* Held by who has the ticket. */
static void act_ticket(hf_client *c)
{
    struct hf_acquire_options o = how(WAIT_MS);
    char ticket[HF_TICKET_MAX];
    struct hf_grant grant;
    struct hf_error err;
    hf_lock *lock;
    o.flags = HF_ACQUIRE_DETACHED;
    if (hf_lock_open(c, "t", &lock, NULL) != HF_OK) return;
    int status = hf_lock_acquire(lock, &o, &grant, &err);
    check_error(status, &err);
    if (status == HF_OK) {
        status = hf_lock_detach(lock, 0, ticket, &err);
        check_error(status, &err);
    }
    if (status == HF_OK) {
        status = hf_lock_attach(lock, ticket, LEASE_MS, &grant, &err);
        check_error(status, &err);
        check_error(hf_ticket_release(lock, ticket, &err), &err);
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
    for (int i = 0; i < 3; i++)
        call_begun(hf_lock_acquire_start(lock, &o, acquired, NULL, NULL));
    call_begun(hf_lock_inspect_start(lock, 0, inspected, NULL, NULL));
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
    struct hf_grant grants[3];
    struct hf_error err;
    hf_multi *multi;
    for (int i = 0; i < 3; i++)
        if (hf_lock_open(c, names[i], &locks[i], NULL) != HF_OK) return;
    if (hf_multi_open(locks, 3, &multi, NULL) != HF_OK) return;
    int status = hf_multi_acquire(multi, &o, grants, &err);
    check_error(status, &err);
    if (status == HF_OK) check_error(hf_multi_release(multi, &err), &err);
    hf_multi_close(multi);
    for (int i = 0; i < 3; i++) hf_lock_close(locks[i]);
}

/* ---- what several have, or nobody ---- */

static void semaphore_of(hf_client *c, unsigned flags, int order)
{
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_acquire_options o = how(WAIT_MS);
    struct hf_semaphore_state state;
    struct hf_permit permit;
    struct hf_error err;
    hf_semaphore *sem;
    so.flags = flags;
    so.order = order;
    so.permits = 2;
    if (hf_semaphore_open(c, "s", &so, &sem, NULL) != HF_OK) return;
    check_error(hf_semaphore_try_set(sem, 2, &state, &err), &err);
    int status = hf_semaphore_acquire(sem, &o, &permit, &err);
    check_error(status, &err);
    if (status == HF_OK) {
        check_fence(permit.fence);
        check_error(hf_semaphore_extend(sem, &permit, LEASE_MS, &err), &err);
        check_error(hf_semaphore_release(sem, &permit, &err), &err);
    }
    check_error(hf_semaphore_add(sem, 1, 0, &state, &err), &err);
    check_error(hf_semaphore_state(sem, &state, &err), &err);
    if (flags) check_error(hf_semaphore_drain(sem, &state, &err), &err);
    if (hf_semaphore_lock(sem)) {
        struct hf_info info;
        hf_lock *lock = hf_semaphore_lock(sem);
        check_error(hf_lock_inspect(lock, 0, &info, &err), &err);
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
    struct hf_passed passed;
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
    struct hf_value value;
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
    struct hf_value value;
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
    struct hf_once_result result;
    struct hf_error err;
    hf_once *once = NULL;
    o.flags = HF_ONCE_TRY;
    int status = hf_once_begin(c, "o", &o, &once, &result, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_once_result_free(c, &result);
    if (once) check_error(hf_once_end(once, 0, "r", 1, &err), &err);
    status = hf_once_look(c, "o", NULL, &result, &err);
    check_error(status, &err);
    if (status == HF_OK) hf_once_result_free(c, &result);
}

static void act_election(hf_client *c)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_leader leader;
    struct hf_grant grant;
    struct hf_error err;
    hf_election *e;
    o.wait_ms = WAIT_MS;
    o.value = "here";
    o.value_len = 4;
    if (hf_election_open(c, "e", NULL, &e, NULL) != HF_OK) return;
    int status = hf_election_campaign(e, &o, &grant, &err);
    check_error(status, &err);
    if (status == HF_OK) {
        check_error(hf_election_publish(e, "there", 5, &err), &err);
        check_error(hf_election_resign(e, &err), &err);
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
    static struct hf_probe probe;
    struct hf_probe_options o = HF_PROBE_OPTIONS_INIT;
    struct hf_error err;
    char fact[64];
    (void)c;
    int status = hf_probe(url_text, &o, &probe, &err);
    check_error(status, &err);
    for (int i = 0; status == HF_OK && i < probe.len; i++)
        hf_probe_fact(&probe.nodes[i], "redis_version", fact, sizeof fact);
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
    world_begin(data + HEAD, size - HEAD, data[2] & 1,
                (enum script_end)(data[2] / 2 % 3));
    hf_client *c = client_open();
    for (unsigned i = 0; i <= data[1] / ACTS % 4; i++)
        acts[(data[1] + i) % ACTS](c);
    loop_run(c);
    hf_client_nodes(c, nodes, 4);
    hf_client_close(c);
    world_end();
    check(calls_open == 0);
    check(allocs_open == 0);
    return 0;
}
