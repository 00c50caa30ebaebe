/*
 * map.c: which node serves which slot, and how that is found out.
 *
 *   no map:  seeds, one after the other, a new one every quarter of a second,
 *            until one tells the map
 *   a map:   asked again when it was wrong (MOVED), when a master cannot be
 *            reached or is silent, or the cluster is down; of any node that is
 *            up and answers, each time of another one; if there is none, of
 *            masters not used so far, and of the seeds
 *
 * One rule: no node is asked twice within REFRESH_US_MIN, however many requests
 * were redirected.
 */
#include <string.h>

#include "backend/redis/cluster/cluster.h"
#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/inner/owner.h"
#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "base/error.h"
#include "base/math.h"

/* ---- asking ---- */

static struct cluster_node *candidate(struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++) {
        int at = (c->ask_from + i) % c->nodes_len;
        struct cluster_node *n = c->nodes[at];
        if (!n || !n->is_up || hf__redis_cluster_is_silent(n)) continue;
        c->ask_from = at + 1;
        return n;
    }
    return NULL;
}

/* 0 if it could not be asked. */
static int node_ask(struct cluster *c, struct cluster_node *n)
{
    struct backend_conn *conn = n->inner.conn;
    int64_t now = cluster_now(c);
    /* The answers come in this order. */
    if (!c->has_map && c->pubsub != PUBSUB_CLASSIC
        && hf__redis_ask(conn, FLIGHT_SHARDED) != 0)
        return 0;
    if (hf__redis_ask(conn, FLIGHT_SLOTS) != 0) return 0;
    hf__redis_inner_touch(&n->inner);
    c->asking = n;
    c->asked_us = now;
    c->ask_due_us = now + ASK_US;
    c->refresh_us = TIME_NEVER;
    return 1;
}

/* Open the next seed that is not open already. */
static void seed_try(struct cluster *c)
{
    struct hf_error err = {0};
    while (c->seeds_left > 0) {
        const struct cluster_seed *s = &c->seeds[c->seed_next];
        c->seed_next = (c->seed_next + 1) % c->seeds_len;
        c->seeds_left--;
        struct cluster_node *n = hf__redis_cluster_node(c, s->host, s->port);
        if (n && n->is_open) continue;
        if (!n || hf__redis_cluster_connect(c, n, &err) != HF_OK)
            hf__error_set(&c->err, HF_NOMEM, "redis-cluster: out of memory");
        break;
    }
    c->stagger_us =
        c->seeds_left > 0 ? cluster_now(c) + STAGGER_US : TIME_NEVER;
}

void hf__redis_cluster_map_begin(struct cluster *c)
{
    for (int i = 0; i < HASH_SLOTS; i++) c->slots[i] = HASH_SLOT_NONE;
    c->seed_next = (int)(c->env->random(c->env) % (uint64_t)c->seeds_len);
    c->seeds_left = c->seeds_len;
    c->stagger_us = cluster_now(c);
}

/* No node can be asked: open one more. */
static void another_try(struct cluster *c)
{
    struct hf_error err;
    for (int i = 0; i < c->nodes_len; i++) {
        struct cluster_node *n = c->nodes[i];
        if (!n || n->is_open || n->slots == 0) continue;
        (void)hf__redis_cluster_connect(c, n,
                                        &err); /* no memory: the next time */
        return;
    }
    if (c->seeds_left > 0) return;
    c->seeds_left = c->seeds_len;
    c->stagger_us = c->asked_us;
}

static void ask(struct cluster *c)
{
    struct cluster_node *n = candidate(c);
    if (n && node_ask(c, n)) return;
    c->asked_us = cluster_now(c);
    c->refresh_us = c->asked_us + REFRESH_US_DOWN;
    if (!n) another_try(c);
}

void hf__redis_cluster_map_refresh(struct cluster *c)
{
    int64_t now = cluster_now(c);
    if (c->asking || c->is_closing) return;
    int64_t due = max64(now, c->asked_us + REFRESH_US_MIN);
    c->refresh_us = min64(c->refresh_us, due);
}

void hf__redis_cluster_map_tick(struct cluster *c)
{
    int64_t now = cluster_now(c);
    if (c->asking && now >= c->ask_due_us) {
        /* The node is slow: do not wait for its answer. */
        c->asking = NULL;
        hf__redis_cluster_map_refresh(c);
    }
    if (now >= c->stagger_us) seed_try(c);
    if (now >= c->refresh_us) ask(c);
}

