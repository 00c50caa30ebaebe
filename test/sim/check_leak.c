/* check_leak.c: an engine that is closed has given all its memory back. */
#include "sim/sim.h"

void check_leak(struct sim_client *c)
{
    if (c->allocations != 0)
        sim_fail(c->sim, "leak: c%d left %lld allocations behind", c->index,
                 (long long)c->allocations);
}
