/*
 * voter.h: which nodes of a quorum may vote.  With one node these functions
 * do nothing.
 */
#ifndef HF_ENGINE_VOTER_H
#define HF_ENGINE_VOTER_H

#include "engine/engine.h"

/* Is it a member of a quorum, which must be settled before it votes? */
static inline int hf__is_member(const struct node *n)
{
    return !n->is_host && n->engine->conf.nodes > 1;
}

void hf__voters_begin(struct engine *e);
void hf__voters_ask(struct engine *e); /* VERB_BOOT, where it is due */
void hf__voters_tick(struct engine *e);
int64_t hf__voters_next_us(const struct engine *e);
int hf__voters_are_decided(const struct engine *e);
void hf__voters_want(struct engine *e); /* a lock is asked for */
const struct hf_error *hf__voters_refusal(const struct engine *e);

int hf__voter_is_left_blank(const struct engine *e, const struct node *n);
void hf__voter_link(struct engine *e, struct node *n, int up);
void hf__voter_unsettle(struct engine *e, struct node *n, unsigned boot_flags);
void hf__voter_answered(struct engine *e, struct node *n,
                        const struct request *r, const struct reply *rep);
/* End of its quarantine; 0: it is in none. */
int64_t hf__voter_settled_us(const struct engine *e, const struct node *n);

/* For how long a node that may have forgotten its locks does not vote. */
int64_t hf__quarantine_us(const struct hold_conf *conf, int64_t lease_us);

#endif
