/*
 * host_test.c: operations that go to the lock of this host, and come back, on
 * two stores whose every answer is given by hand.
 */
#include <string.h>

#include "api/client/client.h"
#include "engine/engine.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/op.h"
#include "test.h"

struct backend_conn {
    struct backend_env *env;
    struct request *asked[64];
    int len;
};
static struct backend_conn store, there;
static struct engine e;
static struct host host;
static hf_lock lock;

/* ---- the stores ---------------------------------------------------------- */

static int conn_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    (void)err;
    struct backend_conn *c = strcmp(url->scheme, "host") ? &store : &there;
    c->env = env;
    c->len = 0;
    *out = c;
    env->link(env, 1, INT64_C(1000000000000), NULL);
    return HF_OK;
}

static void conn_submit(struct backend_conn *c, struct request *req)
{
    CHECK(c->len < 64);
    c->asked[c->len++] = req;
}

static void conn_flush(struct backend_conn *c)
{
    (void)c;
}

static void conn_close(struct backend_conn *c)
{
    (void)c;
}

static const struct backend by_hand = {.open = conn_open,
                                       .submit = conn_submit,
                                       .flush = conn_flush,
                                       .close = conn_close};

static void answer(struct backend_conn *c, int i, enum verdict verdict)
{
    struct request *req = c->asked[i];
    struct reply rep = {.verdict = verdict, .ttl_us = -1, .waiters = -1};
    memmove(&c->asked[i], &c->asked[i + 1],
            sizeof c->asked[0] * (size_t)(c->len - i - 1));
    c->len--;
    if (verdict == V_BUSY) rep.status = HF_TAKEN;
    if (verdict == V_UNSENT) rep.status = HF_UNAVAILABLE;
    if (verdict == V_GRANTED && req->verb == VERB_PROPOSE)
        rep.fence = rep.counter = req->ballot;
    c->env->reply(c->env, req, &rep);
    hf__engine_flush(&e);
}

static int find(const struct backend_conn *c, enum verb op)
{
    int i = 0;
    while (i < c->len && c->asked[i]->verb != op) i++;
    return i < c->len ? i : -1;
}

static int host_open(struct engine *en, struct hf_error *err)
{
    struct url url = {.scheme = "host"};
    struct host *h = en->host;
    h->conf = en->conf;
    h->node.is_host = 1;
    return hf__node_open(en, &h->node, 0, &by_hand, &url, err);
}

/* ---- operations ---------------------------------------------------------- */

static void never(struct op *op)
{
    (void)op;
}

static void begin(struct op *op, enum op_type type, uint64_t holder)
{
    hf__call_init(op, type, &lock, holder);
    op->fall = FALL_IF_SILENT;
    op->complete = never;
    op->lease_us = 30 * US_PER_S;
    op->wait_us = type == OP_TYPE_ACQUIRE ? -1 : 0;
    hf__engine_begin(&e, op, e.now_us);
    hf__engine_flush(&e);
}

static void later(void)
{
    hf__engine_tick(&e, e.now_us + 20 * US_PER_MS);
    hf__engine_flush(&e);
}

static void world_begin(void)
{
    struct url url = {.scheme = "store"};
    memset(&e, 0, sizeof e);
    memset(&host, 0, sizeof host);
    store.len = there.len = 0;
    e.alloc = &hf__alloc_default;
    e.info = "1 h -";
    memset(e.uuid, 'a', 36);
    e.conf.nodes = e.conf.quorum = 1;
    e.conf.request_flags = REQ_SERVER_FENCE;
    e.conf.timeout_us = e.conf.patience_us = US_PER_S;
    e.conf.window_us = 2 * US_PER_S;
    e.host = &host;
    host.open = host_open;
    host.store = "store";
    CHECK_INT(hf__engine_open(&e, 5 * US_PER_S), HF_OK);
    CHECK_INT(hf__node_open(&e, &e.nodes[0], 0, &by_hand, &url, NULL), HF_OK);
    lock.entry = hf__entry_get(&e, KIND_PLAIN, "n", 1);
    CHECK(lock.entry != NULL);
}

