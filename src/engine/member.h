/*
 * member.h: which nodes of a quorum may vote.  With one node these functions
 * do nothing.
 */
#ifndef HF_ENGINE_MEMBER_H
#define HF_ENGINE_MEMBER_H

#include "engine/engine.h"

/* Is it a member of a quorum, which must be settled before it votes? */
static inline int hf__is_member(const struct node *n)
{
    return !n->is_host && n->engine->conf.nodes > 1;
}

void hf__members_begin(struct engine *e);
void hf__members_ask(struct engine *e); /* OP_BOOT, where it is due */
void hf__members_tick(struct engine *e);
int64_t hf__members_next_us(const struct engine *e);
int hf__members_are_decided(const struct engine *e);
void hf__members_want(struct engine *e); /* a lock is asked for */
const struct hf_error *hf__members_refusal(const struct engine *e);

int hf__member_is_left_blank(const struct engine *e, const struct node *n);
void hf__member_link(struct engine *e, struct node *n, int up);
void hf__member_unsettle(struct engine *e, struct node *n, unsigned boot_flags);
void hf__member_answered(struct engine *e, struct node *n,
                         const struct request *r, const struct reply *rep);
/* End of its quarantine; 0: it is in none. */
int64_t hf__member_settled_us(const struct engine *e, const struct node *n);

/* For how long a node that may have forgotten its locks does not vote. */
int64_t hf__quarantine_us(const struct hold_conf *conf, int64_t lease_us);

#endif
