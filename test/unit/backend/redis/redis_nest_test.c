/*
 * redis_nest_test.c: connections inside a connection, with an inner backend
 * that does what it is told.  One rule: time and descriptors are arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/redis/inner/inner.h"
#include "test.h"

/* ---- an inner backend ---- */

struct backend_conn {
    struct backend_env *env;
    struct request *held; /* submitted, unanswered */
    int flushes, processed_fd, processed;
    int in_process;
};

static int closed_badly;

static int toy_open(struct backend_env *env, const struct url *url,
                    struct backend_conn **out, struct hf_error *err)
{
    if (url) {
        err->status = HF_INVALID;
        return HF_INVALID;
    }
    struct backend_conn *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->env = env;
    *out = c;
    return HF_OK;
}

static void toy_submit(struct backend_conn *c, struct request *req)
{
    c->held = req;
}

static void toy_answer(struct backend_conn *c, enum verdict v)
{
    struct reply reply = {.verdict = v};
    struct request *req = c->held;
    c->held = NULL;
    if (req) c->env->reply(c->env, req, &reply);
}

static void toy_flush(struct backend_conn *c)
{
    c->flushes++;
}

static int toy_process(struct backend_conn *c, int fd, unsigned ready)
{
    (void)ready;
    c->in_process = 1;
    c->processed++;
    c->processed_fd = fd;
    toy_answer(c, V_GRANTED);
    c->in_process = 0;
    return 1;
}

static void toy_close(struct backend_conn *c)
{
    if (c->in_process) closed_badly = 1;
    toy_answer(c, V_UNSENT);
    free(c);
}

static const struct backend toy = {.abi = BACKEND_ABI,
                                   .open = toy_open,
                                   .submit = toy_submit,
                                   .flush = toy_flush,
                                   .process = toy_process,
                                   .close = toy_close};

/* ---- the engine, and the owner ---- */

static struct rig {
    struct backend_env env; /* first */
    struct inner_set inners;
    struct inner a, b;
    int64_t now_us, timer_us;
    int watched_fd;
    unsigned watched;
    int timers, drops, wakes, links;
    enum verdict verdict; /* of the last reply */
    struct inner *drop_on_reply, *resubmit_to;
} r;

static void env_watch(struct backend_env *env, int fd, unsigned events)
{
    (void)env;
    r.watched_fd = fd;
    r.watched = events;
}

static void env_timer(struct backend_env *env, int64_t due_us)
{
    (void)env;
    r.timer_us = due_us;
}

static int64_t env_now(struct backend_env *env)
{
    (void)env;
    return r.now_us;
}

static void on_reply(struct inner *n, struct request *req,
                     const struct reply *reply)
{
    struct inner *to = r.resubmit_to;
    (void)n;
    r.verdict = reply->verdict;
    if (r.drop_on_reply) hf__redis_inner_drop(r.drop_on_reply);
    r.drop_on_reply = r.resubmit_to = NULL;
    if (to) hf__redis_inner_submit(to, req);
}

static void on_link(struct inner *n, int up, int64_t node_us,
                    const struct hf_error *err)
{
    (void)n, (void)up, (void)node_us, (void)err;
    r.links++;
}

static void on_wake(struct inner *n, const char *name, size_t name_len)
{
    (void)n, (void)name, (void)name_len;
    r.wakes++;
}

static void on_timer(struct inner_set *inners)
{
    (void)inners;
    r.timers++;
}

static void on_dropped(struct inner *n)
{
    (void)n;
    r.drops++;
}

static const struct inner_hooks hooks = {on_reply, on_link, on_wake, on_timer,
                                         on_dropped};

static void rig_end(void *arg)
{
    (void)arg;
    hf__redis_inner_close(&r.inners);
}

static void rig_begin(void)
{
    struct hf_error err;
    memset(&r, 0, sizeof r);
    r.timer_us = TIME_NEVER;
    r.now_us = 1000;
    r.env = (struct backend_env){
        .await_fd = env_watch, .timer = env_timer, .now = env_now};
    closed_badly = 0;
    hf__redis_inner_init(&r.inners, &r.env, &hooks);
    test_cleanup(rig_end, NULL);
    CHECK_INT(hf__redis_inner_open(&r.inners, &r.a, &toy, NULL, NULL, &err),
              HF_OK);
    CHECK_INT(hf__redis_inner_open(&r.inners, &r.b, &toy, NULL, NULL, &err),
              HF_OK);
}

static void inner_timer(struct inner *n, int64_t due_us)
{
    n->env.timer(&n->env, due_us);
}

TEST(redis_nest, the_earliest_of_all_timers_is_the_one_that_is_set)
{
    rig_begin();
    inner_timer(&r.a, 5000);
    inner_timer(&r.b, 3000);
    hf__redis_inner_timer(&r.inners, 4000);
    CHECK_INT(r.timer_us, 3000);
    inner_timer(&r.b, TIME_NEVER);
    CHECK_INT(r.timer_us, 4000);
}

