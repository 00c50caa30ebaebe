/*
 * stock.c: segments of sales: requests to commands, answers to replies.
 *
 * One rule: an answer is taken into the job only if it has the shape that the
 * script gives it.
 */
#include "backend/redis/kind/stock.h"

#include <string.h>

#include "backend/redis/kind/command.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/redis.h"
#include "base/stock.h"

static const char stock_prefix[] = "holdfast_stock:";

static const char *const words[STOCK_DOS] = {
    [STOCK_LOOK] = "look",       [STOCK_CONFIRM] = "confirm",
    [STOCK_CANCEL] = "cancel",   [STOCK_EXTEND] = "extend",
    [STOCK_RESTOCK] = "restock", [STOCK_END] = "end",
    [STOCK_DONATE] = "donate",   [STOCK_ACCEPT] = "accept",
    [STOCK_ACK] = "ack",         [STOCK_GONE] = "gone"};

const struct redis_call *hf__redis_stock_call(const struct stock_job *job)
{
    switch (job->what) {
    case STOCK_MAKE:
        return &hf__redis_call_stock_make;
    case STOCK_RESERVE:
        return &hf__redis_call_stock_reserve;
    case STOCK_CONFIRM:
    case STOCK_CANCEL:
    case STOCK_EXTEND:
        return &hf__redis_call_stock_settle;
    case STOCK_EVENTS:
        return &hf__redis_call_stock_events;
    default:
        return &hf__redis_call_stock_move;
    }
}

/* ---- commands ---- */

void hf__redis_stock_keys(struct backend_conn *c, const struct request *req)
{
    static const char *const kinds[] = {"", ":users", ":events", ":extended"};
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 4);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        hf__redis_cmd_braced_key(cmd, stock_prefix, req->name, req->name_len);
        if (i > 0) hf__redis_cmd_more(cmd, kinds[i]);
    }
    hf__redis_cmd_number(cmd, req->stock->segments);
}

static void build_make(struct backend_conn *c, const struct request *req)
{
    const struct stock_job *job = req->stock;
    const struct stock_terms *t = &job->terms;
    const int64_t numbers[] = {job->units,     t->limit,    t->hold_ms,
                               t->max_hold_ms, t->opens_ms, t->closes_ms};
    hf__redis_stock_keys(c, req);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        hf__redis_cmd_number(&c->cmd, numbers[i]);
}

static void build_reserve(struct backend_conn *c, const struct request *req)
{
    const struct stock_job *job = req->stock;
    hf__redis_stock_keys(c, req);
    hf__redis_cmd_text(&c->cmd, job->user);
    hf__redis_cmd_text(&c->cmd, job->id);
    hf__redis_cmd_text(&c->cmd, job->nonce);
    hf__redis_cmd_number(&c->cmd, job->units);
    hf__redis_cmd_text(&c->cmd, job->leads ? "1" : "0");
}

static void build_settle(struct backend_conn *c, const struct request *req)
{
    const struct stock_job *job = req->stock;
    hf__redis_stock_keys(c, req);
    hf__redis_cmd_text(&c->cmd, job->user);
    hf__redis_cmd_number(&c->cmd, job->order);
    hf__redis_cmd_text(&c->cmd, job->nonce);
    hf__redis_cmd_text(&c->cmd, words[job->what]);
    hf__redis_cmd_number(&c->cmd, job->ms);
}

static void build_move(struct backend_conn *c, const struct request *req)
{
    const struct stock_job *job = req->stock;
    hf__redis_stock_keys(c, req);
    hf__redis_cmd_text(&c->cmd, words[job->what]);
    hf__redis_cmd_number(&c->cmd, job->units);
    hf__redis_cmd_number(&c->cmd, job->peer);
    hf__redis_cmd_number(&c->cmd, job->number);
    hf__redis_cmd_text(&c->cmd, job->id ? job->id : "");
}

/* ---- answers ---- */

static int64_t at(const struct resp *v, size_t i)
{
    return hf__redis_resp_number_at(v, i, INT64_MIN);
}

