/*
 * hold_parts.h: what the files of the hold machine share among themselves.
 *
 *   hold.c        the step: states, moves, the user's operations
 *   hold_round.c  asking the nodes and counting their answers
 *   hold_get.c    trying and waiting
 *   hold_queue.c  handed over by the store, to waiters of its queue
 *   hold_keep.c   granted, AT_RISK, LOST; the period, the cap and the feeding
 *   hold_renew.c  the answers to a renewal, and healing
 *   hold_pass.c   handing over within the process
 */
#ifndef HF_CORE_HOLD_PARTS_H
#define HF_CORE_HOLD_PARTS_H

#include "core/hold.h"
#include "core/round.h"

#define NODE(i) ((uint16_t)BIT(i)) /* one node, in a mask of NODES_MAX */

/* answer_by_us: something is asked, and may stay unanswered.  Not TIME_NEVER,
 * which says that nothing is asked. */
#define PATIENCE_ENDLESS (TIME_NEVER - 1)

/* hold.c */
void hf__hold_move(struct hold *h, enum hold_state next);
void hf__hold_finish(struct hold *h, struct hold_out *out, int status);

/* hold_round.c */
uint16_t hf__round_all(const struct hold *h);
int hf__round_is_impossible(const struct hold *h);
void hf__round_propose(struct hold *h, const struct hold_event *ev,
                       struct hold_out *out);
void hf__round_renew(struct hold *h, int64_t now_us, struct hold_out *out);
void hf__round_release(struct hold *h, uint32_t nodes, int64_t now_us,
                       struct hold_out *out);
int64_t hf__round_lease_us(const struct hold *h);
int64_t hf__round_lease_end_us(const struct hold *h);
uint16_t hf__round_maybe_ours(const struct hold *h);
int hf__round_is_barred(const struct hold *h);
void hf__round_heal(struct hold *h, uint32_t nodes, const struct hold_event *ev,
                    struct hold_out *out);

/* hold_get.c */
void hf__get_begin(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out);
void hf__get_event(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out);
void hf__get_attach(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out);
void hf__get_abandon(struct hold *h, int status, int64_t now_us,
                     struct hold_out *out);

/* hold_queue.c */
int hf__queue_is_known(struct hold *h);
int hf__queue_is_handed(const struct hold *h, const struct hold_event *ev);
int hf__queue_take(struct hold *h, const struct hold_event *ev,
                   struct hold_out *out);

/* hold_keep.c */
int64_t hf__keep_lease_us(const struct hold *h, int64_t now_us);
int hf__keep_is_useful(const struct hold *h, int64_t now_us);
void hf__keep_begin(struct hold *h, int64_t start_us, int64_t now_us);
int hf__keep_is_fed(const struct hold *h, int64_t now_us);
/* When to renew; until when the hold is valid: both from the round's start. */
void hf__keep_schedule(struct hold *h);
void hf__keep_valid_set(struct hold *h, int64_t now_us);
void hf__keep_granted(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out);
void hf__keep_event(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out);
void hf__keep_lose(struct hold *h, int status, int64_t now_us,
                   struct hold_out *out);

/* hold_renew.c */
void hf__renew_reply(struct hold *h, const struct hold_event *ev,
                     struct hold_out *out);
void hf__renew_step(struct hold *h, const struct hold_event *ev,
                    struct hold_out *out);
void hf__change_failed(struct hold *h, struct hold_out *out, int status);

/* hold_pass.c */
void hf__pass_ask(struct hold *h, int64_t nodes_now_us);
void hf__pass_open(struct hold *h, int64_t now_us);
int64_t hf__pass_number(const struct hold *h, int64_t number);
void hf__pass_yield(struct hold *h, struct hold_out *out);
void hf__pass_inherit(struct hold *h, const struct hold_event *ev,
                      struct hold_out *out);

#endif