TEST(redis_nest, a_timer_runs_only_those_that_are_due)
{
    rig_begin();
    inner_timer(&r.a, 5000);
    inner_timer(&r.b, 3000);
    hf__redis_inner_timer(&r.inners, 3500);
    r.now_us = 4000;
    CHECK(hf__redis_inner_process(&r.inners, -1, 0));
    CHECK_INT(r.a.conn->processed, 0);
    CHECK_INT(r.b.conn->processed, 1);
    CHECK_INT(r.timers, 1);
    CHECK_INT(r.timer_us, 5000);
}

TEST(redis_nest, a_descriptor_leads_to_the_one_that_watches_it)
{
    rig_begin();
    r.a.env.await_fd(&r.a.env, 7, AWAIT_READ);
    r.b.env.await_fd(&r.b.env, 8, AWAIT_READ);
    CHECK_INT(r.watched_fd, 8);
    CHECK(hf__redis_inner_process(&r.inners, 7, AWAIT_READ));
    CHECK_INT(r.a.conn->processed_fd, 7);
    CHECK_INT(r.b.conn->processed, 0);
}

TEST(redis_nest, a_descriptor_that_nobody_watches_is_a_false_alarm)
{
    rig_begin();
    r.a.env.await_fd(&r.a.env, 7, AWAIT_READ);
    r.a.env.await_fd(&r.a.env, 7, 0);
    CHECK(!hf__redis_inner_process(&r.inners, 7, AWAIT_READ));
    CHECK_INT(r.a.conn->processed, 0);
}

TEST(redis_nest, only_what_was_submitted_to_is_flushed)
{
    struct request req = {.verb = VERB_RENEW};
    rig_begin();
    hf__redis_inner_submit(&r.b, &req);
    hf__redis_inner_flush(&r.inners);
    CHECK_INT(r.a.conn->flushes, 0);
    CHECK_INT(r.b.conn->flushes, 1);
}

TEST(redis_nest, what_was_touched_is_flushed_though_nothing_was_submitted)
{
    rig_begin();
    hf__redis_inner_touch(&r.a);
    hf__redis_inner_flush(&r.inners);
    CHECK_INT(r.a.conn->flushes, 1);
    CHECK_INT(r.b.conn->flushes, 0);
}

TEST(redis_nest, what_a_reply_sends_elsewhere_goes_out_in_the_same_call)
{
    struct request req = {.verb = VERB_RENEW};
    rig_begin();
    r.a.env.await_fd(&r.a.env, 7, AWAIT_READ);
    hf__redis_inner_submit(&r.a, &req);
    r.resubmit_to = &r.b;
    CHECK(hf__redis_inner_process(&r.inners, 7, AWAIT_READ));
    CHECK(r.b.conn->held == &req);
    CHECK_INT(r.b.conn->flushes, 1);
}

TEST(redis_nest, one_that_is_dropped_by_its_own_reply_is_closed_behind_it)
{
    struct request req = {.verb = VERB_RENEW};
    rig_begin();
    r.a.env.await_fd(&r.a.env, 7, AWAIT_READ);
    inner_timer(&r.a, 2000);
    hf__redis_inner_submit(&r.a, &req);
    r.drop_on_reply = &r.a;
    CHECK(hf__redis_inner_process(&r.inners, 7, AWAIT_READ));
    CHECK_INT(r.drops, 1);
    CHECK(!closed_badly);
    CHECK(r.inners.first == &r.b && !r.b.next);
    CHECK_INT(r.timer_us, TIME_NEVER);
}

TEST(redis_nest, what_was_open_on_a_dropped_one_may_be_sent_elsewhere)
{
    struct request req = {.verb = VERB_RENEW};
    rig_begin();
    hf__redis_inner_submit(&r.a, &req);
    hf__redis_inner_flush(&r.inners);
    r.resubmit_to = &r.b;
    hf__redis_inner_drop(&r.a);
    hf__redis_inner_flush(&r.inners);
    CHECK_INT(r.verdict, V_UNSENT);
    CHECK(r.b.conn->held == &req);
    CHECK_INT(r.b.conn->flushes, 1);
}

TEST(redis_nest, a_dropped_one_tells_nothing_more)
{
    rig_begin();
    hf__redis_inner_drop(&r.a);
    r.a.env.wake(&r.a.env, "x", 1);
    r.a.env.link(&r.a.env, 1, 0, NULL);
    r.b.env.wake(&r.b.env, "x", 1);
    r.b.env.link(&r.b.env, 1, 0, NULL);
    CHECK_INT(r.wakes, 1);
    CHECK_INT(r.links, 1);
}

TEST(redis_nest, one_that_cannot_be_opened_is_not_in_the_nest)
{
    static const struct url url;
    struct hf_error err = {0};
    struct inner third;
    rig_begin();
    CHECK_INT(hf__redis_inner_open(&r.inners, &third, &toy, NULL, &url, &err),
              HF_INVALID);
    CHECK(r.inners.first == &r.b);
}
