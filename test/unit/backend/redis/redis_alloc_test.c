/*
 * redis_alloc_test.c: memory runs out at every place in turn.  One rule: every
 * request is still answered once, nothing leaks, and the next one works.
 */
#include "lib/rig_redis.h"
#include "lib/starve.h"
#include "test.h"

TEST(redis_alloc, every_allocation_may_fail)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    starve_in_turn(r.url);
}