static void world_end(void)
{
    hf__engine_shut(&e, e.now_us);
    hf__engine_take_done(&e);
    while (store.len) answer(&store, 0, V_UNSENT);
    while (there.len) answer(&there, 0, V_UNSENT);
    hf__engine_close(&e);
}

/* Holder 7 gets this host's lock, for the store did not answer it; to the
 * others the store says that it is taken. */
static void seven_falls(struct op *op)
{
    hf__call_init(op, OP_TYPE_ACQUIRE, &lock, 7);
    op->fall = FALL_IF_SILENT;
    op->complete = never;
    op->lease_us = 30 * US_PER_S;
    hf__engine_begin(&e, op, e.now_us);
    hf__engine_flush(&e);
    for (int i = 0; i < 400 && !host.is_open; i++) {
        while (store.len && !host.is_open) {
            int is_sevens = strstr(store.asked[0]->owner, ":7") != NULL;
            int is_asked = store.asked[0]->verb == VERB_PROPOSE;
            answer(&store, 0,
                   is_sevens  ? V_UNSENT
                   : is_asked ? V_BUSY
                              : V_GRANTED);
        }
        if (!host.is_open) later();
    }
    CHECK(host.is_open);
    while (there.len) answer(&there, 0, V_GRANTED);
    CHECK(op->finished && op->status == HF_OK);
    CHECK_INT(op->grant.guarantee, HF_GUARANTEE_LOCAL);
}

/* The store grants it to holder 1, which must join the other at this host. */
static void one_is_granted(const struct op *op)
{
    for (int i = 0; i < 400 && find(&store, VERB_PROPOSE) < 0; i++) later();
    CHECK(find(&store, VERB_PROPOSE) >= 0);
    answer(&store, find(&store, VERB_PROPOSE), V_GRANTED);
    CHECK(!op->finished && op->named && op->joined);
    /* What was granted is given back at once. */
    CHECK(find(&store, VERB_RELEASE) >= 0);
    answer(&store, find(&store, VERB_RELEASE), V_GRANTED);
}

TEST(host, what_waits_behind_a_grant_that_is_given_back_goes_along)
{
    static struct op seven, a, b, c;
    world_begin();
    begin(&a, OP_TYPE_ACQUIRE, 1);
    begin(&b, OP_TYPE_ACQUIRE, 1);
    begin(&c, OP_TYPE_ACQUIRE, 1);
    seven_falls(&seven);
    one_is_granted(&a);
    CHECK(b.named && c.named);
    hf__engine_fail(&e, &c, HF_CANCELLED, e.now_us);
    CHECK(c.finished && c.status == HF_CANCELLED);
    CHECK(!a.finished && !b.finished);
    world_end();
}

TEST(host, what_was_drawn_there_by_its_own_holder_asks_the_store_afterwards)
{
    static struct op seven, a, b, release;
    world_begin();
    begin(&a, OP_TYPE_ACQUIRE, 1);
    begin(&b, OP_TYPE_ACQUIRE, 1);
    seven_falls(&seven);
    one_is_granted(&a);
    /* The other gives it back, and nobody is at this host any more. */
    begin(&release, OP_TYPE_RELEASE, 7);
    while (there.len)
        answer(&there, 0,
               there.asked[0]->verb == VERB_PROPOSE ? V_BUSY : V_GRANTED);
    CHECK(release.finished);
    hf__engine_fail(&e, &a, HF_CANCELLED, e.now_us);
    hf__engine_flush(&e);
    for (int i = 0; i < 400 && find(&store, VERB_PROPOSE) < 0; i++) later();
    CHECK(find(&store, VERB_PROPOSE) >= 0);
    answer(&store, find(&store, VERB_PROPOSE), V_GRANTED);
    CHECK(b.finished && b.status == HF_OK);
    CHECK_INT(b.grant.guarantee, HF_GUARANTEE_STORE);
    world_end();
}

TEST(host, nodes_that_were_never_opened_are_passed_by)
{
    world_begin();
    e.conf.nodes = 3; /* as after a member that could not be opened */
    int len = 0;
    for (struct node *n = NULL; (n = hf__node_next(&e, n));) len++;
    CHECK_INT(len, 3);
    e.conf.nodes = 1;
    world_end();
}
