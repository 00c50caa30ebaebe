/*
 * fallback_answered_test.c: fallback=local and a store that answers, if only to
 * refuse.  One rule: where the store can be asked, this host's lock is not
 * taken, for others may be granted the store's.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig_fallback.h"

static struct fall f;

static hf_lock *local_lock(const char *url)
{
    struct hf_client_options o = fall_options(&f);
    return rig_lock(rig_client_at(url, &o), "a");
}

static void check_refused(hf_lock *l, const char *words)
{
    struct hf_error err = {0};
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
    if (!strstr(err.text, words))
        TEST_FAIL("\"%s\" lacks \"%s\"", err.text, words);
    CHECK_INT(rig_acquire(l, 0, RIG_NO_LIMIT, NULL), HF_UNAVAILABLE);
    CHECK_INT(fall_files(&f), 0);
    CHECK_INT(atomic_load(&f.warnings), 0);
}

TEST(fallback_answered, replicas_that_are_missing_are_no_silence)
{
    char url[600];
    fall_begin(&f, "local");
    snprintf(url, sizeof url, "%s&wait=1", f.url);
    check_refused(local_lock(url), "0 of 1 replicas");
}

TEST(fallback_answered, a_full_server_is_no_silent_one)
{
    fall_begin(&f, "local");
    hf_lock *l = local_lock(f.url);
    CHECK_STR(redis_say(&f.redis, "CONFIG SET maxmemory 1"), "OK");
    check_refused(l, "memory is full");
}

/* One of the two keys of the lock has gone to the new node, so to say. */
TEST(fallback_answered, a_cluster_that_moves_the_key_is_no_silent_one)
{
    static struct lab_cluster c;
    char url[1100];
    fall_begin_beside(&f, "local");
    cluster_rig_begin(&c, 2, 0);
    snprintf(url, sizeof url, "%s%s", c.url, strchr(f.url, '?'));
    hf_lock *l = local_lock(url);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    int from = cluster_rig_at(&c, "a");
    cluster_rig_move_begin(&c, cluster_rig_slot(&c, "a"), from, 1 - from);
    check_refused(l, "moving the key");
}

TEST(fallback_answered, a_server_that_refused_and_is_gone_is_replaced)
{
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_lock *l = local_lock(f.url);
    CHECK_STR(redis_say(&f.redis, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
}
