/*
 * script_flush_test.c: SCRIPT FLUSH at any moment.  One rule: the server's
 * cache of scripts is a help, never a need; no caller sees it empty.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

TEST(script_flush, between_calls_is_not_noticed)
{
    static struct lab_server r;
    struct hf_info info = HF_INFO_INIT;
    int was = 0;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    for (int i = 0; i < 3; i++) {
        redis_say(&r, "SCRIPT FLUSH");
        hf_hold *one = NULL, *two = NULL, *theirs = NULL;
        CHECK_INT(hf_lock_try(l, &one, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_lock_try(l, &two, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_hold_extend(two, 0, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_lock_try(other, NULL, NULL), HF_TAKEN);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
        CHECK_INT(info.count, 2);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_hold_release(two, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_hold_release(one, NULL), HF_OK);
        CHECK_INT(hf_lock_try(other, &theirs, NULL), HF_OK);
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(hf_lock_break(l, &was, NULL), HF_OK);
        CHECK_INT(was, 1);
        hf_hold_release(theirs, NULL);
    }
}

TEST(script_flush, renewal_goes_on)
{
    hf_hold *g = NULL;
    static struct lab_server r;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (int i = 0; i < 50; i++) {
        redis_say(&r, "SCRIPT FLUSH");
        CHECK_INT(redis_number(&r, "EXISTS a"), 1);
        rig_pause_ms(70);
    }
    CHECK(rig_until_renewed(l, 0, 3));
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

struct worker {
    hf_lock *lock;
    atomic_int *stop;
    int rounds;
    int errors;
    int first;
};

static void worker_run(void *arg)
{
    struct worker *w = arg;
    while (!atomic_load(w->stop)) {
        int status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
        if (status == HF_OK) status = hf_lock_release(w->lock, NULL, NULL);
        if (status != HF_OK && w->errors++ == 0) w->first = status;
        w->rounds++;
    }
}

TEST(script_flush, during_calls_is_not_noticed)
{
    static struct lab_server r;
    static struct worker w[4];
    static atomic_int stop;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = rig_client(NULL);
    atomic_store(&stop, 0);
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){rig_lock(c, i % 2 ? "a" : "b"), &stop, 0, 0, 0};
        rig_spawn(worker_run, &w[i]);
    }
    for (int i = 0; i < 150; i++) {
        redis_say(&r, "SCRIPT FLUSH");
        rig_pause_ms(10);
    }
    atomic_store(&stop, 1);
    rig_join();
    for (int i = 0; i < 4; i++) {
        CHECK_INT(w[i].first, HF_OK);
        CHECK_INT(w[i].errors, 0);
        CHECK(w[i].rounds > 0);
    }
}
