/*
 * play/record.c: see play/record.h.
 */
#include "play/record.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t record_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int record_lane(struct record *r, enum lane_kind kind, const char *name)
{
    if (r->lanes_len == LANES_MAX) return NO_LANE;
    struct lane *l = &r->lanes[r->lanes_len];
    l->kind = kind;
    snprintf(l->name, sizeof(l->name), "%s", name);
    return r->lanes_len++;
}

const struct event *record_event(struct record *r, const struct event *e)
{
    int at = r->events_len < EVENTS_MAX ? r->events_len++ : EVENTS_MAX - 1;
    struct event *kept = &r->events[at];
    *kept = *e;
    kept->at_us -= r->began_us;
    if (kept->kind == EVENT_BELIEVES && kept->until_us != UNTIL_TOLD)
        kept->until_us -= r->began_us;
    return kept;
}

/* ---- bars ------------------------------------------------------------ */

struct bars {
    struct bar *at;
    int len;
    int open[LANES_MAX]; /* the bar of a kind that is looked for, or -1 */
    const struct record *r;
};

static void bar_open(struct bars *b, enum bar_kind kind, const struct event *e)
{
    if (b->len == BARS_MAX) return;
    b->open[e->lane] = b->len;
    b->at[b->len++] =
        (struct bar){kind, e->lane, e->other, e->at_us, e->at_us, e->fence};
}

static void bar_close(struct bars *b, int lane, int64_t at_us)
{
    if (b->open[lane] >= 0) b->at[b->open[lane]].to_us = at_us;
    b->open[lane] = -1;
}

/* A belief ends when its client says so or when its time is over, whichever is
 * first. */
static void belief_step(struct bars *b, int64_t until_us[],
                        const struct event *e)
{
    int at = b->open[e->lane];
    if (e->kind == EVENT_BELIEVES) {
        if (at >= 0 && b->at[at].fence != e->fence) {
            bar_close(b, e->lane, e->at_us);
            at = -1;
        }
        if (at < 0) bar_open(b, BAR_BELIEVES, e);
        until_us[e->lane] = e->until_us;
    }
    if (at >= 0 && (e->kind == EVENT_ENDS || e->kind == EVENT_KILLED)) {
        int64_t end_us = e->at_us;
        if (until_us[e->lane] < end_us) end_us = until_us[e->lane];
        bar_close(b, e->lane, end_us);
    }
}

static void beliefs_find(struct bars *b)
{
    int64_t until_us[LANES_MAX] = {0};
    for (int i = 0; i < b->r->events_len; i++)
        belief_step(b, until_us, &b->r->events[i]);
    for (int i = 0; i < b->r->lanes_len; i++) {
        if (b->open[i] < 0) continue;
        int64_t end_us = b->r->ended_us;
        bar_close(b, i, until_us[i] < end_us ? until_us[i] : end_us);
    }
}

/* Bars of one kind, from an event of the first set of kinds up to the next one
 * of the second. */
static void kind_find(struct bars *b, enum bar_kind kind, unsigned begins,
                      unsigned ends)
{
    for (int i = 0; i < b->r->events_len; i++) {
        const struct event *e = &b->r->events[i];
        if (ends & 1u << e->kind) bar_close(b, e->lane, e->at_us);
        int has_owner = e->kind != EVENT_HAS || e->other != NO_LANE;
        int is_there =
            e->kind != EVENT_KILLED || b->r->lanes[e->lane].kind == LANE_STORE;
        if (begins & 1u << e->kind && has_owner && is_there)
            bar_open(b, kind, e);
    }
    for (int i = 0; i < b->r->lanes_len; i++) bar_close(b, i, b->r->ended_us);
}

int record_bars(const struct record *r, struct bar bars[BARS_MAX])
{
    struct bars b = {.at = bars, .r = r};
    for (int i = 0; i < LANES_MAX; i++) b.open[i] = -1;
    kind_find(&b, BAR_WAITS, 1u << EVENT_ASKS,
              1u << EVENT_BELIEVES | 1u << EVENT_TAKEN | 1u << EVENT_ENDS
                  | 1u << EVENT_KILLED);
    beliefs_find(&b);
    kind_find(&b, BAR_HAS, 1u << EVENT_HAS,
              1u << EVENT_HAS | 1u << EVENT_KILLED);
    kind_find(&b, BAR_PAUSED, 1u << EVENT_PAUSED,
              1u << EVENT_RESUMED | 1u << EVENT_KILLED);
    kind_find(&b, BAR_DOWN, 1u << EVENT_KILLED, 1u << EVENT_STARTED);
    return b.len;
}

/* ---- what was wrong --------------------------------------------------- */

int record_overlaps(const struct record *r,
                    struct overlap overlaps[OVERLAPS_MAX])
{
    struct bar bars[BARS_MAX];
    int len = record_bars(r, bars), found = 0;
    for (int i = 0; i < len; i++) {
        for (int j = i + 1; j < len && found < OVERLAPS_MAX; j++) {
            const struct bar *a = &bars[i], *b = &bars[j];
            if (a->kind != BAR_BELIEVES || b->kind != BAR_BELIEVES
                || a->lane == b->lane)
                continue;
            int64_t from_us = a->from_us > b->from_us ? a->from_us : b->from_us;
            int64_t to_us = a->to_us < b->to_us ? a->to_us : b->to_us;
            if (from_us >= to_us) continue;
            overlaps[found++] =
                (struct overlap){from_us, to_us, {a->lane, b->lane}};
        }
    }
    return found;
}

int record_is_stale(const struct record *r, const struct event *write)
{
    struct bar bars[BARS_MAX];
    int len = record_bars(r, bars);
    int64_t granted_us = -1;
    if (write->kind != EVENT_ACCEPTED) return 0;
    for (int i = 0; i < len; i++)
        if (bars[i].kind == BAR_BELIEVES && bars[i].lane == write->other
            && bars[i].from_us <= write->at_us && bars[i].from_us > granted_us)
            granted_us = bars[i].from_us;
    for (int i = 0; i < len; i++)
        if (bars[i].kind == BAR_BELIEVES && bars[i].lane != write->other
            && bars[i].from_us > granted_us && bars[i].from_us < write->at_us)
            return 1;
    return 0;
}

/* Each grant is counted once: renewals repeat its fence. */
int record_fence_place(const struct record *r, uint64_t fence)
{
    struct bar bars[BARS_MAX];
    int len = record_bars(r, bars), place = 1;
    for (int i = 0; i < len; i++)
        if (bars[i].kind == BAR_BELIEVES && bars[i].fence
            && bars[i].fence < fence)
            place++;
    return place;
}
