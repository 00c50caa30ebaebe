/*
 * model.h: a store from inside, for the files that carry out its requests.
 */
#ifndef HF_RULES_MODEL_H
#define HF_RULES_MODEL_H

#include "rules/store.h"
#include "rules/table.h"
#include "base/boot.h"

struct cell_bytes;
struct unpack;

struct store {
    const struct allocator *alloc;
    struct table table;
    struct held *free_holds;
    int has_news;          /* see hf__rules_store_has_news() */
    size_t sweep;          /* where to look for ended values */
    struct hf_info info;   /* lent with INSPECT and BREAK */
    struct list_row *rows; /* lent with LIST; NULL until the first */
    uint64_t id;           /* see hf__rules_store_identify() */
    unsigned lives;        /* restarts so far */
    int is_durable;
    struct marker marker;
    struct boot boot;        /* lent with BOOT */
    struct tally_told tally; /* lent with TALLY */
    char text[64];           /* lent with a sentence that has a number */
    int has_kinds;           /* another kind than plain was asked for */
    struct handoff handoff;  /* by the last request; no owner: none */
    int64_t queue_poll_us, queue_live_us, queue_handoff_us, queue_fresh_us;
    enum store_mutation mutation; /* always here, so that all files agree */
};

#ifdef HF_MUTATIONS
#define MUTATED(s, which) ((s)->mutation == STORE_MUT_##which)
#else
#define MUTATED(s, which) ((void)(s), 0)
#endif

static inline int64_t us_to_ms(int64_t us)
{
    return us / US_PER_MS;
}

static inline void reply_refuse(struct reply *rep, int status, const char *text)
{
    rep->verdict = V_ERROR;
    rep->status = status;
    rep->text = text;
}

#endif