/* ---- links ---- */

static int any_up(const struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++)
        if (c->nodes[i] && c->nodes[i]->is_up) return 1;
    return 0;
}

/* Of several errors keep one that may pass: any other would end the calls. */
static void reason_keep(struct cluster *c, const struct hf_error *err)
{
    int is_final = hf_status_advice(err->status) == HF_ADVICE_FIX;
    if (!is_final || c->err.status == HF_OK) c->err = *err;
}

/* 1 if a seed may still answer. */
static int is_hopeful(const struct cluster *c)
{
    if (c->asking || c->seeds_left > 0) return 1;
    for (int i = 0; i < c->nodes_len; i++)
        if (c->nodes[i] && c->nodes[i]->is_open && !c->nodes[i]->has_failed)
            return 1;
    return 0;
}

/* A seed could not be reached, or is of no use. */
static void seed_failed(struct cluster *c, const struct hf_error *err)
{
    reason_keep(c, err);
    if (c->seeds_left > 0) c->stagger_us = cluster_now(c);
    /* Ask another seed that came up meanwhile. */
    if (any_up(c)) hf__redis_cluster_map_refresh(c);
    if (is_hopeful(c)) return;
    unsigned doublings = c->failures < 3 ? c->failures : 3;
    c->refresh_us = cluster_now(c) + (REFRESH_US_DOWN << doublings);
    c->failures++;
    struct hf_error told = c->err;
    c->err.status = HF_OK;
    if (c->seeds_len > 1)
        hf__error_set(&told, told.status,
                      "redis-cluster: none of %d hosts tells which node serves "
                      "which slots; the last: %.160s",
                      c->seeds_len, c->err.text);
    c->env->link(c->env, 0, 0, &told);
    hf__redis_cluster_route_fail(c, told.status, told.text);
}

static void link_down(struct cluster *c, struct cluster_node *n,
                      const struct hf_error *err)
{
    n->is_up = 0;
    n->has_failed = 1;
    if (c->asking == n) c->asking = NULL;
    if (!c->has_map) {
        seed_failed(c, err);
        return;
    }
    hf__redis_cluster_map_refresh(c);
    if (!any_up(c)) c->env->link(c->env, 0, 0, err);
    /* A master is tried again and again; anything else only if no other
     * node can be asked. */
    if (n->slots == 0 && any_up(c)) hf__redis_cluster_drop(c, n);
}

void hf__redis_cluster_map_link(struct inner *inner, int up, int64_t node_us,
                                const struct hf_error *err)
{
    struct cluster *c = cluster_of(inner);
    struct cluster_node *n = (struct cluster_node *)inner;
    if (c->is_closing) return;
    if (!up) {
        link_down(c, n, err);
        return;
    }
    n->is_up = 1;
    n->has_failed = 0;
    hf__redis_bounds_learn(&c->bounds, n->host,
                           hf__redis_link_addr(&n->inner.conn->main));
    if (!c->has_map) {
        if (!c->asking && !node_ask(c, n)) hf__redis_cluster_map_refresh(c);
        return;
    }
    if (c->refresh_us != TIME_NEVER)
        hf__redis_cluster_map_refresh(c); /* it can be asked */
    c->env->link(c->env, up, node_us, NULL);
}

/* ---- the answer ---- */

static int is_reached(const struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++)
        if (c->nodes[i] && c->nodes[i]->slots > 0 && c->nodes[i]->has_failed)
            return 0;
    return 1;
}

/* 1 if a master was replaced: a node has lost its last slot, or one that cannot
 * be reached has lost some.  Other moves of slots are no reason to doubt the
 * locks that are held. */
static int is_replaced(const struct cluster *c)
{
    for (int i = 0; i < c->nodes_len; i++) {
        const struct cluster_node *n = c->nodes[i];
        if (n && n->slots < n->slots_before && (n->slots == 0 || n->has_failed))
            return 1;
    }
    return 0;
}

