/*
 * lull_test.c: answers that nobody waits for, of the nodes of a quorum.  One
 * rule: the engine has no thread woken for them, but they are not forgotten.
 */
#include <string.h>

#include "engine/engine.h"
#include "test.h"

#define NODES 3

static struct engine e;

static void conn_submit(struct backend_conn *c, struct request *req)
{
    (void)c;
    (void)req;
}

static int conn_open(struct backend_env *env, const struct url *url,
                     struct backend_conn **out, struct hf_error *err)
{
    (void)env;
    (void)url;
    (void)err;
    *out = NULL;
    return HF_OK;
}

static const struct backend silent = {.open = conn_open, .submit = conn_submit};

static void begin(int nodes)
{
    struct url url = {.scheme = "silent"};
    struct hf_error err;
    memset(&e, 0, sizeof e);
    e.alloc = &hf__alloc_default;
    e.conf.nodes = nodes;
    e.conf.quorum = nodes / 2 + 1;
    e.pending_us = TIME_NEVER;
    e.now_us = 5 * US_PER_S;
    for (int i = 0; i < nodes; i++) {
        CHECK_INT(hf__node_open(&e, &e.nodes[i], i, &silent, &url, &err),
                  HF_OK);
        e.nodes[i].up = 1;
    }
}

static struct request sent(enum verb op)
{
    struct request r = {.verb = op, .user_kind = USER_NODE};
    hf__request_send(&e, &e.nodes[0], &r);
    return r;
}

TEST(lull, nobody_polls_for_votes_that_nobody_waits_for)
{
    begin(NODES);
    sent(VERB_PROPOSE);
    sent(VERB_RELEASE);
    CHECK(!hf__engine_wants_poll(&e));
}

TEST(lull, they_are_read_in_the_end)
{
    begin(NODES);
    sent(VERB_RELEASE);
    CHECK_INT(hf__engine_next_us(&e), e.now_us + LULL_US);
    e.now_us += LULL_US;
    CHECK(hf__engine_wants_poll(&e));
}

TEST(lull, the_answer_to_a_renewal_is_polled_for)
{
    begin(NODES);
    sent(VERB_RELEASE);
    sent(VERB_RENEW);
    CHECK(hf__engine_wants_poll(&e));
}

TEST(lull, it_comes_back_when_the_pressing_one_is_answered)
{
    struct reply rep = {.verdict = V_UNKNOWN};
    begin(NODES);
    e.closing = 1;
    sent(VERB_RELEASE);
    struct request boot = sent(VERB_BOOT);
    CHECK(hf__engine_wants_poll(&e));
    struct node *n = &e.nodes[0];
    n->env.reply(&n->env, &boot, &rep);
    e.spare = NULL; /* it is not the allocator's */
    CHECK(!hf__engine_wants_poll(&e));
}

TEST(lull, of_one_server_every_answer_is_polled_for)
{
    begin(1);
    sent(VERB_RELEASE);
    CHECK(hf__engine_wants_poll(&e));
}
