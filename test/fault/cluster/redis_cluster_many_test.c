/*
 * redis_cluster_many_test.c: many locks on many slots.  One rule: each is
 * renewed by one command, to all masters at the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"

#define LOCKS 4000
#define RENEW_MS 2000

static struct lab_cluster c;
static hf_lock *locks[LOCKS];
static hf_hold *holds[LOCKS];
static atomic_int answered, failed, lost;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    if (ev->state == HF_STATE_LOST) atomic_fetch_add(&lost, 1);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    if (status == HF_OK)
        *(hf_hold **)user = hold;
    else
        atomic_fetch_add(&failed, 1);
    atomic_fetch_add(&answered, 1);
}

static void on_extended(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold;
    (void)err;
    (void)user;
    if (status != HF_OK) atomic_fetch_add(&failed, 1);
    atomic_fetch_add(&answered, 1);
}

static void all_answered(void)
{
    CHECK(rig_until_equal(&answered, LOCKS));
    CHECK_INT(atomic_load(&failed), 0);
    atomic_store(&answered, 0);
}

static void all_acquire(hf_client *client, int64_t renew_ms)
{
    struct hf_acquire_options how = rig_options(0, 60000, 0);
    how.renew_ms = renew_ms;
    for (int i = 0; i < LOCKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "many:%d", i);
        locks[i] = rig_lock(client, name);
        CHECK_INT(
            hf_lock_acquire_start(locks[i], &how, on_acquired, &holds[i], NULL),
            HF_OK);
    }
    all_answered();
}

static hf_client *begin(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    cluster_rig_begin(&c, 3, 0);
    atomic_store(&answered, 0);
    atomic_store(&failed, 0);
    atomic_store(&lost, 0);
    o.patience_ms = RIG_WAIT_MS;
    o.on_state = on_state;
    return rig_client(&o);
}

static void count_begin(void)
{
    for (int i = 0; i < c.len; i++) redis_say(&c.nodes[i], "CONFIG RESETSTAT");
}

/* Scripts that were called since. */
static int64_t count_end(void)
{
    static const char word[] = "cmdstat_evalsha:calls=";
    int64_t calls = 0;
    for (int i = 0; i < c.len; i++) {
        const char *at =
            strstr(redis_say(&c.nodes[i], "INFO commandstats"), word);
        if (at) calls += strtoll(at + strlen(word), NULL, 10);
    }
    return calls;
}

TEST(redis_cluster_many, are_renewed_at_once_by_one_command_each)
{
    all_acquire(begin(), 0); /* none is due within the test */
    count_begin();
    int64_t began = rig_now_ms();
    for (int i = 0; i < LOCKS; i++)
        CHECK_INT(
            hf_hold_extend_start(holds[i], 60000, on_extended, NULL, NULL),
            HF_OK);
    all_answered();
    int64_t took = rig_now_ms() - began;
    int64_t calls = count_end();
    printf("    %lld commands in %lld ms\n", (long long)calls, (long long)took);
    CHECK(calls >= LOCKS && calls <= LOCKS * 12 / 10);
}

TEST(redis_cluster_many, are_all_kept_by_the_watchdog)
{
    all_acquire(begin(), RENEW_MS);
    count_begin();
    rig_pause_ms(6 * RENEW_MS);
    int64_t calls = count_end();
    printf("    %lld commands in %d ms\n", (long long)calls, 6 * RENEW_MS);
    CHECK_INT(atomic_load(&lost), 0);
    for (int i = 0; i < LOCKS; i++)
        CHECK_INT(hf_hold_state(holds[i]), HF_STATE_HELD);
    /* Six times, and somewhat earlier where others were due. */
    CHECK(calls <= 8 * LOCKS);
}
