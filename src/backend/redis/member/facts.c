/*
 * facts.c: what a server says of itself, for hf_probe_open().
 *
 * INFO, some settings, the marker of a quorum's member and the time go out
 * together; of INFO only the lines are kept that are asked for below.  One
 * rule: what may not be asked is told as not known, and is no failure.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/link/error.h"
#include "backend/redis/member/alone.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/member/facts.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/wait.h"
#include "base/error.h"

#define FACTS_SIZE 2048 /* bytes of all lines */

static const char *const info_names[] = {"redis_version",
                                         "valkey_version",
                                         "redis_mode",
                                         "server_mode",
                                         "uptime_in_seconds",
                                         "role",
                                         "master_host",
                                         "master_port",
                                         "connected_slaves",
                                         "maxmemory",
                                         "min_slaves_good_slaves",
                                         "used_memory",
                                         "maxmemory_policy",
                                         "evicted_keys",
                                         "aof_enabled",
                                         "aof_last_write_status"};
static const char *const settings[] = {
    "appendfsync", "no-appendfsync-on-rewrite", "save", "min-replicas-to-write",
    "min-replicas-max-lag"};

/* ---- asking ---- */

static int push_asked(struct backend_conn *c, enum flight_kind kind,
                      struct request *req)
{
    struct flight *f = hf__redis_link_push(&c->main, kind);
    if (f) f->reqs = req;
    return f ? 0 : -1;
}

/* Ask for the marker, unless the URL says member=ok or the server is part of a
 * cluster, which cannot be a member. */
static int push_marker(struct backend_conn *c)
{
    if (c->member_is_meant || c->owner) return 0;
    hf__redis_cmd_begin(&c->cmd, "GET");
    hf__redis_cmd_text(&c->cmd, BOOT_KEY);
    return push_asked(c, FLIGHT_MARKER, NULL);
}

static int push_all(struct backend_conn *c)
{
    hf__redis_cmd_begin(&c->cmd, "INFO");
    if (push_asked(c, FLIGHT_FACTS, NULL) != 0) return -1;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        hf__redis_cmd_begin(&c->cmd, "CONFIG");
        hf__redis_cmd_text(&c->cmd, "GET");
        hf__redis_cmd_text(&c->cmd, settings[i]);
        if (push_asked(c, FLIGHT_SETTING, NULL) != 0) return -1;
    }
    return push_marker(c);
}

static void facts_starve(struct backend_conn *c, struct request *req)
{
    struct hf_error err;
    hf__error_set(&err, HF_NOMEM, "%s: out of memory", c->endpoint);
    hf__redis_answer_all(c, req, V_ERROR, HF_NOMEM, err.text);
}

void hf__redis_facts_begin(struct backend_conn *c, struct request *req)
{
    if (!c->facts.data) {
        c->facts.data = hf__alloc(c->env->alloc, FACTS_SIZE);
        c->facts.size = c->facts.data ? FACTS_SIZE : 0;
    }
    int is_sent = c->facts.data != NULL;
    if (is_sent && !(req->flags & REQ_BRIEF)) is_sent = push_all(c) == 0;
    if (is_sent) {
        hf__redis_cmd_begin(&c->cmd, "TIME");
        is_sent = push_asked(c, FLIGHT_FACTS, req) == 0;
    }
    if (!is_sent) facts_starve(c, req);
}

/* ---- answers ---- */

/* "name:value\n", or nothing if it does not fit. */
static void fact_add(struct bytes *b, const char *name, const char *value,
                     size_t value_len)
{
    size_t name_len = strlen(name), len = name_len + value_len + 2;
    if (b->size - b->len < len) return;
    char *at = b->data + b->len;
    memcpy(at, name, name_len);
    at[name_len] = ':';
    memcpy(at + name_len + 1, value, value_len);
    at[len - 1] = '\n';
    for (char *p = at + name_len + 1; p < at + len - 1; p++)
        if ((unsigned char)*p < ' ') *p = ' ';
    b->len += len;
}