/* 0, or -1: no memory for its nodes. */
static int map_install(struct cluster *c, const struct cluster_node *from,
                       const struct hash_slot_map *map)
{
    struct cluster_node *nodes[HASH_SLOT_OWNERS_MAX];
    for (int i = 0; i < map->len; i++) {
        const char *host = map->owners[i].host;
        nodes[i] = hf__redis_cluster_node(c, *host ? host : from->host,
                                          map->owners[i].port);
        if (!nodes[i]) return -1;
    }
    for (int i = 0; i < c->nodes_len; i++)
        if (c->nodes[i]) c->nodes[i]->slots_before = c->nodes[i]->slots;
    for (int i = 0; i < HASH_SLOTS; i++) {
        uint16_t at = map->slots[i];
        hf__redis_cluster_assign(c, (uint16_t)i,
                                 at == HASH_SLOT_NONE ? NULL : nodes[at]);
    }
    return 0;
}

static void map_learnt(struct cluster *c, struct cluster_node *from)
{
    int is_first = !c->has_map;
    c->has_map = 1;
    c->err.status = HF_OK;
    c->failures = 0;
    c->seeds_left = 0;
    c->stagger_us = TIME_NEVER;
    for (int i = 0; is_first && i < c->nodes_len; i++)
        if (c->nodes[i] && c->nodes[i]->is_open)
            c->nodes[i]->inner.conn->is_sharded = c->is_sharded;
    int64_t node_us = from->inner.conn->main.node_us
                      + (cluster_now(c) - from->inner.conn->main.told_us);
    int is_other = !is_first && is_replaced(c);
    if (is_other)
        c->env->log(c->env, HF_LOG_WARN,
                    "redis-cluster: failover noticed: a master was replaced; "
                    "every lock that is held is checked now");
    hf__redis_cluster_tidy(c);
    if (!is_reached(c)) c->refresh_us = cluster_now(c) + REFRESH_US_DOWN;
    hf__redis_cluster_route_waiting(c);
    if (is_first || is_other)
        c->env->link(c->env, is_other ? LINK_IS_OTHER : LINK_IS_UP, node_us,
                     NULL);
}

/* What it said is no map. */
static void map_refused(struct cluster *c, struct cluster_node *n, int status,
                        const char *why)
{
    struct hf_error err;
    hf__error_set(&err, status, "%s: %s", n->inner.conn->endpoint, why);
    if (c->has_map) {
        hf__redis_cluster_map_refresh(c);
        return;
    }
    n->has_failed = 1;
    if (hf_status_advice(status) == HF_ADVICE_FIX) hf__redis_cluster_drop(c, n);
    seed_failed(c, &err);
}

static void slots_told(struct cluster *c, struct cluster_node *n,
                       const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    if (v->type == RESP_ERROR && strstr(v->text, "cluster support disabled")) {
        map_refused(c, n, HF_INVALID,
                    "it is not in cluster mode: use redis:// for one server");
        return;
    }
    if (v->type == RESP_ERROR) {
        int status = hf__redis_error("CLUSTER SLOTS", NULL, v, text);
        map_refused(c, n, status, text);
        return;
    }
    struct hash_slot_map *map = hf__alloc(c->env->alloc, sizeof *map);
    if (!map || hf__redis_hash_slots_read(v, map) != 0)
        map_refused(c, n, map ? HF_UNAVAILABLE : HF_NOMEM,
                    map ? "CLUSTER SLOTS: it knows of no node that serves any"
                        : "out of memory");
    else if (map_install(c, n, map) != 0)
        map_refused(c, n, HF_NOMEM, "out of memory");
    else
        map_learnt(c, n);
    hf__free(c->env->alloc, map);
}

void hf__redis_cluster_map_told(struct backend_conn *conn,
                                enum flight_kind kind, const struct resp *v)
{
    struct inner *inner = (struct inner *)conn->env;
    struct cluster *c = cluster_of(inner);
    struct cluster_node *n = (struct cluster_node *)inner;
    if (c->asking != n) return; /* too late */
    if (kind == FLIGHT_SLOTS) {
        c->asking = NULL;
        slots_told(c, n, v);
        return;
    }
    /* NOPERM: the command exists, but the user may not use it. */
    c->is_sharded = v->type != RESP_ERROR || hf__redis_error_is(v, "NOPERM");
    if (c->is_sharded || c->pubsub != PUBSUB_SHARDED) return;
    c->asking = NULL;
    map_refused(c, n, HF_UNSUPPORTED,
                "pubsub: the server has no SSUBSCRIBE: Redis 7.0 or later has");
}
