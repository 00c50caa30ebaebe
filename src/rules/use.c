/*
 * use.c: what a name is in use as.  One rule: a name that is in use as
 * one kind is refused to the others, and nothing of it is changed.
 */
#include "rules/barrier.h"
#include "rules/hold.h"
#include "rules/latch.h"
#include "rules/permit.h"
#include "rules/rw.h"
#include "rules/table.h"
#include "rules/use.h"

/* The kind, by which a read/write lock is KIND_WRITE; -1: it is not in use. */
static int use_of(struct store *s, struct entry *e, int64_t now_us)
{
    if (e->held && !held_is_over(e->held, now_us)) return KIND_PLAIN;
    if (hf__rules_rw_is_held(e, now_us)) return KIND_WRITE;
    if (hf__rules_permit_is_used(s, e, now_us)) return (int)e->permits->kind;
    if (hf__rules_latch_is_used(e)) return KIND_LATCH;
    if (hf__rules_barrier_is_used(s, e, now_us)) return KIND_BARRIER;
    return -1;
}

int hf__rules_use_is_asked(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
    case VERB_BREAK:
    case VERB_INSPECT:
    case VERB_TALLY:
        return 1;
    default:
        return 0;
    }
}

/* Plain and read/write locks are shown, broken and given back as either. */
static int is_lock(int kind)
{
    return kind == KIND_PLAIN || kind == KIND_READ || kind == KIND_WRITE;
}

const char *hf__rules_use_conflict(struct store *s, int64_t now_us,
                                   const struct request *req)
{
    static const char *const words[KINDS_LEN] = {
        [KIND_PLAIN] = "it is in use as a plain lock",
        [KIND_WRITE] = "it is in use as a read/write lock",
        [KIND_PERMIT] = "it is in use as a semaphore",
        [KIND_COUNT] = "it is in use as a plain counter",
        [KIND_LATCH] = "it is in use as a latch",
        [KIND_BARRIER] = "it is in use as a barrier",
    };
    int kind = req->kind == KIND_READ ? KIND_WRITE : (int)req->kind;
    if (kind != KIND_PLAIN) s->has_kinds = 1;
    if (!s->has_kinds || !hf__rules_use_is_asked(req)) return NULL;
    struct entry *e = hf__rules_table_find(&s->table, req->name, req->name_len);
    int use = e ? use_of(s, e, now_us) : -1;
    if (use < 0 || use == kind) return NULL;
    if (is_lock(use) && is_lock(kind) && req->verb != VERB_PROPOSE) return NULL;
    return words[use];
}