static void info_line(struct bytes *b, const char *line, size_t len)
{
    size_t name_len = 0;
    while (name_len < len && line[name_len] != ':') name_len++;
    if (name_len == len) return;
    for (size_t i = 0; i < sizeof info_names / sizeof *info_names; i++)
        if (strlen(info_names[i]) == name_len
            && !memcmp(info_names[i], line, name_len))
            fact_add(b, info_names[i], line + name_len + 1, len - name_len - 1);
}

/* Facts of the connection: which server it is, and how its grants count. */
static void own_add(struct backend_conn *c)
{
    char wait[32];
    const char *text = hf__redis_wait_text(c, wait, sizeof wait);
    fact_add(&c->facts, "endpoint", c->endpoint, strlen(c->endpoint));
    if (*text) fact_add(&c->facts, "wait", text, strlen(text));
    if (c->wait_renews) fact_add(&c->facts, "wait_renew", "on", 2);
}

/* INFO is the first answer: forget what is left of an earlier request. */
static void info_take(struct backend_conn *c, const struct resp *v)
{
    c->facts.len = 0;
    own_add(c);
    if (v->type == RESP_ERROR) fact_add(&c->facts, "info", "denied", 6);
    if (v->type != RESP_STRING) return;
    const char *end = v->text + v->len;
    for (const char *line = v->text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line);
        info_line(&c->facts, line,
                  len > 0 && line[len - 1] == '\r' ? len - 1 : len);
        line += len + 1;
    }
}

/* CONFIG GET is permitted for all settings or for none: tell it once. */
static void denied_add(struct bytes *b)
{
    static const char line[] = "config:denied\n";
    size_t len = sizeof line - 1;
    int is_there = b->len >= len && !memcmp(b->data + b->len - len, line, len);
    if (!is_there) fact_add(b, "config", "denied", 6);
}

static void setting_take(struct backend_conn *c, const struct resp *v)
{
    const struct resp *key = hf__redis_resp_at(v, 0),
                      *at = hf__redis_resp_at(v, 1);
    if (v->type == RESP_ERROR) denied_add(&c->facts);
    if (v->type != RESP_ARRAY || !key || !at || key->type != RESP_STRING
        || at->type != RESP_STRING)
        return;
    fact_add(&c->facts, key->text, at->text, at->len);
}

static void marker_take(struct backend_conn *c, const struct resp *v)
{
    char text[16];
    int members = hf__redis_member_count(v);
    if (members == 0) return;
    snprintf(text, sizeof text, "%d", members);
    fact_add(&c->facts, "quorum_of", text, strlen(text));
}

static void time_take(struct backend_conn *c, struct request *req,
                      const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hf_error err;
    struct reply reply = {.verdict = V_GRANTED, .ttl_us = -1, .waiters = -1};
    if (v->type == RESP_ERROR) {
        int status = hf__redis_error("facts", NULL, v, text);
        hf__error_set(&err, status, "%s: %s", c->endpoint, text);
        hf__redis_answer_all(c, req, V_ERROR, status, err.text);
        return;
    }
    int64_t s = hf__redis_resp_number_at(v, 0, -1);
    int64_t us = hf__redis_resp_number_at(v, 1, -1);
    if (s < 1 || s >= BALLOT_MAX / US_PER_S || us < 0 || us >= US_PER_S) {
        hf__redis_strange(c, req);
        return;
    }
    reply.node_us = s * US_PER_S + us;
    if (!(req->flags & REQ_BRIEF)) {
        reply.data = c->facts.data;
        reply.data_len = c->facts.len;
    }
    hf__redis_answer(c, req, &reply);
}

void hf__redis_facts_reply(struct backend_conn *c, const struct flight *f,
                           const struct resp *v)
{
    if (f->kind == FLIGHT_SETTING)
        setting_take(c, v);
    else if (f->kind == FLIGHT_MARKER)
        marker_take(c, v);
    else if (f->reqs)
        time_take(c, f->reqs, v);
    else
        info_take(c, v);
}
