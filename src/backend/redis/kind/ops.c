/*
 * ops.c: requests to commands.  One rule: a request that cannot be put
 * into a command is answered, and changes nothing on the server.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/redis.h"
#include "base/boot.h"

const char hf__redis_fence_prefix[] = "redisson_lock_token";
const char hf__redis_channel_prefix[] = "redisson_lock__channel";
const char hf__redis_rw_channel_prefix[] = "redisson_rwlock";
const char hf__redis_permit_channel_prefix[] = "redisson_sc";
const char hf__redis_latch_channel_prefix[] =
    "redisson_countdownlatch__channel__";
const char hf__redis_barrier_channel_prefix[] = "holdfast_barrier__channel";

/* ---- requests to commands ---- */

int64_t hf__redis_lease_ms(const struct request *req)
{
    return (req->lease_us + US_PER_MS - 1) / US_PER_MS;
}

void hf__redis_cmd_script(struct command *cmd, const struct redis_script *s,
                          enum flight_kind kind, int64_t keys)
{
    if (kind == FLIGHT_EVAL || kind == FLIGHT_LOOK) {
        hf__redis_cmd_begin(cmd, kind == FLIGHT_LOOK ? "EVAL_RO" : "EVAL");
        hf__redis_cmd_bytes(cmd, s->text, s->len);
    } else {
        hf__redis_cmd_begin(cmd, "EVALSHA");
        hf__redis_cmd_bytes(cmd, s->sha1, 40);
    }
    hf__redis_cmd_number(cmd, keys);
}

void hf__redis_cmd_script_one(struct command *cmd, const struct redis_script *s,
                              enum flight_kind kind, const struct request *req,
                              int has_fence)
{
    int has_marker =
        has_fence && req->op == OP_PROPOSE && (req->flags & REQ_QUORUM) != 0;
    hf__redis_cmd_script(cmd, s, kind, 1 + has_fence + has_marker);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (has_fence)
        hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name,
                          req->name_len);
    if (has_marker) hf__redis_cmd_text(cmd, BOOT_KEY);
}

void hf__redis_cmd_script_many(struct command *cmd,
                               const struct redis_script *s,
                               enum flight_kind kind,
                               const struct request *reqs)
{
    int64_t n = 0;
    for (const struct request *r = reqs; r; r = r->next) n++;
    hf__redis_cmd_script(cmd, s, kind, n);
    for (const struct request *r = reqs; r; r = r->next)
        hf__redis_cmd_bytes(cmd, r->name, r->name_len);
}

void hf__redis_put_mark(struct command *cmd, const struct request *req,
                        int with_number)
{
    hf__redis_cmd_part_begin(cmd);
    hf__redis_cmd_part_text(cmd, "v1 ");
    hf__redis_cmd_part_text(cmd, req->owner);
    hf__redis_cmd_part_text(cmd, " ");
    hf__redis_cmd_part_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_part_text(cmd, " ");
    if (with_number) {
        hf__redis_cmd_part_number(cmd, req->ballot);
        hf__redis_cmd_part_text(cmd, " ");
    }
    hf__redis_cmd_part_end(cmd);
}

void hf__redis_put_channel(struct command *cmd, const struct request *req)
{
    static const char *const prefixes[KINDS_LEN] = {
        [KIND_READ] = hf__redis_rw_channel_prefix,
        [KIND_WRITE] = hf__redis_rw_channel_prefix,
        [KIND_PERMIT] = hf__redis_permit_channel_prefix,
        [KIND_COUNT] = hf__redis_permit_channel_prefix,
        [KIND_BARRIER] = hf__redis_barrier_channel_prefix,
    };
    const char *prefix = prefixes[req->kind];
    if (req->kind == KIND_LATCH) {
        hf__redis_cmd_braced_key(cmd, hf__redis_latch_channel_prefix, req->name,
                                 req->name_len);
        return;
    }
    hf__redis_cmd_key(cmd, prefix ? prefix : hf__redis_channel_prefix,
                      req->name, req->name_len);
}

