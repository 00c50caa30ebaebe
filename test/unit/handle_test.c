/*
 * handle_test.c: handles at the moments that no caller can time.  One rule: a
 * client is not freed under a thread that has one of its handles in hand, and
 * what nobody has a handle of is not held.
 */
#include "api/handle.h"

#include "api/hold_set.h"
#include "lib/rig.h"

/* ---- a client that is being closed --------------------------------------- */

static int grips_of(hf_client *c)
{
    struct grip g;
    hf_hold *hold = NULL;
    CHECK_INT(hf__handle_reserve(c, &hold), HF_OK); /* for the mutex */
    int grips = c->grips - 1;
    hf__handle_cancel(hold, c);
    CHECK_INT(hf__handle_take(hold, &g, 0), -1);
    return grips;
}

/* What was granted is let go of with the client in hand. */
TEST(handle, of_a_client_that_is_being_closed_is_in_hand_until_cancelled)
{
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    struct grip g = {.client = c};
    CHECK_INT(hf__handle_reserve(c, &hold), HF_OK);
    hf__handles_shut(c);
    CHECK_INT(hf__handle_fill(hold, c, &g), HF_CLOSED);
    CHECK_INT(grips_of(c), 1);
    hf__handle_cancel(hold, c);
    CHECK_INT(grips_of(c), 0);
}

static int is_free(void *lock)
{
    return rig_probe(lock) == HF_OK;
}

/* The set's own client is closed between its last lock and its handle. */
TEST(handle, that_a_set_cannot_get_any_more_leaves_nothing_held)
{
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(d, "a"), rig_lock(d, "b")};
    hf_client *e = rig_client(NULL);
    hf_lock *others[] = {rig_lock(e, "a"), rig_lock(e, "b")};
    for (int i = 0; i < 2; i++)
        CHECK_INT(hf_lock_try(locks[i], NULL, NULL), HF_OK);
    struct hold_set *set = hf__hold_set_reserve(c, 2);
    CHECK(set != NULL);
    hf__handles_shut(c);
    CHECK_INT(hf__hold_set_claim(set, c, locks, hf_holder_self(), &hold, NULL),
              HF_CLOSED);
    CHECK_INT(grips_of(c), 0);
    for (int i = 0; i < 2; i++) CHECK(rig_until(is_free, others[i]));
}
