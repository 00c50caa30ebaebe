/*
 * gate.c: what is waited for and not held: latches and barriers.  One
 * rule: a request that only looks leaves nothing behind.
 */
#include <stdio.h>

#include "backend/memory/barrier.h"
#include "backend/memory/gate.h"
#include "backend/memory/latch.h"
#include "backend/memory/table.h"
#include "backend/memory/use.h"

__attribute__((format(printf, 2, 0))) void hf__memory_gate_text(
    struct store *s, const char *format, int64_t number)
{
    snprintf(s->text, sizeof s->text, format, (long long)number);
}

static int is_of_gate(const struct request *req)
{
    return (req->kind == KIND_LATCH || req->kind == KIND_BARRIER)
           && hf__memory_use_is_asked(req);
}

static void gate_apply(struct store *s, int64_t now_us, struct entry *e,
                       const struct request *req, struct reply *rep)
{
    int is_latch = req->kind == KIND_LATCH;
    if (req->verb == VERB_PROPOSE && is_latch)
        hf__memory_latch_wait(s, now_us, e, req, rep);
    else if (req->verb == VERB_PROPOSE)
        hf__memory_barrier_wait(s, now_us, e, req, rep);
    else if (req->verb == VERB_TALLY && is_latch)
        hf__memory_latch_tally(s, now_us, e, req, rep);
    else if (req->verb == VERB_TALLY)
        hf__memory_barrier_tally(s, now_us, e, req, rep);
    else if (req->verb == VERB_RELEASE && !is_latch)
        hf__memory_barrier_leave(s, now_us, e, req, rep);
    else
        rep->status = HF_UNSUPPORTED;
}

int hf__memory_gate_apply(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep)
{
    int makes = req->verb == VERB_PROPOSE
                || (req->verb == VERB_TALLY && req->tally != TALLY_READ);
    if (!is_of_gate(req)) return 0;
    struct entry *e =
        hf__memory_table_find(&s->table, req->name, req->name_len);
    if (!e && makes)
        e = hf__memory_table_need(&s->table, req->name, req->name_len);
    if (!e && makes) {
        rep->status = HF_NOMEM;
        rep->text = "memory: out of memory";
        return 1;
    }
    gate_apply(s, now_us, e, req, rep);
    return 1;
}

void hf__memory_gate_free_all(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        hf__memory_latch_free(s, s->table.entries[i]);
        hf__memory_barrier_free(s, s->table.entries[i]);
    }
}