static void put_channel(struct command *cmd, const char *prefix,
                        const struct request *req)
{
    hf__redis_cmd_key(cmd, prefix, req->name, req->name_len);
}

/* "q": of any group. */
void hf__redis_put_group(struct command *cmd, const struct request *req)
{
    int is_given = (req->flags & REQ_QUORUM) && req->group;
    hf__redis_cmd_text(cmd, is_given ? req->group : "q");
}

static void build_propose(struct backend_conn *c, enum flight_kind kind,
                          const struct request *req)
{
    struct command *cmd = &c->cmd;
    int is_quorum = (req->flags & REQ_QUORUM) != 0;
    int has_queue = hf__redis_queue_has_key(c, req);
    hf__redis_cmd_script(cmd, &hf__redis_script_acquire, kind,
                         2 + has_queue + 2 * is_quorum);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name, req->name_len);
    if (has_queue) hf__redis_queue_put_key(cmd, req);
    if (is_quorum) hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (is_quorum) hf__redis_cmd_text(cmd, BOOT_KEY);
    hf__redis_cmd_text(cmd, req->owner);
    hf__redis_put_mark(cmd, req, 1);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    /* A detached hold is marked by a minus before its maker's pid. */
    const char *info = req->info ? req->info : "0 - -";
    if (req->flags & REQ_DETACHED)
        hf__redis_cmd_printf(cmd, "-%s", info);
    else
        hf__redis_cmd_text(cmd, info);
    if (req->flags & REQ_QUORUM) hf__redis_put_group(cmd, req);
    int is_plain = !(req->flags & (REQ_SERVER_FENCE | REQ_QUORUM));
    if (is_plain || req->block > 0 || req->window_us != BALLOT_WINDOW_US)
        hf__redis_cmd_number(cmd, req->window_us);
    if (is_plain || req->block > 0) hf__redis_cmd_number(cmd, req->block);
    if (is_plain) hf__redis_cmd_text(cmd, "q");
}

static void build_renew(struct command *cmd, enum flight_kind kind,
                        const struct request *reqs)
{
    hf__redis_cmd_script_many(cmd, &hf__redis_script_renew, kind, reqs);
    for (const struct request *r = reqs; r; r = r->next) {
        hf__redis_cmd_text(cmd, r->owner);
        hf__redis_put_mark(cmd, r, 0);
        hf__redis_cmd_number(cmd, hf__redis_lease_ms(r));
        hf__redis_cmd_number(cmd, r->count);
        hf__redis_cmd_number(cmd, r->fence);
    }
}

void hf__redis_put_letters(struct command *cmd, const char *first,
                           int has_first, const char *second, int has_second)
{
    if (!has_first && !has_second) return;
    hf__redis_cmd_part_begin(cmd);
    if (has_first) hf__redis_cmd_part_text(cmd, first);
    if (has_second) hf__redis_cmd_part_text(cmd, second);
    hf__redis_cmd_part_end(cmd);
}

const char *hf__redis_sharded_letters(const struct backend_conn *c)
{
    return c->is_both ? "sb" : "s";
}

static void build_release(struct backend_conn *c, enum flight_kind kind,
                          const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_one(cmd, &hf__redis_script_release, kind, req,
                             !hf__redis_is_alone(c, req));
    hf__redis_put_mark(cmd, req, 1);
    put_channel(cmd, hf__redis_channel_prefix, req);
    int is_past = (req->priv & PRIV_PAST_QUEUE) != 0;
    int is_plain = !(req->flags & REQ_HUSHED) && !c->is_sharded;
    hf__redis_put_letters(cmd, "h", (req->flags & REQ_HUSHED) != 0,
                          hf__redis_sharded_letters(c), c->is_sharded);
    if (is_past && is_plain) hf__redis_cmd_text(cmd, "");
    if (is_past) hf__redis_cmd_text(cmd, "f");
}

