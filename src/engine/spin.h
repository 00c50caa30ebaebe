/*
 * spin.h: should a lone caller spin before it sleeps?
 *
 * On an idle machine a round trip is dominated by cores going to sleep, and a
 * short spin wins more than it costs; on a busy machine it loses, and by how
 * much depends on what else wants the core.  So it is measured: some waits are
 * made each way, the faster way is kept for many more, and then measured again.
 */
#ifndef HF_ENGINE_SPIN_H
#define HF_ENGINE_SPIN_H

#include <stdint.h>

#define SPIN_TOOK_US_MAX 5000 /* so that one long wait does not decide */

struct spin {
    int64_t limit_us;  /* 0: never */
    int spins;         /* the way of the current stretch of waits */
    int left;          /* waits left in it */
    int trial;         /* being measured: 0 spinning, 1 sleeping, 2 neither */
    int64_t sum_us[2]; /* of the trials */
};

/* `limit_us` <= 0 or a single core: never. */
void hf__spin_init(struct spin *s, int64_t limit_us);

/* Spin this time? */
static inline int hf__spin_begin(const struct spin *s)
{
    return s->limit_us > 0 && s->spins;
}

/* The stretch of waits is over: the next one begins. */
void hf__spin_turn(struct spin *s);

/* One wait is over, by spinning or by sleeping; it took `took_us`. */
static inline void hf__spin_end(struct spin *s, int64_t took_us)
{
    if (s->limit_us == 0) return;
    if (took_us > SPIN_TOOK_US_MAX) took_us = SPIN_TOOK_US_MAX;
    if (s->trial < 2) s->sum_us[s->trial] += took_us;
    if (--s->left == 0) hf__spin_turn(s);
}

#endif
