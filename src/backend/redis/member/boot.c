/*
 * boot.c: a server as a member of a quorum.
 *
 * Three questions, one after the other: how often it syncs its log (a script
 * may not ask that), whether locks are stored there (for an operator only), and
 * boot.lua, which decides.  One rule: what may not be asked counts as no.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/kind/answer.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/link/error.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"
#include "base/boot.h"
#include "base/error.h"

#define SCAN_COUNT "1000" /* keys looked at by one command */

/* What is known of the server so far, in request.priv. */
#define KNOWN_SYNCS 1u
#define KNOWN_LOCKS 2u
#define UNKNOWN_SYNCS 4u /* it may not be asked */

/* ---- asking ---- */

static int push_config(struct backend_conn *c, const char *key,
                       struct request *req)
{
    hf__redis_cmd_begin(&c->cmd, "CONFIG");
    hf__redis_cmd_text(&c->cmd, "GET");
    hf__redis_cmd_text(&c->cmd, key);
    struct flight *f = hf__redis_link_push(&c->main, FLIGHT_CONFIG);
    if (f) f->reqs = req;
    return f ? 0 : -1;
}

static void starved(struct backend_conn *c, struct request *req)
{
    snprintf(c->text, sizeof c->text, "%s: out of memory", c->endpoint);
    hf__redis_answer_all(c, req, V_ERROR, HF_NOMEM, c->text);
}

void hf__redis_boot_begin(struct backend_conn *c, struct request *req)
{
    req->priv = 0;
    req->cursor = 0;
    if (push_config(c, "appendfsync", NULL) != 0
        || push_config(c, "no-appendfsync-on-rewrite", req) != 0)
        starved(c, req);
}

static void scan_next(struct backend_conn *c, struct request *req)
{
    struct command *cmd = &c->cmd;
    cmd->script = &hf__redis_script_list;
    cmd->sent_as = FLIGHT_EVAL;
    hf__redis_cmd_script(cmd, 0);
    hf__redis_cmd_printf(cmd, "%llu", (unsigned long long)req->cursor);
    hf__redis_cmd_text(cmd, "*");
    hf__redis_cmd_text(cmd, SCAN_COUNT);
    struct flight *f = hf__redis_link_push(&c->main, FLIGHT_SCAN);
    if (f)
        f->reqs = req;
    else
        starved(c, req);
}

/* "CONFIG GET key": {key, value}. */
static int config_is(const struct resp *v, const char *word)
{
    return hf__redis_resp_is_array(v, 2)
           && hf__redis_resp_is_text(hf__redis_resp_at(v, 1), word);
}

static void config_answer(struct backend_conn *c, struct request *req,
                          const struct resp *v)
{
    if (!req) {
        c->syncs_always = config_is(v, "always");
        return;
    }
    if (c->syncs_always && config_is(v, "no")) req->priv |= KNOWN_SYNCS;
    if (v->type == RESP_ERROR) req->priv |= UNKNOWN_SYNCS;
    if (hf__boot_wants_locks(req))
        scan_next(c, req);
    else
        hf__redis_send(c, FLIGHT_EVAL, req);
}

/* 1 if the server is in cluster mode: its slots are with other nodes, or not
 * assigned yet. */
int hf__redis_boot_is_sliced(const struct resp *v)
{
    return hf__redis_error_is(v, "CLUSTERDOWN")
           || hf__redis_error_is(v, "MOVED");
}

static void scan_error(struct backend_conn *c, struct request *req,
                       const struct resp *v)
{
    char text[HF_ERROR_TEXT_MAX];
    struct hf_error err;
    int status = hf__redis_error("boot", NULL, v, text);
    hf__error_set(&err, status, "%s: %s", c->endpoint, text);
    hf__redis_answer_all(c, req, V_ERROR, status, err.text);
}

void hf__redis_boot_step(struct backend_conn *c, const struct flight *f,
                         const struct resp *v)
{
    struct request *req = f->reqs;
    if (f->kind == FLIGHT_CONFIG) {
        config_answer(c, req, v);
    } else if (v->type == RESP_ERROR) {
        scan_error(c, req, v);
    } else if (!hf__redis_resp_is_array(v, 2)) {
        hf__redis_strange(c, req);
    } else {
        int64_t cursor = hf__redis_resp_within(hf__redis_resp_at(v, 0),
                                               INT64_MIN, INT64_MAX, 0);
        req->cursor = (uint64_t)cursor;
        if (v->len > 2) req->priv |= KNOWN_LOCKS;
        if (v->len == 2 && cursor != 0)
            scan_next(c, req);
        else
            hf__redis_send(c, FLIGHT_EVAL, req);
    }
}

/* ---- deciding ---- */