/* Numbers from place `i` on, none of them negative; 0, or -1. */
static int numbers_take(const struct resp *v, size_t i, size_t len,
                        int64_t *const *to)
{
    for (size_t n = 0; n < len; n++) {
        int64_t number = at(v, i + n);
        if (number < 0) return -1;
        *to[n] = number;
    }
    return 0;
}

int hf__redis_stock_head(const struct resp *v, struct stock_told *t,
                         struct reply *reply)
{
    int64_t says = at(v, 0), state = at(v, 1), changed = at(v, 2),
            now_ms = at(v, 3);
    if (!hf__redis_resp_is_array(v, 4) || says < STOCK_DONE
        || says > STOCK_OTHER || state < HF_STOCK_UNKNOWN
        || state > HF_STOCK_EXPIRED || changed < 0 || changed > 1 || now_ms < 0
        || now_ms > BALLOT_MAX / US_PER_MS)
        return -1;
    *t = (struct stock_told){.says = (enum stock_says)says};
    reply->node_us = now_ms * US_PER_MS;
    reply->verdict = V_GRANTED;
    if (says >= STOCK_ABSENT) return 1;
    t->state = (enum hf_stock_state)state;
    t->changed = (int)changed;
    return 0;
}

static int read_head(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    (void)c;
    return hf__redis_stock_head(v, &req->stock->told, reply) < 0 ? -1 : 0;
}

static int read_reservation(struct backend_conn *c, const struct request *req,
                            const struct resp *v, struct reply *reply)
{
    (void)c;
    struct stock_told *t = &req->stock->told;
    int64_t late = 0, *const to[] = {&late, &t->order, &t->units};
    int head = hf__redis_stock_head(v, t, reply);
    if (head) return head < 0 ? -1 : 0;
    const struct resp *nonce = hf__redis_resp_at(v, 8);
    if (!nonce || nonce->type != RESP_STRING || nonce->len > STOCK_NONCE_LEN
        || at(v, 7) < -1 || numbers_take(v, 4, 3, to) != 0)
        return -1;
    t->late = late != 0;
    t->left_ms = at(v, 7);
    memcpy(t->nonce, nonce->text, nonce->len);
    t->nonce[nonce->len] = '\0';
    return 0;
}

static int segment_take(const struct resp *v, struct stock_told *t)
{
    int64_t segments, ended;
    int64_t *const to[] = {&segments,
                           &ended,
                           &t->terms.limit,
                           &t->terms.hold_ms,
                           &t->terms.max_hold_ms,
                           &t->terms.opens_ms,
                           &t->terms.closes_ms,
                           &t->first,
                           &t->init,
                           &t->in,
                           &t->out,
                           &t->avail,
                           &t->held,
                           &t->sold,
                           &t->events};
    const size_t len = sizeof to / sizeof to[0];
    if (numbers_take(v, 4, len, to) != 0 || segments < 1
        || segments > HF_STOCK_SEGMENTS_MAX)
        return -1;
    t->segments = (uint32_t)segments;
    t->is_ended = ended != 0;
    for (size_t i = 4 + len; i < v->len; i += 3) {
        struct stock_transfer *put = &t->transfers[t->transfers_len];
        int64_t to_segment;
        int64_t *const transfer[] = {&to_segment, &put->number, &put->units};
        if (t->transfers_len == HF_STOCK_SEGMENTS_MAX
            || numbers_take(v, i, 3, transfer) != 0 || to_segment >= segments)
            return -1;
        put->to = (uint32_t)to_segment;
        t->transfers_len++;
    }
    return 0;
}

static int read_move(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    (void)c;
    struct stock_told *t = &req->stock->told;
    int64_t *const units[] = {&t->units}, *const number[] = {&t->number};
    int head = hf__redis_stock_head(v, t, reply);
    if (head) return head < 0 ? -1 : 0;
    if (req->stock->what == STOCK_LOOK || req->stock->what == STOCK_END)
        return segment_take(v, t);
    if (numbers_take(v, 4, 1, units) != 0) return -1;
    return numbers_take(v, 5, 1, number);
}

REDIS_CALL(stock_make, build_make, read_head, 0);
REDIS_CALL(stock_reserve, build_reserve, read_reservation, 0);
REDIS_CALL(stock_settle, build_settle, read_reservation, 0);
REDIS_CALL(stock_move, build_move, read_move, 0);
