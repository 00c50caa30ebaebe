/*
 * play/judge.c: the verdict on a run, from its record alone.
 */
#include "play/run.h"

#include <stdio.h>

/* Overlaps of three clients are counted by pair: it is a fault either way. */
static int64_t overlap_sum_us(const struct record *r)
{
    struct overlap overlaps[OVERLAPS_MAX];
    int len = record_overlaps(r, overlaps);
    int64_t sum_us = 0;
    for (int i = 0; i < len; i++)
        sum_us += overlaps[i].to_us - overlaps[i].from_us;
    return sum_us;
}

static void writes_count(struct play *p)
{
    for (int i = 0; i < p->record.events_len; i++) {
        const struct event *e = &p->record.events[i];
        p->accepted += e->kind == EVENT_ACCEPTED;
        p->refused += e->kind == EVENT_REFUSED;
        p->stale += record_is_stale(&p->record, e);
    }
}

static size_t text_add(char *out, size_t size, size_t len, const char *format,
                       long long value)
{
    if (len >= size) return len;
    int n = snprintf(out + len, size - len, format, value);
    return n > 0 ? len + (size_t)n : len;
}

static void verdict_write(struct play *p)
{
    size_t size = sizeof(p->verdict), len = 0;
    if (p->said[0])
        len = (size_t)snprintf(p->verdict, size, "%s", p->said);
    else if (p->overlap_us == 0)
        len =
            text_add(p->verdict, size, len,
                     "at no time did two clients believe to hold the lock", 0);
    if (p->overlap_us > 0)
        len = text_add(p->verdict, size, len,
                       len ? "; two clients believed to hold the lock, for "
                             "%lld ms"
                           : "two clients believed to hold the lock, for "
                             "%lld ms",
                       p->overlap_us / 1000);
    if (p->stale > 0)
        len = text_add(p->verdict, size, len,
                       "; writes of a former holder that were accepted: %lld",
                       p->stale);
    if (p->refused > 0)
        (void)text_add(p->verdict, size, len,
                       "; writes of a former holder that were refused: %lld",
                       p->refused);
}

void run_judge(struct play *p)
{
    p->overlap_us = overlap_sum_us(&p->record);
    writes_count(p);
    if (p->overlap_us > 0) p->faults |= FAULT_OVERLAP;
    if (p->stale > 0) p->faults |= FAULT_CORRUPT;
    verdict_write(p);
}