static void put_letters(struct command *cmd, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *letter;
    } words[] = {{REQ_BOOT_NEW, "n"},   {REQ_BOOT_JOIN, "j"},
                 {REQ_BOOT_STEP, "s"},  {REQ_BOOT_DURABLE, "d"},
                 {REQ_BOOT_LOOK, "l"},  {REQ_BOOT_FORCE, "f"},
                 {REQ_BOOT_UNSURE, "u"}};
    hf__redis_cmd_part_begin(cmd);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (flags & words[i].flag)
            hf__redis_cmd_part_text(cmd, words[i].letter);
    hf__redis_cmd_part_end(cmd);
}

static void build(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 1);
    hf__redis_cmd_text(cmd, BOOT_KEY);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_number(cmd, req->window_us);
    hf__redis_cmd_number(cmd, QUARANTINE_US_MIN);
    put_letters(cmd, req->flags);
    hf__redis_cmd_text(cmd, req->info ? req->info : "");
    hf__redis_cmd_text(cmd, req->priv & KNOWN_SYNCS     ? "1"
                            : req->priv & UNKNOWN_SYNCS ? "-"
                                                        : "0");
    hf__redis_cmd_text(cmd, req->priv & KNOWN_LOCKS ? "1" : "0");
}

/* ---- reading ---- */

static void text_at(const struct resp *v, size_t i, char *out, size_t size)
{
    const struct resp *at = hf__redis_resp_at(v, i);
    int is_text = at && at->type == RESP_STRING;
    snprintf(out, size, "%s", is_text ? at->text : "");
}

/* "7.0.15" is 70015. */
static int64_t version_read(const struct resp *v)
{
    char text[32];
    int64_t parts[3] = {0}, number = 0;
    size_t part = 0;
    text_at(v, 5, text, sizeof text);
    for (const char *p = text; *p && part < 3; p++) {
        if (*p == '.')
            part++;
        else if (*p >= '0' && *p <= '9' && parts[part] < 1000)
            parts[part] = parts[part] * 10 + (*p - '0');
        else
            break;
    }
    for (part = 0; part < 3; part++) number = number * 100 + parts[part];
    return number;
}

static void log_eviction(struct backend_conn *c)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%s: the server may evict locks when its memory is full: set "
             "maxmemory-policy to noeviction",
             c->endpoint);
    if (c->env->log) c->env->log(c->env, HF_LOG_WARN, line);
}

static void log_blind(struct backend_conn *c)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "%s: INFO is not permitted, so every connect counts as a restart "
             "of the server, after which it does not vote for a while",
             c->endpoint);
    if (c->env->log) c->env->log(c->env, HF_LOG_WARN, line);
}

/* Why it was refused; NULL if it was not. */
static const char *refusal(int64_t code, int *status)
{
    *status = HF_CONFLICT;
    switch (code) {
    case 0:
        return "it is a member of another quorum";
    case -1:
        return "it is a member of a quorum already";
    case -2:
        return "locks are stored there";
    case -5:
        return BOOT_KEY " is no boot marker: delete it to begin anew";
    default:
        break;
    }
    *status = HF_INVALID;
    if (code == -3) return "it is a replica, and only a primary can vote";
    return code == -4 ? BOOT_OF_CLUSTER : NULL;
}

static int boot_read(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    int status;
    if (!hf__redis_resp_is_array(v, 10)) return -1;
    int64_t code = hf__redis_resp_number(v->first, INT64_MIN);
    const char *why = refusal(code, &status);
    reply->node_us = hf__redis_resp_number_at(v, 1, -1);
    if (why) {
        snprintf(c->text, sizeof c->text, "%s: boot: %s", c->endpoint, why);
        reply->status = status;
        reply->text = c->text;
        return 0;
    }
    if (code != 1) return -1;
    struct boot *b = &c->boot;
    *b = (struct boot){.left_us = hf__redis_resp_number_at(v, 2, -1),
                       .lease_us =
                           hf__redis_resp_number_at(v, 3, -1) * US_PER_MS,
                       .is_new = hf__redis_resp_number_at(v, 7, 0) == 1,
                       .is_durable = hf__redis_resp_number_at(v, 8, 0) == 1,
                       .has_locks = (req->priv & KNOWN_LOCKS) != 0,
                       .version = version_read(v)};
    text_at(v, 4, b->identity, sizeof b->identity);
    text_at(v, 6, b->group, sizeof b->group);
    b->is_known = b->identity[0] != '\0';
    if (hf__redis_resp_number_at(v, 9, 0) == 1) log_eviction(c);
    if (!b->is_known) log_blind(c);
    reply->verdict = V_GRANTED;
    reply->boot = b;
    return 0;
}

REDIS_CALL(boot, build, boot_read, 0);