static void build_break(struct backend_conn *c, enum flight_kind kind,
                        const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_one(cmd, &hf__redis_script_break, kind, req,
                             !c->no_fence);
    put_channel(cmd, hf__redis_channel_prefix, req);
    put_channel(cmd, hf__redis_rw_channel_prefix, req);
    hf__redis_cmd_printf(cmd, "%s%s%s", c->is_string ? "s" : "",
                         c->is_sharded ? "c" : "",
                         c->is_sharded && c->is_both ? "b" : "");
    hf__redis_queue_put_who(cmd, req);
    hf__redis_rw_put_floor(cmd, req);
}

static void build_inspect(struct backend_conn *c, enum flight_kind kind,
                          const struct request *req)
{
    struct command *cmd = &c->cmd;
    int has_fence = !c->no_fence && !hf__redis_is_alone(c, req);
    int has_queue = has_fence && hf__redis_queue_has_key(c, req);
    hf__redis_cmd_script(cmd, &hf__redis_script_inspect, kind,
                         1 + has_fence + 2 * has_queue);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (has_fence)
        hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name,
                          req->name_len);
    if (has_queue) hf__redis_queue_put_keys(cmd, req);
    hf__redis_rw_put_field(cmd, req);
    put_channel(cmd, hf__redis_channel_prefix, req);
    put_channel(cmd, hf__redis_rw_channel_prefix, req);
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, "");
    if (c->is_sharded) hf__redis_cmd_text(cmd, "c");
}

static void build_list(struct backend_conn *c, enum flight_kind kind,
                       const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, &hf__redis_script_list, kind, 0);
    hf__redis_cmd_printf(cmd, "%llu", (unsigned long long)req->cursor);
    hf__redis_cmd_text(cmd, req->name ? req->name : "*");
    hf__redis_cmd_text(cmd, LIST_COUNT);
    hf__redis_put_letters(cmd, "s", c->is_string, "c", c->is_sharded);
}

static void build(struct backend_conn *c, enum flight_kind kind,
                  const struct request *reqs)
{
    struct command *cmd = &c->cmd;
    if (hf__redis_string_build(c, kind, reqs)
        || hf__redis_rw_build(c, kind, reqs))
        return;
    if (hf__redis_queue_build(c, kind, reqs)) return;
    if (hf__redis_latch_build(c, kind, reqs)) return;
    if (hf__redis_barrier_build(c, kind, reqs)) return;
    if (hf__redis_is_permit(reqs)) {
        hf__redis_permit_build(c, kind, reqs);
        return;
    }
    switch (reqs->op) {
    case OP_PROPOSE:
        build_propose(c, kind, reqs);
        break;
    case OP_RENEW:
        build_renew(cmd, kind, reqs);
        break;
    case OP_RELEASE:
        build_release(c, kind, reqs);
        break;
    case OP_BREAK:
        build_break(c, kind, reqs);
        break;
    case OP_INSPECT:
        build_inspect(c, kind, reqs);
        break;
    case OP_LIST:
        build_list(c, kind, reqs);
        break;
    case OP_VALUE_READ:
        hf__redis_cmd_script_one(cmd, &hf__redis_script_value_read, kind, reqs,
                                 0);
        break;
    case OP_VALUE_WRITE:
        hf__redis_cmd_script_one(cmd, &hf__redis_script_value_write, kind, reqs,
                                 0);
        hf__redis_value_build(c, reqs);
        break;
    case OP_GUARD:
        hf__redis_guard_build(c, kind, reqs);
        break;
    case OP_BOOT:
        hf__redis_boot_build(c, reqs);
        break;
    case OP_TALLY:
    case OP_FACTS: /* never here: member/facts.c */
    case OP_WATCH:
    case OP_UNWATCH:
        break; /* nor these: watch/watch.c */
    }
}

/* ---- the queue to the output ---- */

