/* ballot.c: see ballot.h. */
#include "core/ballot.h"

#include <assert.h>

int64_t hf__ballot_next(struct ballot *b, int64_t nodes_now_us)
{
    int64_t next = nodes_now_us;
    assert(b->seen >= 0 && b->proposed >= 0);
    if (next <= b->seen) next = b->seen + 1;
    if (next <= b->proposed) next = b->proposed + 1;
    b->proposed = next;
    return next;
}

void hf__ballot_saw(struct ballot *b, int64_t counter)
{
    if (counter > b->seen) b->seen = counter;
}
