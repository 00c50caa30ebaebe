/*
 * model.h: what the files of the store share with each other, and with
 * nobody else.
 */
#ifndef HF_MEMORY_MODEL_H
#define HF_MEMORY_MODEL_H

#include "backend/memory/store.h"
#include "backend/memory/table.h"
#include "base/boot.h"

struct store {
    const struct allocator *alloc;
    struct table table;
    struct held *free_holds;
    int has_news;          /* see hf__memory_store_has_news() */
    size_t sweep;          /* where to look for ended values */
    uint64_t dropped;      /* the highest version that is gone */
    struct hf_info info;   /* lent with INSPECT and BREAK */
    struct list_row *rows; /* lent with LIST; NULL until the first */
    uint64_t id;           /* see hf__memory_store_identify() */
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

/* Redis compares whole milliseconds, and only a later one ends the key. */
static inline int held_is_over(const struct held *held, int64_t now_us)
{
    return us_to_ms(now_us) > held->expires_ms;
}

static inline void reply_refuse(struct reply *rep, int status, const char *text)
{
    rep->verdict = V_ERROR;
    rep->status = status;
    rep->text = text;
}

/* Give `e`, which is free or that owner's, to the asker, with this token; the
 * counter is left to the caller.  HF_OK or HF_NOMEM. */
int hf__memory_hold_give(struct store *s, struct entry *e, int64_t now_us,
                         const struct request *req, int64_t fence);
void hf__memory_hold_lease(const struct store *s, struct held *held,
                           int64_t now_us, int64_t lease_us);
int64_t hf__memory_hold_ttl_us(const struct held *held, int64_t now_us);

/* ---- queue.c ---- */
/* Answer a proposal of a waiter in the queue; 0: it is an ordinary one. */
int hf__memory_queue_propose(struct store *s, struct entry *e, int64_t now_us,
                             const struct request *req, struct reply *rep);
/* The lock is free, be it by its holder's release: give it to the first.  0:
 * nobody waits. */
int hf__memory_queue_give(struct store *s, struct entry *e, int64_t now_us,
                          int is_released);
/* An owner that releases waits no longer. */
void hf__memory_queue_leave(struct store *s, struct entry *e, int64_t now_us,
                            const struct request *req);
/* The lock is taken away from its holder, whose later proposals may still be
 * under way.  The counter has been raised. */
void hf__memory_queue_break(struct store *s, struct entry *e);
/* How many wait, and at which place `owner` does; 0: it does not. */
int64_t hf__memory_queue_count(const struct entry *e, const char *owner,
                               int64_t *position);
void hf__memory_queue_free(struct store *s, struct entry *e);

/* Free the lock of `e`, if it has one. */
void hf__memory_hold_free(struct store *s, struct entry *e);

/* Fill `info` with what is known of `e` (NULL: nothing) for `req`; returns the
 * holder's fence, or 0. */
int64_t hf__memory_report_info(const struct entry *e, int64_t now_us,
                               const struct request *req, struct hf_info *info);
/* The same with "<pid> <host> <label>". */
void hf__memory_report_holder(const char *text, struct hf_info *info);

/* Is it held by readers or a writer? */
int hf__memory_rw_is_held(const struct entry *e, int64_t now_us);

/* Answer PROPOSE, RENEW and RELEASE of a read/write lock; take it away from all
 * its holders; and, of one that is held, fill `info` for `req`: its fence. */
void hf__memory_rw_apply(struct store *s, int64_t now_us,
                         const struct request *req, struct reply *rep);
void hf__memory_rw_break(struct store *s, struct entry *e, int64_t now_us);
int64_t hf__memory_rw_info(const struct entry *e, int64_t now_us,
                           const struct request *req, struct hf_info *info);

/* Answer OP_VALUE_READ and OP_VALUE_WRITE; drop all values. */
void hf__memory_value_read(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);
void hf__memory_value_write(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);
void hf__memory_value_free_all(struct store *s);

/* Does `e` (may be NULL) have a value at this time? */
int hf__memory_value_is_there(struct store *s, struct entry *e, int64_t now_us);

/* Answer OP_GUARD; drop a guarded value that has ended; forget all guards and
 * what they guard. */
void hf__memory_guard_apply(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);
void hf__memory_guard_sweep(struct store *s, struct entry *e, int64_t now_us);
void hf__memory_guard_free_all(struct store *s);
/* Answer OP_BOOT. */
void hf__memory_boot_apply(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep);

/* use.c: is it about what is stored under one name? */
int hf__memory_use_is_asked(const struct request *req);
/* What the name of `req` is in use as, as a sentence, if that
 * bars it; else NULL. */
const char *hf__memory_use_conflict(struct store *s, int64_t now_us,
                                    const struct request *req);

/* Answer everything about semaphores and plain counters: 1; 0: it is not.  Is
 * one in use under the name of `e` (may be NULL)?  Forget all of them. */
int hf__memory_permit_apply(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);
void hf__memory_tally_apply(struct store *s, struct permits *p, int64_t now_us,
                            const struct request *req, struct reply *rep);
int hf__memory_permit_is_used(struct store *s, const struct entry *e,
                              int64_t now_us);
void hf__memory_permit_free_all(struct store *s);

/* A sentence with a number in it, into s->text. */
void hf__memory_gate_text(struct store *s, const char *format, int64_t number)
    __attribute__((format(printf, 2, 0)));

/* gate.c: answer what is about a latch or a barrier; 0 if it is not. */
int hf__memory_gate_apply(struct store *s, int64_t now_us,
                          const struct request *req, struct reply *rep);
void hf__memory_gate_free_all(struct store *s);

/* latch.c; `e` may be NULL in the first three. */
int hf__memory_latch_is_used(const struct entry *e);
void hf__memory_latch_wait(struct store *s, int64_t now_us, struct entry *e,
                           const struct request *req, struct reply *rep);
void hf__memory_latch_tally(struct store *s, int64_t now_us, struct entry *e,
                            const struct request *req, struct reply *rep);
void hf__memory_latch_free(struct store *s, struct entry *e);

/* barrier.c; `e` may be NULL where nothing is made. */
int hf__memory_barrier_is_used(struct store *s, struct entry *e,
                               int64_t now_us);
void hf__memory_barrier_wait(struct store *s, int64_t now_us, struct entry *e,
                             const struct request *req, struct reply *rep);
void hf__memory_barrier_leave(struct store *s, int64_t now_us, struct entry *e,
                              const struct request *req, struct reply *rep);
void hf__memory_barrier_tally(struct store *s, int64_t now_us, struct entry *e,
                              const struct request *req, struct reply *rep);
void hf__memory_barrier_free(struct store *s, struct entry *e);

/* Answer OP_LIST. */
void hf__memory_report_list(struct store *s, int64_t now_us,
                            const struct request *req, struct reply *rep);

#endif
