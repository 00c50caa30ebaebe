/*
 * stock/reserve.c: reservations: the walk of core/stock_walk.h, carried out.
 *
 * The rule: a reservation that its segment answers takes one request, and
 * allocates nothing.
 */
#include <string.h>

#include "api/client/sequence.h"
#include "api/stock/stock.h"
#include "base/error.h"
#include "core/stock_walk.h"

/* One reservation under way. */
struct reserve {
    struct sequence seq; /* first */
    hf_stock *stock;
    struct stock_walk walk;
    struct stock_op one;
    struct stock_op *many; /* requests to all segments; else NULL */
    uint32_t asked;        /* requests of the last step */
    struct hf_reservation got;
    hf_stock_reserved_fn cb; /* started */
    void *data;
    char user[STOCK_ESCAPED(HF_STOCK_USER_MAX)];
    char id[STOCK_ESCAPED(HF_STOCK_ID_MAX)];
    char nonce[STOCK_NONCE_LEN + 1];
};

static struct stock_op *op_at(struct reserve *r, uint32_t i)
{
    return r->many ? &r->many[i] : &r->one;
}

static void many_free(struct reserve *r)
{
    hf__free(&r->stock->client->alloc, r->many);
    r->many = NULL;
}

/* Pass the answers of the last step to the walk; HF_OK, or the status of one
 * that failed. */
static int answers_take(struct reserve *r)
{
    struct sequence *s = &r->seq;
    for (uint32_t i = 0; i < r->asked && s->status == HF_OK; i++) {
        struct stock_op *o = op_at(r, i);
        if (o->op.status != HF_OK)
            hf__sequence_fail_as(s, &o->op);
        else if (o->job.told.says >= STOCK_ABSENT)
            s->status = hf__sale_says_status(&o->job, &s->err);
        else
            hf__stock_walk_told(&r->walk, &o->job);
    }
    many_free(r);
    if (s->status == HF_OK) hf__stock_walk_next(&r->walk);
    return s->status;
}

static void ask(struct reserve *r)
{
    hf_client *client = r->stock->client;
    r->asked = hf__stock_walk_jobs(&r->walk);
    if (r->walk.phase == WALK_LOOK) {
        r->many = hf__alloc(&client->alloc, r->asked * sizeof *r->many);
        if (!r->many) {
            hf__sequence_fail(&r->seq, HF_NOMEM, "out of memory");
            return;
        }
    }
    for (uint32_t i = 0; i < r->asked; i++) {
        struct stock_op *o = op_at(r, i);
        hf__stock_walk_ask(&r->walk, i, &o->job);
        o->job.user = r->user;
        o->job.id = r->id;
        memcpy(o->job.nonce, r->nonce, sizeof r->nonce);
        hf__sale_op(o, r->stock->name);
        hf__sequence_ask(&r->seq, client, &o->op);
    }
}

/* The walk is over: fill the caller's reservation. */
static void got_fill(struct reserve *r)
{
    static const enum hf_stock_verdict verdicts[] = {
        [STOCK_RESERVED] = HF_STOCK_RESERVED,
        [STOCK_DUPLICATE] = HF_STOCK_DUPLICATE,
        [STOCK_REUSED] = HF_STOCK_REUSED,
        [STOCK_LIMIT] = HF_STOCK_LIMIT,
        [STOCK_SOLD_OUT] = HF_STOCK_SOLD_OUT,
        [STOCK_NOT_OPEN] = HF_STOCK_NOT_OPEN,
        [STOCK_BUSY] = HF_STOCK_BUSY};
    const struct stock_job *job = &r->one.job;
    enum stock_says says = r->walk.says;
    if (says < STOCK_RESERVED || says > STOCK_BUSY) {
        hf__sequence_fail(&r->seq, HF_INTERNAL, "reserve: %s",
                          hf_status_text(HF_INTERNAL));
        return;
    }
    r->got = (struct hf_reservation){.struct_size = sizeof r->got,
                                     .verdict = (int32_t)verdicts[says],
                                     .segment = (int32_t)r->walk.home};
    if (job->what != STOCK_RESERVE) { /* the walk gave up fetching units */
        r->got.left_ms = says == STOCK_BUSY ? STOCK_DRY_MS : 0;
        return;
    }
    r->got.left_ms = job->told.left_ms;
    if (says != STOCK_RESERVED && says != STOCK_DUPLICATE) return;
    r->got.state = (int32_t)job->told.state;
    r->got.units = job->told.units;
    r->got.order = job->told.order;
    hf__sale_token_write(job, r->got.token);
}

static void reserve_step(struct sequence *s)
{
    struct reserve *r = (struct reserve *)s;
    if (r->asked && answers_take(r) != HF_OK) return;
    if (r->walk.phase == WALK_OVER)
        got_fill(r);
    else
        ask(r);
}

/* Prepare `r` for its first step; HF_OK, or a refusal. */
static int reserve_prepare(struct reserve *r, hf_stock *stock, const char *user,
                           int64_t units, const char *request_id,
                           struct hf_error *err)
{
    int status = hf__client_check(stock->client, err);
    if (status == HF_OK)
        status = hf__sale_text_check("user", user, HF_STOCK_USER_MAX, err);
    if (status == HF_OK) status = hf__sale_units_check(units, err);
    if (status == HF_OK)
        status =
            hf__sale_text_check("request id", request_id, HF_STOCK_ID_MAX, err);
    if (status == HF_OK) status = hf__sale_nonce(r->nonce, err);
    if (status != HF_OK) return status;
    memset(&r->seq, 0, sizeof r->seq);
    r->seq.step = reserve_step;
    r->stock = stock;
    r->many = NULL;
    r->asked = 0;
    hf__sale_escape(user, r->user);
    hf__sale_escape(request_id, r->id);
    hf__stock_walk_begin(&r->walk, hf__sale_home(user, stock->segments),
                         stock->segments, units);
    return HF_OK;
}

int hf_stock_reserve(hf_stock *stock, const char *user, int64_t units,
                     const char *request_id, struct hf_reservation *out,
                     struct hf_error *err)
{
    struct reserve r;
    int status = hf__result_check(out, err);
    if (status == HF_OK)
        status = reserve_prepare(&r, stock, user, units, request_id, err);
    if (status != HF_OK) return status;
    hf__call_enter(stock->client);
    status = hf__sequence_run(&r.seq, err);
    hf__call_leave(stock->client);
    if (status == HF_OK) hf__result_fill(out, &r.got);
    return status;
}

static void reserve_over(struct sequence *s)
{
    struct reserve *r = (struct reserve *)s;
    hf_client *client = r->stock->client;
    if (r->cb)
        r->cb(r->stock, s->status, s->status == HF_OK ? &r->got : NULL, &s->err,
              r->data);
    hf__free(&client->alloc, r);
}

int hf_stock_reserve_start(hf_stock *stock, const char *user, int64_t units,
                           const char *request_id, hf_stock_reserved_fn cb,
                           void *data, struct hf_error *err)
{
    hf_client *client = stock->client;
    struct reserve *r = hf__alloc(&client->alloc, sizeof *r);
    if (!r) return hf__error_set(err, HF_NOMEM, "out of memory");
    int status = reserve_prepare(r, stock, user, units, request_id, err);
    if (status == HF_OK) {
        r->seq.over = reserve_over;
        r->cb = cb;
        r->data = data;
        status = hf__sequence_start(&r->seq, client, err);
    }
    if (status != HF_OK) hf__free(&client->alloc, r);
    return status;
}
