/*
 * values.c: reading and writing a versioned value, a node's marker or what it
 * says of itself: one request to the first node, and no hold.
 *
 * The rule: a write that may have been carried out is never answered CHANGED,
 * because the change may be its own.
 */
#include "engine/values.h"

#include <string.h>

#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/nodes.h"
#include "engine/ops.h"

static void boot_fill(struct request *r, const struct boot_job *b)
{
    r->verb = VERB_BOOT;
    r->name = b->group;
    r->name_len = strlen(b->group);
    r->flags = b->flags;
    r->info = b->from;
    r->window_us = b->quarantine_us;
}

void hf__values_start(struct engine *e, struct op *op)
{
    const struct value_job *v = op->value;
    struct request *r = hf__direct_request(e, op);
    if (!r) return;
    r->verb =
        op->type == OP_TYPE_VALUE_READ ? VERB_VALUE_READ : VERB_VALUE_WRITE;
    r->name = v->key;
    r->name_len = v->key_len;
    r->version = v->version;
    r->data = v->data;
    r->data_len = v->len;
    r->attempt = ++e->conf.attempts;
    if (v->remove) r->flags |= REQ_DELETE;
    if (v->boot) boot_fill(r, v->boot);
    if (op->type == OP_TYPE_FACTS) {
        r->verb = VERB_FACTS;
        r->cursor = v->part;
    }
    if (v->brief) r->flags |= REQ_BRIEF;
    hf__owner_text(e, op->holder, r->owner);
    hf__direct_bound(e, op, r);
    hf__request_send(e, &e->nodes[0], r);
}

/* Is a second copy of the request harmless?  A write of any version would
 * undo another client's change; for a write with an expected version, and for
 * the first write, the store recognises the second copy. */
int hf__values_is_repeatable(const struct request *r)
{
    if (r->verb == VERB_VALUE_READ) return 1;
    return r->verb == VERB_VALUE_WRITE && r->version != HF_VALUE_ANY;
}

int hf__values_copy(struct engine *e, struct hf_value *out,
                    const struct reply *rep, int is_there)
{
    *out = (struct hf_value){.struct_size = sizeof *out,
                             .version = rep->version,
                             .ttl_ms = -2,
                             .now_ms = rep->node_us / US_PER_MS};
    if (!is_there) return HF_OK;
    out->data = hf__alloc(e->alloc, rep->data_len + 1);
    if (!out->data) return HF_NOMEM;
    if (rep->data_len > 0) memcpy(out->data, rep->data, rep->data_len);
    out->data[rep->data_len] = '\0';
    out->len = rep->data_len;
    out->ttl_ms = rep->ttl_us < 0 ? -1 : rep->ttl_us / US_PER_MS;
    return HF_OK;
}

void hf__values_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep)
{
    int status = HF_OK;
    const char *text = rep->text;
    if (rep->verdict == V_OTHER && r->flags & REQ_REPEATED) {
        status = HF_UNAVAILABLE;
        text = "an answer was lost, and it has changed since: it may or may "
               "not have been written";
    } else if (rep->verdict == V_OTHER) {
        status = HF_CHANGED;
    } else if (rep->verdict != V_GRANTED) {
        status = e->closing ? HF_CLOSED : rep->status;
    }
    if (status == HF_OK && r->verb == VERB_VALUE_READ)
        status = hf__values_copy(e, &op->value->found, rep, rep->version != 0);
    if (status == HF_OK && r->verb == VERB_FACTS)
        status = hf__values_copy(e, &op->value->found, rep, 1);
    if (status == HF_OK) op->value->written = rep->version;
    op->value->node_us = rep->node_us;
    op->value->next = rep->cursor;
    if (status == HF_OK && r->verb == VERB_BOOT)
        op->value->boot->found = *rep->boot;
    hf__op_finish(e, op, status, text);
}
