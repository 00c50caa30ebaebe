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
 * so a slow reply is no step.  The rule: since our own time is read once per
 * step, and we may have been held up since, one reply makes a suspect, and only
 * further ones, each in a later step, make it certain.
 */
#include <stdio.h>

#include "base/math.h"
#include "engine/engine.h"

#define STEP_SLACK_US (1 * US_PER_MS)
#define LOOKS_MIN 4 /* we are not held up so often in a row */

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

/* Every hold that counts on this node hears of it. */
static void step_tell(struct engine *e, const struct node *n)
{
    struct hold_event ev = {
        .type = EV_STEP, .node = n->index, .since_us = n->sample.heard_us};
    for (size_t i = 0; i < e->table_size; i++) {
        for (struct lock_entry *t = e->table[i], *after; t; t = after) {
            t->refs++;
            for (struct slot *s = t->slots, *next; s; s = next) {
                next = s->next;
                if (s->hold.state == HOLD_HELD || s->hold.state == HOLD_TRYING)
                    hf__slot_step(e, s, &ev);
            }
            after = t->hash_next;
            hf__entry_unref(e, t);
        }
    }
}

static void step_suspect(struct engine *e, struct node *n)
{
    if (n->suspect && e->now_us <= n->suspect_us) return;
    n->suspect++;
    n->suspect_us = e->now_us;
    hf__member_unsettle(e, n, REQ_BOOT_LOOK);
}

static void sample_set(struct engine *e, struct node *n,
                       const struct request *r, const struct reply *rep)
{
    n->sample = (struct clock_sample){
        .sent_us = r->sent_us, .heard_us = e->now_us, .node_us = rep->node_us};
}

void hf__clock_heard(struct engine *e, struct node *n, const struct request *r,
                     const struct reply *rep)
{
    const struct clock_sample *last = &n->sample;
    if (!rep->node_us || rep->verdict > V_ERROR) return;
    if (!last->heard_us) {
        sample_set(e, n, r, rep);
        return;
    }
    int64_t least = r->sent_us - last->heard_us;
    int64_t most = e->now_us - last->sent_us;
    int64_t went = rep->node_us - last->node_us;
    int64_t ahead =
        went - most - part64(most, e->conf.drift_ppm) - STEP_SLACK_US;
    int64_t behind = went - least
                     + part64(max64(least, -least), e->conf.drift_ppm)
                     + STEP_SLACK_US;
    if (ahead > 0 && !(n->suspect >= LOOKS_MIN && e->now_us > n->suspect_us)) {
        step_suspect(e, n);
        return;
    }
    if (ahead > 0) {
        step_log(e, n, ahead);
        step_tell(e, n);
        hf__member_unsettle(e, n, REQ_BOOT_STEP);
    } else if (n->suspect) {
        hf__member_unsettle(e, n, 0); /* we had been held up */
    }
    if (behind < 0) step_log(e, n, behind);
    n->suspect = 0;
    sample_set(e, n, r, rep);
}
