/*
 * multi_drive.c: a batch of operations of a set, asked of their clients.
 *
 * The rule: all operations of one client go out in one flush, and those of the
 * other clients before the first answer is waited for.
 */
#include "api/multi.h"

#include "base/error.h"

/* The operations of this batch that are for `client`; how many. */
static size_t batch_of(struct multi_call *c, const hf_client *client,
                       struct op **out)
{
    size_t len = 0;
    for (size_t i = 0; i < c->len; i++)
        if (c->parts[i].is_asked && c->parts[i].client == client)
            out[len++] = &c->parts[i].op;
    return len;
}

static size_t asked_count(const struct multi_call *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->len; i++) n += c->parts[i].is_asked != 0;
    return n;
}

/* ---- for a caller that waits --------------------------------------------- */

/* A client that may fall back to this host asks one thing after the other. */
static void fallback_run(hf_client *client, struct op *const *ops, size_t len)
{
    for (size_t i = 0; i < len; i++) hf__op_run(client, ops[i], NULL);
}

static void batch_run(struct multi_call *c)
{
    struct op *ops[HF_MULTI_MAX];
    size_t asked = asked_count(c);
    for (size_t i = 0; i < c->clients_len; i++) {
        hf_client *client = c->clients[i].client;
        size_t len = client->fallback ? 0 : batch_of(c, client, ops);
        if (len > 0) hf__pump_enter_all(&client->pump, ops, len, len == asked);
    }
    for (size_t i = 0; i < c->clients_len; i++) {
        hf_client *client = c->clients[i].client;
        size_t len = batch_of(c, client, ops);
        if (client->fallback)
            fallback_run(client, ops, len);
        else
            hf__pump_wait_all(&client->pump, ops, len);
    }
}

void hf__multi_run(struct multi_call *c)
{
    while (hf__multi_step(c)) batch_run(c);
}

/* ---- started ones -------------------------------------------------------- */

static void batches_start(struct multi_call *c, int is_inside);

/* So many of this batch are over: is that all? */
static int is_batch_over(struct multi_call *c, size_t n)
{
    return atomic_fetch_sub(&c->left, n) == n;
}

static void part_over(struct multi_call *c)
{
    if (!is_batch_over(c, 1)) return;
    if (hf__multi_step(c))
        batches_start(c, 0);
    else
        hf__multi_end(c);
}

static void part_complete(struct op *op)
{
    struct multi_part *p = op->complete_user;
    part_over(p->call);
}

/* It was a copy. */
static void fallback_complete(struct op *op)
{
    struct multi_part *p = op->complete_user;
    p->op.status = op->status;
    p->op.err = op->err;
    p->op.grant = op->grant;
    p->op.released = op->released;
    hf__free(&p->client->alloc, op);
    part_over(p->call);
}

/* 1: it is on its way; 0: it is over already. */
static int fallback_start(struct multi_part *p)
{
    int status = hf__fallback_start(p->client, &p->op, fallback_complete,
                                    p->lock, NULL, p, &p->op.err);
    if (status == HF_OK) return 1;
    p->op.status = status;
    /* A release is carried out, memory or not. */
    if (p->op.type == OP_TYPE_RELEASE) hf__op_run(p->client, &p->op, NULL);
    return 0;
}

static size_t fallbacks_start(struct multi_call *c)
{
    size_t over = 0;
    for (size_t i = 0; i < c->len; i++)
        if (c->parts[i].is_asked && c->parts[i].client->fallback)
            over += !fallback_start(&c->parts[i]);
    return over;
}

/* Those that are over already. */
static size_t batch_start(struct multi_call *c)
{
    struct op *ops[HF_MULTI_MAX];
    size_t over = fallbacks_start(c);
    for (size_t i = 0; i < c->clients_len; i++) {
        hf_client *client = c->clients[i].client;
        size_t len = client->fallback ? 0 : batch_of(c, client, ops);
        for (size_t k = 0; k < len; k++) {
            ops[k]->complete = part_complete;
            ops[k]->complete_user =
                (char *)ops[k] - offsetof(struct multi_part, op);
        }
        if (len > 0) hf__pump_start_all(&client->pump, ops, len);
    }
    return over;
}

static void end_complete(struct op *op)
{
    struct multi_part *p = op->complete_user;
    hf__multi_end(p->call);
}

/* No callback runs inside the call that started it: let who pumps find an
 * operation that is over at once, a release by nobody. */
static void end_later(struct multi_call *c)
{
    struct op *op = &c->parts[0].op;
    hf__op_init(op, OP_TYPE_RELEASE, c->parts[0].lock, hf_holder_new());
    op->complete = end_complete;
    op->complete_user = &c->parts[0];
    hf__pump_start_all(&c->parts[0].client->pump, &op, 1);
}

/* One more than there are is counted: without it, the call could be over, and
 * gone, before the last is started.  `is_inside`: the user's call. */
static void batches_start(struct multi_call *c, int is_inside)
{
    do {
        atomic_store(&c->left, asked_count(c) + 1);
        if (!is_batch_over(c, batch_start(c) + 1)) return;
    } while (hf__multi_step(c));
    if (is_inside)
        end_later(c);
    else
        hf__multi_end(c);
}

void hf__multi_start(struct multi_call *c)
{
    batches_start(c, 1);
}
