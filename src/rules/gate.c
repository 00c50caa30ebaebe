/*
 * gate.c: what is waited for and not held: latches and barriers.  One
 * rule: a request that only looks leaves nothing behind.
 */
#include <stdio.h>

#include "rules/barrier.h"
#include "rules/gate.h"
#include "rules/latch.h"
#include "rules/table.h"
#include "rules/use.h"

__attribute__((format(printf, 2, 0))) void hf__rules_gate_text(
    struct store *s, const char *format, int64_t number)
{
    snprintf(s->text, sizeof s->text, format, (long long)number);
}

static int is_of_gate(const struct request *req)
{
    return (req->kind == KIND_LATCH || req->kind == KIND_BARRIER)
           && hf__rules_use_is_asked(req);
}

static void gate_apply(struct store *s, int64_t now_us, struct entry *e,
                       const struct request *req, struct reply *rep)
{
    int is_latch = req->kind == KIND_LATCH;
    if (req->verb == VERB_PROPOSE && is_latch)
        hf__rules_latch_wait(s, now_us, e, req, rep);
    else if (req->verb == VERB_PROPOSE)
        hf__rules_barrier_wait(s, now_us, e, req, rep);
    else if (req->verb == VERB_TALLY && is_latch)
        hf__rules_latch_tally(s, now_us, e, req, rep);
    else if (req->verb == VERB_TALLY)
        hf__rules_barrier_tally(s, now_us, e, req, rep);
    else if (req->verb == VERB_RELEASE && !is_latch)
        hf__rules_barrier_leave(s, now_us, e, req, rep);
    else
        rep->status = HF_UNSUPPORTED;
}

int hf__rules_gate_apply(struct store *s, int64_t now_us,
                         const struct request *req, struct reply *rep)
{
    int makes = req->verb == VERB_PROPOSE
                || (req->verb == VERB_TALLY && req->tally != TALLY_READ);
    if (!is_of_gate(req)) return 0;
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    if (!e && makes)
        e = hf__rules_table_need(&s->table, req->name, req->name_len);
    if (!e && makes) {
        rep->status = HF_NOMEM;
        rep->text = "out of memory";
        return 1;
    }
    gate_apply(s, now_us, e, req, rep);
    return 1;
}

void hf__rules_gate_free_all(struct store *s)
{
    for (size_t i = 0; i < s->table.len; i++) {
        hf__rules_latch_free(s, s->table.entries[i]);
        hf__rules_barrier_free(s, s->table.entries[i]);
    }
}
