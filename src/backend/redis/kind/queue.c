/*
 * queue.c: locks that are handed to the longest waiter: requests that queue,
 * and requests that meet a queue.  One rule: a lock without a queue costs only
 * the look whether there is one.
 *
 *   proposed to queue, and released by a queued owner   queue_*.lua
 *   proposed, it is free, and others queue    acquire.lua says so: again
 *   released, and there is a queue            release.lua says so: again
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/plain.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/link/error.h"
#include "backend/redis/redis.h"
#include "base/url.h"

/* What acquire.lua and release.lua say. */
#define OTHERS_QUEUE (-6)
#define THERE_IS_A_QUEUE (-4)

static const char *const who_prefixes[2] = {"holdfast_queue_who",
                                            "holdfast_queue_who_tagged"};

void hf__redis_queue_put_records(struct command *cmd, const struct request *req)
{
    hf__redis_put_queue_key(cmd, who_prefixes, req);
}

void hf__redis_queue_put_keys(struct command *cmd, const struct request *req)
{
    hf__redis_put_queue_key(cmd, hf__redis_queue_prefixes, req);
    hf__redis_put_queue_key(cmd, who_prefixes, req);
}

void hf__redis_queue_put_channel(struct backend_conn *c,
                                 const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_key(cmd, hf__redis_channel_prefix, req->name, req->name_len);
    hf__redis_cmd_more(cmd, ":");
    hf__redis_cmd_more(cmd, c->env->conf->uuid ? c->env->conf->uuid : "");
}

static void put_letters(const struct backend_conn *c, struct command *cmd,
                        const struct request *req)
{
    hf__redis_cmd_part_begin(cmd);
    if (c->is_sharded)
        hf__redis_cmd_part_text(cmd, hf__redis_sharded_letters(c));
    if (req->flags & REQ_HUSHED) hf__redis_cmd_part_text(cmd, "h");
    if (req->flags & REQ_QUEUE)
        hf__redis_cmd_part_text(cmd, req->verb == VERB_RELEASE ? "l" : "q");
    if (req->flags & REQ_UNSURE) hf__redis_cmd_part_text(cmd, "u");
    hf__redis_cmd_part_end(cmd);
}

static void put_proposal(struct command *cmd, const struct request *req)
{
    const char *info = req->info ? req->info : "0 - -";
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, req->owner);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, req->ballot);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_end(cmd);
    hf__redis_cmd_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_printf(cmd, "%s%s", req->flags & REQ_DETACHED ? "-" : "",
                         info);
    hf__redis_cmd_number(cmd, req->window_us);
    if (req->block > 0) hf__redis_cmd_number(cmd, req->block);
}

static void build(struct backend_conn *c, const struct request *req)
{
    static const char *const gone[2] = {"holdfast_queue_gone",
                                        "holdfast_queue_gone_tagged"};
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 5);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    hf__redis_put_queue_key(cmd, hf__redis_queue_prefixes, req);
    hf__redis_put_queue_key(cmd, gone, req);
    hf__redis_put_queue_key(cmd, who_prefixes, req);
    hf__redis_put_mark(cmd, req, 1);
    hf__redis_cmd_key(cmd, hf__redis_channel_prefix, req->name, req->name_len);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_cmd_number(cmd, req->ballot);
    put_letters(c, cmd, req);
    if (req->verb == VERB_PROPOSE) put_proposal(cmd, req);
}

REDIS_CALL(queue_acquire, build, hf__redis_acquire_read, 0);
REDIS_CALL(queue_release, build, hf__redis_release_read, 0);

/* ---- again ---- */

static int is_look(const struct request *req)
{
    return req->verb == VERB_INSPECT
           || (req->verb == VERB_PROPOSE && !(req->flags & REQ_QUEUE));
}

int hf__redis_queue_again(struct backend_conn *c, struct request *req,
                          const struct resp *v)
{
    int64_t code = req->verb == VERB_RELEASE ? hf__redis_resp_number(v, 0) : 0;
    if (req->verb == VERB_PROPOSE && hf__redis_resp_is_array(v, 4))
        code = hf__redis_resp_number(v->first, 0);
    /* Without the queue's keys it was served, so the user lacks them. */
    if (req->priv & PRIV_PAST_QUEUE && is_look(req)) c->queue_is_denied = 1;
    if (req->priv & PRIV_QUEUE || req->flags & REQ_QUEUE) return 0;
    if (req->verb == VERB_RELEASE ? code != THERE_IS_A_QUEUE
                                  : code != OTHERS_QUEUE)
        return 0;
    req->priv |= PRIV_QUEUE;
    hf__redis_send(c, FLIGHT_REQUEST, req);
    return 1;
}

/* A user that may only use the keys of the lock itself cannot queue and cannot
 * see a queue.  Its releases ignore the queue: the waiters are told that the
 * lock is free. */
int hf__redis_queue_is_denied(struct backend_conn *c, struct request *req,
                              const struct resp *v)
{
    int is_late = req->verb == VERB_RELEASE && req->priv & PRIV_QUEUE;
    if (!hf__redis_error_is(v, "NOPERM")) return 0;
    if (!is_late && !(is_look(req) && hf__redis_queue_has_key(c, req)))
        return 0;
    req->priv = (req->priv & ~PRIV_QUEUE) | PRIV_PAST_QUEUE;
    hf__redis_send(c, FLIGHT_REQUEST, req);
    return 1;
}

/* ---- what is handed over ---- */

/* "<owner> <attempt> <T> <fence> <lease ms>" */
static int message_read(char *text, struct handoff *h)
{
    char *rest = NULL, *word = strchr(text, ' ');
    int64_t numbers[4];
    if (!word || word == text) return -1;
    *word++ = '\0';
    for (int i = 0; i < 4; i++) {
        rest = strchr(word, ' ');
        if ((i < 3) != (rest != NULL)) return -1;
        if (rest) *rest++ = '\0';
        /* An attempt may be a hash (base/ticket.h). */
        int64_t most = i == 0 ? INT64_MAX : BALLOT_MAX;
        if (hf__number_parse(word, 0, most, &numbers[i]) != 0) return -1;
        word = rest;
    }
    h->owner = text;
    h->attempt = (uint64_t)numbers[0];
    h->ballot = numbers[1];
    h->fence = numbers[2];
    h->lease_us = numbers[3] * US_PER_MS;
    return 0;
}

void hf__redis_queue_handed(struct backend_conn *c, const struct watch *w,
                            const struct resp *message)
{
    char text[OWNER_LEN_MAX + 128];
    struct handoff h = {
        .name = w->name, .name_len = w->name_len, .kind = KIND_PLAIN};
    if (message->type != RESP_STRING || message->len >= sizeof text) return;
    memcpy(text, message->text, message->len);
    text[message->len] = '\0';
    if (message_read(text, &h) != 0) return;
    /* If replicas or the disk must have a grant, the waiter has to propose
     * again: only a proposal waits for them. */
    if (c->wait || c->waits_aof) h.lease_us = 0;
    c->env->handed(c->env, &h);
}
