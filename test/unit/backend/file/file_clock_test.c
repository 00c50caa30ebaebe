/*
 * file_clock_test.c: locks in files, and a wall clock that is set back.  One
 * rule: a fence is above all that the file remembers, whatever the clock says;
 * leases are counted on another clock.
 */
#include "file_rig.h"
#include "holdfast/holdfast.h"

#define AHEAD_US (3600 * US_PER_S)

static struct rig a;

/* A record of a holder an hour from now: the clock was right then, and has been
 * set back since. */
static const char *clock_is_set_back(int64_t *fence)
{
    const char *dir = dir_make();
    rig_start(&a, dir);
    rig_req(&a, VERB_PROPOSE, "x", "a:1", 1, REQ_SERVER_FENCE | REQ_NO_EXPIRY);
    a.req.ballot = hf__clock_wall_us() + AHEAD_US;
    a.req.info = "4711 somehost a label";
    CHECK_INT(rig_send(&a), V_GRANTED);
    *fence = a.reply.fence;
    CHECK(*fence > hf__clock_wall_us());
    return dir;
}

static void client_end(void *arg)
{
    hf_client_close(arg);
}

static hf_lock *lock_open(const char *dir)
{
    char url[512];
    hf_client *c;
    hf_lock *l;
    snprintf(url, sizeof url, "file:%s", dir);
    CHECK_INT(hf_client_open(url, NULL, &c, NULL), HF_OK);
    test_cleanup(client_end, c);
    CHECK_INT(hf_lock_open(c, "x", &l, NULL), HF_OK);
    return l;
}

TEST(file_clock, set_back_the_fence_still_rises)
{
    int64_t fence;
    hf_hold *g;
    hf_lock *l = lock_open(clock_is_set_back(&fence));
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK(hf_hold_fence(g) > (uint64_t)fence);
}

TEST(file_clock, set_back_a_lock_that_is_held_stays_so)
{
    int64_t fence;
    hf_lock *l = lock_open(clock_is_set_back(&fence));
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}
