/*
 * five.c: see five.h.  One rule: what is done to one server touches no other;
 * nothing is shared between them but the machine.
 */
#include "lib/five.h"

#include <stdlib.h>

#include "lib/lab_check.h"
#include "lib/rig.h"

static const char *const durable[] = {"--appendonly", "yes", "--appendfsync",
                                      "always", NULL};

static void clock_end(void *arg)
{
    lab_clock_stop(arg);
}

static void clock_begin(struct lab_clock *c)
{
    LAB_CHECK(lab_clock_start(c, TEST_CLOCK_SHIM));
    test_cleanup(clock_end, c);
}

void five_begin(struct lab_masters *f, int len)
{
    size_t used = 0;
    CHECK(len >= 1 && len <= FIVE_MAX);
    f->len = len;
    for (int i = 0; i < len; i++) {
        struct lab_master *n = &f->nodes[i];
        clock_begin(&n->clock);
        n->redis.env = n->clock.env;
        redis_begin(&n->redis, durable);
    }
    rig_begin_at("");
    for (int i = 0; i < len; i++) {
        struct lab_master *n = &f->nodes[i];
        proxy_begin(&n->proxy, n->redis.port);
        snprintf(n->url, sizeof n->url, "redis://127.0.0.1:%d", n->proxy.port);
        used += (size_t)snprintf(f->hosts + used, sizeof f->hosts - used,
                                 "%s127.0.0.1:%d", i ? "," : "", n->proxy.port);
    }
}

static struct lab_master *node_of(struct lab_masters *f, int node)
{
    CHECK(node >= 0 && node < f->len);
    return &f->nodes[node];
}

void five_kill(struct lab_masters *f, int node)
{
    redis_shutdown(&node_of(f, node)->redis, 0);
}

void five_restart(struct lab_masters *f, int node)
{
    redis_start(&node_of(f, node)->redis);
}

void five_restart_empty(struct lab_masters *f, int node)
{
    redis_forget(&node_of(f, node)->redis);
    redis_start(&node_of(f, node)->redis);
}

void five_stop(struct lab_masters *f, int node)
{
    redis_pause(&node_of(f, node)->redis);
}

void five_cont(struct lab_masters *f, int node)
{
    redis_resume(&node_of(f, node)->redis);
}

void five_delay(struct lab_masters *f, int node, long ms)
{
    proxy_delay(&node_of(f, node)->proxy, PROXY_UP, ms);
    proxy_delay(&node_of(f, node)->proxy, PROXY_DOWN, ms);
}

void five_sever(struct lab_masters *f, int node, int is_severed)
{
    proxy_sever(&node_of(f, node)->proxy, is_severed);
}

void five_jump(struct lab_masters *f, int node, int64_t ms)
{
    lab_clock_jump(&node_of(f, node)->clock, ms);
}

int64_t five_time_ms(struct lab_masters *f, int node)
{
    char *us;
    const char *reply = redis_say(&node_of(f, node)->redis, "TIME");
    int64_t s = strtoll(reply, &us, 10);
    if (us == reply) TEST_FAIL("TIME: %s", reply);
    return s * 1000 + strtoll(us, NULL, 10) / 1000;
}