/* Why the request cannot be put into a command; NULL if it can. */
static const char *refusal(const struct request *req)
{
    if (req->op == OP_LIST) return NULL;
    if (req->op == OP_BOOT)
        return hf__boot_is_sound(req) ? NULL : "boot: no group, or no lease";
    if (req->name_len == 0 || req->name_len > NAME_LEN_MAX)
        return "the name is empty or too long";
    if (req->op == OP_PROPOSE && req->ballot < 1) return "no number";
    if (req->ballot < 0 || req->ballot > BALLOT_MAX)
        return "the number is out of range";
    if ((req->op == OP_PROPOSE || req->op == OP_RENEW) && req->lease_us < 1)
        return "no lease";
    return NULL;
}

static void refuse(struct backend_conn *c, struct request *req, int status,
                   const char *why)
{
    snprintf(c->text, sizeof c->text, "%s: %s", c->endpoint, why);
    req->next = NULL;
    hf__redis_answer_all(c, req, V_ERROR, status, c->text);
}

void hf__redis_send(struct backend_conn *c, enum flight_kind kind,
                    struct request *reqs)
{
    int is_asked = hf__redis_asking(c, reqs) == 0;
    build(c, kind, reqs);
    struct flight *f = is_asked ? hf__redis_link_push(&c->main, kind) : NULL;
    if (f) {
        f->reqs = reqs;
        (void)hf__redis_aof_push(c, reqs);
        hf__redis_wait_sent(c, reqs);
        return;
    }
    snprintf(c->text, sizeof c->text, "%s: out of memory", c->endpoint);
    hf__redis_answer_all(c, reqs, V_ERROR, HF_NOMEM, c->text);
}

/* Readers and writers are renewed by one script. */
static enum lock_kind script_of(const struct request *renew)
{
    return renew->kind == KIND_READ ? KIND_WRITE : renew->kind;
}

/* So many renewals like this one may go in one command. */
static int batch_most(const struct backend_conn *c, const struct request *renew)
{
    if (c->is_sliced) return 1;
    if (renew->kind == KIND_PLAIN) return BATCH_MAX;
    return request_is_rw(renew) ? BATCH_MAX_RW : BATCH_MAX_SIDE;
}

/* Take up to `most` renewals that are of the first one's script out of the
 * list.  They come before whatever stood between them, which harms nobody: no
 * lock is renewed before it was granted, and none after its release was asked
 * for. */
static struct request *batch_take(struct request **list, int most)
{
    struct request *first = NULL, **end = &first;
    const struct request *of = *list;
    int n = 0;
    while (*list && n < most) {
        struct request *r = *list;
        if (r->op != OP_RENEW || script_of(r) != script_of(of)) {
            list = &r->next;
            continue;
        }
        *list = r->next;
        r->next = NULL;
        *end = r;
        end = &r->next;
        n++;
    }
    return first;
}

/* Answer what cannot be sent; the rest, in order. */
static struct request *sift(struct backend_conn *c, struct request *list)
{
    struct request *first = NULL, **end = &first;
    char text[HF_ERROR_TEXT_MAX];
    while (list) {
        struct request *r = list;
        int status = HF_INVALID;
        list = r->next;
        r->next = NULL;
        const char *why = refusal(r);
        if (!why) {
            status = HF_CONFLICT;
            why = hf__redis_member_refusal(c, r, text, sizeof text);
        }
        if (why) {
            refuse(c, r, status, why);
            continue;
        }
        *end = r;
        end = &r->next;
    }
    return first;
}

void hf__redis_send_all(struct backend_conn *c)
{
    struct request *list = sift(c, hf__redis_list_take(&c->unsent));
    while (list) {
        struct request *chain = list;
        if (list->op == OP_RENEW) {
            chain = batch_take(&list, batch_most(c, list));
        } else {
            list = list->next;
            chain->next = NULL;
        }
        if (c->master) {
            hf__redis_ask_send(c, chain);
            continue;
        }
        if (chain->op == OP_BOOT) {
            hf__redis_boot_begin(c, chain);
            continue;
        }
        if (chain->op == OP_FACTS) {
            hf__redis_facts_begin(c, chain);
            continue;
        }
        int is_set = c->no_fence && chain->op == OP_PROPOSE;
        hf__redis_send(c, is_set ? FLIGHT_SET : FLIGHT_REQUEST, chain);
    }
}
