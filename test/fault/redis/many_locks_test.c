/*
 * many_locks_test.c: two thousand locks held at once.  One rule: all of them
 * are kept, by few commands: renewals go in batches, not one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define LOCKS 2000
#define RENEW_MS 1000

static atomic_int lost;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&lost, 1);
}

struct answers {
    atomic_int calls;
    atomic_int failed;
    hf_hold *holds[LOCKS];
};
static struct answers answers;

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    hf_hold **to = user;
    (void)lock;
    (void)err;
    if (status != HF_OK)
        atomic_fetch_add(&answers.failed, 1);
    else
        *to = hold;
    atomic_fetch_add(&answers.calls, 1);
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold;
    (void)err;
    (void)user;
    if (status != HF_OK) atomic_fetch_add(&answers.failed, 1);
    atomic_fetch_add(&answers.calls, 1);
}

TEST(many_locks, are_all_renewed_with_few_commands)
{
    static struct lab_server r;
    static hf_lock *locks[LOCKS];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    memset(&answers, 0, sizeof answers);
    atomic_store(&lost, 0);
    struct hf_acquire_options how = rig_options(0, 60000, 0);
    how.renew_ms = RENEW_MS;
    o.patience_ms = RIG_WAIT_MS;
    o.on_state = on_state;
    hf_client *c = rig_client(&o);
    for (int i = 0; i < LOCKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "many:%d", i);
        locks[i] = rig_lock(c, name);
        CHECK_INT(hf_lock_acquire_start(locks[i], &how, on_acquired,
                                        &answers.holds[i], NULL),
                  HF_OK);
    }
    CHECK(rig_until_equal(&answers.calls, LOCKS));
    CHECK_INT(atomic_load(&answers.failed), 0);

    /* One by one, nine renewals of 2,000 locks would be 18,000 commands. */
    redis_say(&r, "CONFIG RESETSTAT");
    rig_pause_ms(9 * RENEW_MS);
    const char *at =
        strstr(redis_say(&r, "INFO commandstats"), "cmdstat_evalsha:calls=");
    CHECK(at != NULL);
    long long calls = strtoll(at + strlen("cmdstat_evalsha:calls="), NULL, 10);
    printf("    %lld renewal commands in %d ms\n", calls, 9 * RENEW_MS);
    CHECK(calls < 1000);
    CHECK_INT(atomic_load(&lost), 0);
    for (int i = 0; i < LOCKS; i++)
        CHECK_INT(hf_hold_state(answers.holds[i]), HF_STATE_HELD);
    CHECK_INT(redis_number(&r, "EVAL \"return #redis.call('KEYS','many:*')\" "
                               "0"),
              LOCKS);

    atomic_store(&answers.calls, 0);
    for (int i = 0; i < LOCKS; i++)
        CHECK_INT(
            hf_hold_release_start(answers.holds[i], on_released, NULL, NULL),
            HF_OK);
    CHECK(rig_until_equal(&answers.calls, LOCKS));
    CHECK_INT(atomic_load(&answers.failed), 0);
    CHECK_INT(redis_number(&r, "EVAL \"return #redis.call('KEYS','many:*')\" "
                               "0"),
              0);
}
