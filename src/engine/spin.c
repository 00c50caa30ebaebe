/* spin.c: see spin.h. */
#include "engine/spin.h"

#include <unistd.h>

#define TRIAL_WAITS 64  /* measured each way */
#define KEEP_WAITS 4096 /* the better way, before the next trial */

static void trial_begin(struct spin *s, int trial)
{
    s->trial = trial;
    s->spins = trial == 0;
    s->left = TRIAL_WAITS;
    s->sum_us[trial] = 0;
}

void hf__spin_init(struct spin *s, int64_t limit_us)
{
    int cores = sysconf(_SC_NPROCESSORS_ONLN) > 1;
    s->limit_us = limit_us > 0 && cores ? limit_us : 0;
    trial_begin(s, 0);
}

void hf__spin_turn(struct spin *s)
{
    if (s->trial == 0) {
        trial_begin(s, 1);
    } else if (s->trial == 1) {
        /* Spinning costs a core: it must win clearly. */
        s->spins = s->sum_us[0] * 10 < s->sum_us[1] * 9;
        s->trial = 2;
        s->left = KEEP_WAITS;
    } else {
        trial_begin(s, 0);
    }
}
