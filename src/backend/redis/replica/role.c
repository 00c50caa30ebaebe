/*
 * role.c: whether the server is a primary, and still the same one; and its
 * replicas.
 *
 * ROLE and INFO replication are asked on every connect.  One rule: what is
 * known to be a replica is never used, and what may be another server than
 * before, or one that has forgotten, is said to the engine.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/redis/link/link.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/role.h"

/* A replica that has gone counts for this time: one that is cut off may yet be
 * promoted. */
#define REPLICAS_KEPT_US (300 * US_PER_S)

int hf__redis_role_ask(struct link *l)
{
    hf__redis_cmd_begin(&l->c->cmd, "ROLE");
    return hf__redis_link_push(l, FLIGHT_ROLE) ? 0 : -1;
}

int hf__redis_role_greet(struct link *l)
{
    struct replication *r = &l->c->repl;
    r->is_known = r->is_id_known = 0;
    if (hf__redis_role_ask(l) != 0) return -1;
    hf__redis_cmd_begin(&l->c->cmd, "INFO");
    hf__redis_cmd_text(&l->c->cmd, "replication");
    return hf__redis_link_push(l, FLIGHT_REPLICATION) ? 0 : -1;
}

static void replicas_count(struct backend_conn *c, int64_t n)
{
    struct replication *r = &c->repl;
    int64_t now = c->env->now(c->env);
    r->is_known = 1;
    r->counted = n;
    if (n < r->replicas && now - r->most_us < REPLICAS_KEPT_US) return;
    r->replicas = n;
    r->most_us = now;
}

/* -1: the server is a replica, and the link is of no use.  0 for a connection
 * that asks replicas as well: of a cluster, a quorum or a probe. */
static int refuse_replica(struct link *l, const char *host, int64_t port)
{
    if (l->c->owner || l->c->env->conf->takes_replica) {
        l->c->repl.is_known = 1; /* it has no replicas */
        return 0;
    }
    hf__redis_link_fail(
        l, HF_UNAVAILABLE, 0,
        strchr(host, ':')
            ? "it is a replica of redis://[%.100s]:%lld, and only a "
              "primary has locks"
            : "it is a replica of redis://%.100s:%lld, and only a "
              "primary has locks",
        host, (long long)port);
    return -1;
}

int hf__redis_role_heard(struct link *l, const struct resp *v)
{
    const struct resp *word = hf__redis_resp_at(v, 0),
                      *at = hf__redis_resp_at(v, 1);
    if (!hf__redis_resp_is_array(v, 2)) return 0; /* not permitted, or old */
    if (hf__redis_resp_is_text(word, "slave") && at->type == RESP_STRING)
        return refuse_replica(l, at->text, hf__redis_resp_number_at(v, 2, 0));
    if (hf__redis_resp_is_text(word, "sentinel")) {
        hf__redis_link_fail(l, HF_INVALID, 0,
                            "it is a Sentinel: write "
                            "redis-sentinel://host:port/master-name");
        return -1;
    }
    const struct resp *list = hf__redis_resp_at(v, 2);
    if (hf__redis_resp_is_text(word, "master") && list->type == RESP_ARRAY)
        replicas_count(l->c, (int64_t)list->len);
    return 0;
}

/* "key:value" of INFO, up to the end of its line; "" if it is not there. */
static void field_copy(const char *info, const char *key, char *out,
                       size_t size)
{
    size_t key_len = strlen(key);
    out[0] = '\0';
    for (const char *at = strstr(info, key); at; at = strstr(at + 1, key)) {
        if ((at != info && at[-1] != '\n') || at[key_len] != ':') continue;
        const char *text = at + key_len + 1;
        size_t len = strcspn(text, "\r\n");
        if (len >= size) len = size - 1;
        memcpy(out, text, len);
        out[len] = '\0';
        return;
    }
}

static int64_t field_number(const char *info, const char *key)
{
    char text[32];
    int64_t number = 0;
    field_copy(info, key, text, sizeof text);
    return hf__number_parse(text, 0, INT32_MAX, &number) == 0 ? number : 0;
}

static void id_learn(struct backend_conn *c, const char *info)
{
    struct replication *r = &c->repl;
    char id[sizeof r->id];
    field_copy(info, "master_replid", id, sizeof id);
    if (!id[0]) return;
    r->is_changed = r->is_changed || (r->id[0] && strcmp(r->id, id) != 0);
    r->is_id_known = 1;
    memcpy(r->id, id, sizeof id);
}

int hf__redis_replication_heard(struct link *l, const struct resp *v)
{
    char text[128];
    if (v->type != RESP_STRING) return 0; /* not permitted */
    field_copy(v->text, "role", text, sizeof text);
    if (!strcmp(text, "slave")) {
        field_copy(v->text, "master_host", text, sizeof text);
        return refuse_replica(l, text, field_number(v->text, "master_port"));
    }
    /* INFO also counts replicas that are not in sync yet; ROLE does not. */
    if (!l->c->repl.is_known && !strcmp(text, "master"))
        replicas_count(l->c, field_number(v->text, "connected_slaves"));
    id_learn(l->c, v->text);
    return 0;
}

int hf__redis_role_up(struct backend_conn *c)
{
    struct replication *r = &c->repl;
    char line[HF_ERROR_TEXT_MAX];
    int is_first = !r->was_up, is_other = r->is_changed || r->is_moved;
    r->was_up = 1;
    r->is_changed = r->is_moved = 0;
    if (is_first) return LINK_IS_UP;
    if (is_other) {
        r->has_changed = 1;
        r->replicas = r->counted; /* it has others than the last one */
    }
    /* For a member of a quorum VERB_BOOT decides whether it votes. */
    if (is_other && !c->env->conf->takes_replica) {
        snprintf(line, sizeof line,
                 "%s: failover noticed: another primary, or a restarted one; "
                 "every lock that is held is checked now",
                 c->endpoint);
        c->env->log(c->env, HF_LOG_WARN, line);
    }
    /* Without the right to ask, every connection counts as another server. */
    return is_other || !r->is_id_known ? LINK_IS_OTHER : LINK_IS_UP;
}
