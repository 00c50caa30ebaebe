/*
 * guards.c: what a resource on the store does with a token: one request to the
 * first node, and no hold.
 *
 * The rule: a write that may have been carried out is never reported as not
 * written, because the answer that was lost may have been a yes.
 */
#include "engine/guards.h"

#include <stdio.h>
#include <string.h>

#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/nodes.h"
#include "engine/ops.h"
#include "engine/values.h"

void hf__guards_start(struct engine *e, struct op *op)
{
    const struct guard_job *g = op->guard;
    struct request *r = hf__direct_request(e, op);
    if (!r) return;
    r->verb = VERB_GUARD;
    r->flags = g->flags;
    r->name = g->key;
    r->name_len = g->key_len;
    r->version = g->token;
    r->data = g->data;
    r->data_len = g->len;
    hf__request_send(e, &e->nodes[0], r);
}

/* A request with a token may be sent twice.  A claim may not: its second copy
 * could take the resource back from a holder that claimed it in between. */
int hf__guards_is_repeatable(const struct request *r)
{
    if (r->verb != VERB_GUARD) return 0;
    return !(r->flags & REQ_GUARD_CLAIM) || r->flags & REQ_GUARD_VALUE;
}

/* Why the token is refused: which token the resource has seen. */
static const char *stale_text(const struct request *r, const struct reply *rep,
                              char *out, size_t size)
{
    const char *lost = r->flags & REQ_REPEATED
                           ? "; an answer was lost before: the value may have "
                             "been written before that token came"
                           : "";
    if (r->flags & REQ_GUARD_CLAIM && !rep->version)
        snprintf(out, size,
                 "token %llu is refused: the resource was not claimed",
                 (unsigned long long)r->version);
    else
        snprintf(out, size,
                 "token %llu is refused: the resource %s token %llu%s",
                 (unsigned long long)r->version,
                 r->flags & REQ_GUARD_CLAIM ? "was claimed with"
                                            : "has already seen",
                 (unsigned long long)rep->version, lost);
    return out;
}

void hf__guards_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep)
{
    char buf[HF_ERROR_TEXT_MAX];
    int status = HF_OK;
    const char *text = rep->text;
    if (rep->verdict == V_OTHER) {
        status = HF_STALE;
        text = stale_text(r, rep, buf, sizeof buf);
    } else if (rep->verdict != V_GRANTED) {
        status = e->closing ? HF_CLOSED : rep->status;
    } else {
        status = hf__values_copy(e, &op->guard->found, rep, rep->data != NULL);
    }
    hf__op_finish(e, op, status, text);
}
