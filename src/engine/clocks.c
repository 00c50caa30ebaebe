/*
 * clocks.c: has a node's clock been set?
 *
 * Every reply tells the node's time.  Between two replies it must have gone on
 * by at least the time from hearing the first to sending for the second, and by
 * at most that from sending for the first to hearing the second:
 *
 *        |-------------- at most --------------|
 *     sent ... heard             sent ... heard
 *               |--- at least ----|
 *
 * so a slow reply is no step: it only tells less.  The step is by how much the
 * node's clock was set in addition.  It lies between two bounds, and is forward
 * for certain if the lower bound is above 0.
 *
 * The rule: a node is suspect from the reply on that shows a step forward, and
 * a suspect node does not vote, not even by that reply.  A reply that tells too
 * little does not clear the node; a reply that contradicts the suspicion does.
 * LOOKS_MIN further replies, each in a later step of the engine, make it
 * certain: then the node's quarantine begins.
 */
#include "engine/clocks.h"

#include <stdio.h>

#include "base/math.h"
#include "core/mutation.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/voter.h"
#include "engine/nodes.h"

#define STEP_SLACK_US (1 * US_PER_MS)
#define LOOKS_MIN 4 /* this thread is not held up as often in a row */

static void step_log(struct engine *e, const struct node *n, int64_t by_us)
{
    char line[HF_ERROR_TEXT_MAX];
    if (!e->log) return;
    snprintf(line, sizeof line, "%s: its clock was set %s by %lld ms or more%s",
             n->url ? n->url : "node", by_us > 0 ? "forward" : "back",
             (long long)((by_us > 0 ? by_us : -by_us) / US_PER_MS),
             by_us > 0 ? ": it does not vote until every lease has ended" : "");
    e->log(e, HF_LOG_WARN, line);
}

static void step_tell_holds(struct engine *e, const struct lock_entry *entry,
                            struct hold_event *ev)
{
    struct seat_walk walk;
    hf__walk_begin(e, &walk, entry);
    for (struct seat *s; (s = hf__walk_next(e, &walk));)
        if (s->hold.state == HOLD_HELD || s->hold.state == HOLD_TRYING)
            hf__seat_step(e, s, ev);
}

/* Tell every hold that may count on this node: not those of this host. */
static void step_tell(struct engine *e, const struct node *n)
{
    struct hold_event ev = {
        .type = EV_STEP, .node = n->index, .since_us = n->sample.heard_us};
    for (size_t i = 0; i < e->table_size; i++) {
        for (struct lock_entry *t = e->table[i], *after; t; t = after) {
            t->refs++;
            if (!t->is_host) step_tell_holds(e, t, &ev);
            after = t->hash_next;
            hf__entry_unref(e, t);
        }
    }
}

/* How far the node's clock was set between two replies; below 0 back. */
struct step {
    int64_t least_us, most_us;
};

static struct step step_of(const struct engine *e, const struct node *n,
                           const struct request *r, int64_t heard,
                           int64_t node_us)
{
    const struct clock_sample *last = &n->sample;
    int64_t least = r->sent_us - last->heard_us;
    int64_t most =
        heard - (MUTATED(STEP_HASTY) ? last->heard_us : last->sent_us);
    int64_t went = node_us - last->node_us;
    int64_t drift_ppm = e->conf.drift_ppm;
    return (struct step){
        .least_us = went - most - part64(most, drift_ppm) - STEP_SLACK_US,
        .most_us = went - least + part64(max64(least, -least), drift_ppm)
                   + STEP_SLACK_US};
}

/* Count one more reply that shows a step.  1 once the step is certain. */
static int step_suspect(struct engine *e, struct node *n, int64_t by_us)
{
    if (n->suspect && e->now_us <= n->suspect_us) return 0;
    n->suspect_by_us = n->suspect ? max64(n->suspect_by_us, by_us) : by_us;
    if (n->suspect >= LOOKS_MIN) return 1;
    n->suspect++;
    n->suspect_us = e->now_us;
    hf__voter_unsettle(e, n, REQ_BOOT_LOOK);
    return 0;
}

static void step_convict(struct engine *e, struct node *n)
{
    step_log(e, n, n->suspect_by_us);
    step_tell(e, n);
    hf__voter_unsettle(e, n, REQ_BOOT_STEP);
}

static void sample_set(struct node *n, const struct request *r, int64_t heard,
                       const struct reply *rep)
{
    n->sample = (struct clock_sample){
        .sent_us = r->sent_us, .heard_us = heard, .node_us = rep->node_us};
}

void hf__clocks_heard(struct engine *e, struct node *n, const struct request *r,
                      const struct reply *rep)
{
    if (!rep->node_us || rep->verdict > V_ERROR) return;
    int64_t heard = hf__engine_heard_us(e);
    if (!n->sample.heard_us) {
        sample_set(n, r, heard, rep);
        return;
    }
    struct step s = step_of(e, n, r, heard, rep->node_us);
    if (s.least_us > 0 || (n->suspect && s.most_us >= n->suspect_by_us)) {
        if (!step_suspect(e, n, s.least_us)) return;
        step_convict(e, n);
    } else if (n->suspect) {
        hf__voter_unsettle(e, n, 0); /* the clock was not set */
    }
    if (s.most_us < 0) step_log(e, n, s.most_us);
    n->suspect = 0;
    sample_set(n, r, heard, rep);
}
