/*
 * sim_check.h: what must always be true, one file each.  The rule: a check
 * looks, and changes nothing but its own notes.
 */
#ifndef HF_SIM_CHECK_H
#define HF_SIM_CHECK_H

#include "sim/sim.h"

/* check_exclusion.c */
void check_beliefs_before(struct sim_client *c);
void check_beliefs(struct sim_client *c);
void check_claims(struct sim_client *c);
int check_excused(const struct actor *a);
int check_believes(const struct actor *a, const struct seat *seat);
/* check_clock.c */
void check_clock_begin(struct sim_client *c);
void check_clock_heard(struct sim_client *c, int node, const struct packet *p);
void check_clock_trusted(struct sim_client *c, int node);
int check_clock_is_blind(const struct sim_client *c, int64_t since_us);
/* check_fence.c */
void check_granted(struct errand *er);
void check_entered(struct errand *er);
/* check_guard.c */
void guard_touch(struct actor *a);
void guard_write(struct actor *a);
/* check_callback.c */
void check_done(struct errand *er);
/* Was nothing wrong when it began?  Then the store must answer it. */
int check_is_well(const struct errand *er);
int check_is_overtaken(const struct actor *a, const struct hf_event *ev);
void check_notice(struct actor *a, const struct hf_event *ev);
void check_in_time(struct errand *er);
/* check_node.c */
void check_applied(struct sim *s, struct sim_node *n, const struct packet *p,
                   const struct store_view *before);
void check_node_reset(struct sim_node *n);
/* It is told to release an attempt.  Was it, and knows it still? */
void check_release(struct sim *s, struct sim_node *n, const struct packet *p);
void check_ticket_released(struct sim *s, const struct op *op);
int check_is_released(const struct sim_node *n, const char *owner,
                      uint64_t attempt);
void check_count(struct actor *a);
void check_told(const struct errand *er);
/* check_orphan.c */
struct sim_client *check_owner_of(struct sim *s, const char *owner);
int check_is_cut_off(const struct sim *s, const struct sim_client *c,
                     const struct sim_node *n); /* the two cannot talk */
int64_t check_patience_us(const struct sim *s);
void check_orphans(struct sim *s);
void check_all_free(struct sim *s);
/* check_progress.c */
void check_progress(struct sim *s);
void check_woken(struct sim *s);
/* check_plan.c */
void check_caps(struct sim_client *c);
void check_sent(struct sim_client *c, const struct request *req);
/* check_pass.c */
void check_passed(const struct errand *er);
int check_pass_excused(const struct actor *a);
int64_t check_pass_confirmed_us(const struct actor *a);
void check_chain_end(struct sim *s, const struct packet *p,
                     const struct store_view *after);
/* check_queue.c */
void check_queue(struct sim *s, struct sim_node *n, const struct packet *p,
                 const struct store_view *before);
void check_queue_reset(struct sim_node *n);
void check_squatters(struct sim *s);
void check_all_left(struct sim *s);
/* check_break.c */
void check_broken(struct sim_node *n, int name, const struct store_view *view);
void check_broken_reset(struct sim_node *n);
void check_revived(struct sim *s, const struct sim_node *n,
                   const struct packet *p);
/* check_rw.c */
void check_rw(struct sim *s, struct sim_node *n, const struct packet *p,
              const struct store_view *before);
void check_rw_reset(struct sim_node *n);
void check_rw_end(struct sim *s);
/* check_permit.c */
void check_permit_queue(const struct sim *s, struct sim_node *n,
                        const struct request *req);
void check_permits_out(struct sim *s, const struct sim_node *n,
                       const struct packet *p);
void check_permits_held(struct sim *s, const struct actor *a);
/* check_rw_orphan.c */
void check_rw_came(struct sim *s, const struct packet *p);
void check_rw_orphans(struct sim *s);
/* check_host.c */
void check_host_heard(const struct request *req, const struct reply *rep);
void check_host_asked(struct sim_client *c, const struct request *req);
void check_host_note(struct sim_client *c);
void check_host_granted(const struct errand *er);
void check_host_entered(const struct errand *er);
void check_host_rivals(struct actor *a, const struct seat *seat);
void check_host_free(struct sim *s);
/* check_vote.c */
void check_kept(struct sim *s, struct sim_node *n, struct packet *p,
                const struct store_view *before);
void check_vote_heard(struct sim_client *c, int node, const struct packet *p);
void check_votes(struct sim *s, const struct actor *a, const struct hold *h);
/* check_close.c */
void check_close_begins(struct sim_client *c);
void check_ended(const struct sim_client *c);
void check_closed(const struct sim_client *c);
/* check_leak.c */
void check_leak(struct sim_client *c);

#endif
