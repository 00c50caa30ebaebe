/*
 * sim_event.c: time, chance and the queue of events.  The rule: of two events
 * at the same moment, the one that was planned first happens first.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/sim.h"
#include "sys/random.h"

uint64_t sim_random(struct sim *s)
{
    return hf__random_next(&s->random);
}

uint64_t sim_take_random(struct sim *s, uint64_t below)
{
    return hf__random_next(&s->take_random) % below;
}

uint64_t sim_host_random(struct sim *s, uint64_t below)
{
    return hf__random_next(&s->host_random) % below;
}

uint64_t sim_lose_random(struct sim *s, uint64_t below)
{
    return hf__random_next(&s->lose_random) % below;
}

uint64_t sim_even_random(struct sim *s, uint64_t below)
{
    return hf__random_next(&s->even_random) % below;
}

uint64_t sim_dice(uint64_t *dice, uint64_t below)
{
    return hf__random_next(dice) % below;
}

int64_t sim_between(struct sim *s, int64_t least, int64_t most)
{
    return least + (int64_t)(sim_random(s) % (uint64_t)(most - least + 1));
}

int sim_chance(struct sim *s, int permille)
{
    return (int)(sim_random(s) % 1000) < permille;
}

/* Mostly short, sometimes long: between a fiftieth and four times the mean. */
int64_t sim_about(struct sim *s, int64_t mean_us)
{
    if (sim_chance(s, 100)) return sim_between(s, mean_us, 4 * mean_us);
    return sim_between(s, mean_us / 50, mean_us * 3 / 2 + 1);
}

static int is_before(const struct event *a, const struct event *b)
{
    return a->at_us < b->at_us || (a->at_us == b->at_us && a->seq < b->seq);
}

static int queue_room(struct sim *s)
{
    if (s->queue_len < s->queue_room) return 1;
    size_t room = s->queue_room ? 2 * s->queue_room : 256;
    struct event *queue = realloc(s->queue, room * sizeof *queue);
    if (!queue) return 0;
    s->queue = queue;
    s->queue_room = room;
    return 1;
}

void sim_at(struct sim *s, int64_t at_us, event_fn fn, void *arg, uint64_t tag)
{
    if (!queue_room(s)) {
        sim_fail(s, "simulator: out of memory");
        return;
    }
    struct event ev = {.at_us = at_us < s->now_us ? s->now_us : at_us,
                       .seq = s->event_seq++,
                       .fn = fn,
                       .arg = arg,
                       .tag = tag};
    size_t i = s->queue_len++;
    while (i > 0 && is_before(&ev, &s->queue[(i - 1) / 2])) {
        s->queue[i] = s->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    s->queue[i] = ev;
}

static struct event queue_take(struct sim *s)
{
    struct event first = s->queue[0], last = s->queue[--s->queue_len];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->queue_len) break;
        if (child + 1 < s->queue_len
            && is_before(&s->queue[child + 1], &s->queue[child]))
            child++;
        if (!is_before(&s->queue[child], &last)) break;
        s->queue[i] = s->queue[child];
        i = child;
    }
    s->queue[i] = last;
    return first;
}

/* The next event.  0 if there is none, or the run is decided. */
int sim_step(struct sim *s)
{
    if (s->reason[0] || s->queue_len == 0) return 0;
    struct event ev = queue_take(s);
    s->now_us = ev.at_us;
    if (++s->events > SIM_EVENTS_MAX) {
        sim_fail(s, "engine: more than %d events: it runs in a circle",
                 SIM_EVENTS_MAX);
        return 0;
    }
    ev.fn(s, ev.arg, ev.tag);
    return 1;
}

/* The first violation counts; the rest follows from it. */
void sim_fail(struct sim *s, const char *format, ...)
{
    va_list ap;
    if (s->reason[0]) return;
    int at = snprintf(s->reason, sizeof s->reason,
                      "at %lld.%03lld ms: ", (long long)(s->now_us / 1000),
                      (long long)(s->now_us % 1000));
    va_start(ap, format);
    vsnprintf(s->reason + at, sizeof s->reason - (size_t)at, format, ap);
    va_end(ap);
    sim_trace(s, "VIOLATED %s", s->reason);
}

void sim_trace(const struct sim *s, const char *format, ...)
{
    va_list ap;
    if (!s->trace) return;
    printf("%9lld.%03lld ", (long long)(s->now_us / 1000),
           (long long)(s->now_us % 1000));
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
}
