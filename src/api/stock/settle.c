/*
 * stock/settle.c: confirming, cancelling and extending a reservation: one
 * request to the segment that its token names.
 *
 * The rule: the status says whether the caller got what was asked for, and the
 * state what the reservation is.
 */
#include <string.h>

#include "api/stock/stock.h"
#include "base/error.h"

static const enum stock_do dos[] = {[HF_STOCK_CONFIRM] = STOCK_CONFIRM,
                                    [HF_STOCK_CANCEL] = STOCK_CANCEL,
                                    [HF_STOCK_EXTEND] = STOCK_EXTEND};

static int settle_prepare(struct stock_op *o, hf_stock *stock,
                          enum hf_stock_settle what, const char *token,
                          int64_t ms, struct hf_error *err)
{
    int status = hf__client_check(stock->client, err);
    o->job = (struct stock_job){
        .what = dos[what], .segments = stock->segments, .ms = ms};
    if (status == HF_OK && what == HF_STOCK_EXTEND
        && (ms < 1 || ms > HF_STOCK_HOLD_MS_MAX))
        status = hf__error_set(err, HF_INVALID,
                               "extend: %lld ms: out of range: 1 to 31 days",
                               (long long)ms);
    if (status == HF_OK)
        status = hf__sale_token_read(token, stock->segments, &o->job, err);
    if (status == HF_OK) hf__sale_op(o, stock->name);
    return status;
}

/* The status for the caller, from the state of the reservation. */
static int settle_status(const struct stock_job *job, struct hf_error *err)
{
    int status = hf__sale_says_status(job, err);
    if (status != HF_OK) return status;
    switch (job->told.state) {
    case HF_STOCK_HELD:
        return HF_OK;
    case HF_STOCK_SOLD:
        if (job->what != STOCK_CANCEL) return HF_OK;
        return hf__error_set(err, HF_NOT_OWNER, "cancel: it is sold");
    case HF_STOCK_CANCELLED:
    case HF_STOCK_EXPIRED:
        if (job->what == STOCK_CANCEL) return HF_OK;
        return hf__error_set(
            err, HF_EXPIRED, "reservation: its units were given back: %s",
            job->told.state == HF_STOCK_EXPIRED ? "its hold time was over"
                                                : "it was cancelled");
    default:
        return hf__error_set(err, HF_EMPTY,
                             "reservation: none with this token: it is forged, "
                             "or cut, or ended long ago");
    }
}

static void settled_make(const struct stock_told *t, struct hf_stock_settled *s)
{
    *s = (struct hf_stock_settled){.struct_size = sizeof *s,
                                   .state = (int32_t)t->state,
                                   .changed = t->changed,
                                   .late = t->late,
                                   .units = t->units,
                                   .left_ms = t->left_ms};
}

static int settle(hf_stock *stock, enum hf_stock_settle what, const char *token,
                  int64_t ms, struct hf_stock_settled *out,
                  struct hf_error *err)
{
    struct stock_op o;
    struct hf_stock_settled found;
    int status = out ? hf__result_check(out, err) : HF_OK;
    if (status == HF_OK)
        status = settle_prepare(&o, stock, what, token, ms, err);
    if (status == HF_OK) status = hf__call_wait(stock->client, &o.op, err);
    if (status != HF_OK) return status;
    settled_make(&o.job.told, &found);
    status = settle_status(&o.job, err);
    if (out && found.state != HF_STOCK_UNKNOWN) hf__result_fill(out, &found);
    return status;
}

int hf_stock_confirm(hf_stock *stock, const char *token,
                     struct hf_stock_settled *out, struct hf_error *err)
{
    return settle(stock, HF_STOCK_CONFIRM, token, 0, out, err);
}

int hf_stock_cancel(hf_stock *stock, const char *token,
                    struct hf_stock_settled *out, struct hf_error *err)
{
    return settle(stock, HF_STOCK_CANCEL, token, 0, out, err);
}

int hf_stock_extend(hf_stock *stock, const char *token, int64_t ms,
                    struct hf_stock_settled *out, struct hf_error *err)
{
    return settle(stock, HF_STOCK_EXTEND, token, ms, out, err);
}

/* ---- asynchronous ---- */

struct started {
    struct stock_op o; /* first */
    hf_stock *stock;
    hf_stock_settled_fn cb;
    char token[HF_STOCK_TOKEN_MAX];
};

static void settle_complete(struct op *op)
{
    struct started *s = (struct started *)op;
    hf_client *client = s->stock->client;
    struct hf_stock_settled found;
    int status = op->status;
    if (status == HF_OK) status = settle_status(&s->o.job, &op->err);
    settled_make(&s->o.job.told, &found);
    if (s->cb)
        s->cb(s->stock, status, op->status == HF_OK ? &found : NULL, &op->err,
              op->complete_user);
    hf__free(&client->alloc, s);
}

int hf_stock_settle_start(hf_stock *stock, int what, const char *token,
                          int64_t ms, hf_stock_settled_fn cb, void *data,
                          struct hf_error *err)
{
    hf_client *client = stock->client;
    if (what < HF_STOCK_CONFIRM || what > HF_STOCK_EXTEND)
        return hf__error_set(err, HF_INVALID, "settle: %d: no such action",
                             what);
    int status =
        hf__sale_text_check("token", token, HF_STOCK_TOKEN_MAX - 1, err);
    if (status != HF_OK) return status;
    struct started *s = hf__alloc_zero(&client->alloc, sizeof *s);
    if (!s) return hf__error_set(err, HF_NOMEM, "out of memory");
    s->stock = stock;
    s->cb = cb;
    memcpy(s->token, token, strlen(token) + 1);
    status = settle_prepare(&s->o, stock, (enum hf_stock_settle)what, s->token,
                            ms, err);
    s->o.op.complete = settle_complete;
    s->o.op.complete_user = data;
    if (status == HF_OK && hf__pump_start(&client->pump, &s->o.op) != HF_OK)
        status = hf__error_set(err, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    if (status != HF_OK) hf__free(&client->alloc, s);
    return status;
}
