/*
 * turns_test.c: how often a process passes a lock on within itself.  The store
 * says yes to everything, at once: a holder in line that has it when the
 * client was stepped once was the next; one that has not stands back.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "holdfast/holdfast.h"
#include "test.h"

#define HOLDERS (4 * LOCAL_TURNS_MAX)

struct holder {
    atomic_int done;
    int status;
    hf_hold *hold;
};

static struct {
    hf_client *client;
    hf_lock *lock;
    struct holder holders[HOLDERS];
} rig;

static void rig_end(void *arg)
{
    (void)arg;
    hf_client_close(rig.client);
    unsetenv("HOLDFAST_MODULE_PATH");
}

static void given(hf_lock *lock, int status, hf_hold *hold,
                  const struct hf_error *err, void *user)
{
    struct holder *h = user;
    (void)lock, (void)err;
    h->status = status;
    h->hold = hold;
    atomic_store(&h->done, 1);
}

/* One client that drives itself, with as many holders in line. */
static void rig_begin(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    memset(&rig, 0, sizeof rig);
    CHECK(setenv("HOLDFAST_MODULE_PATH", TEST_MODULE_DIR, 1) == 0);
    test_cleanup(rig_end, NULL);
    o.flags = HF_CLIENT_OWN_LOOP;
    CHECK_INT(hf_client_open(url, &o, &rig.client, NULL), HF_OK);
    CHECK_INT(hf_lock_open(rig.client, "a", &rig.lock, NULL), HF_OK);
    for (int i = 0; i < HOLDERS; i++) {
        struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
        a.holder = hf_holder_new();
        CHECK_INT(
            hf_lock_acquire_start(rig.lock, &a, given, &rig.holders[i], NULL),
            HF_OK);
    }
    hf_client_process(rig.client);
}

static void holder_await(struct holder *h)
{
    while (!atomic_load(&h->done)) {
        struct pollfd p = {.fd = hf_client_fd(rig.client), .events = POLLIN};
        CHECK(poll(&p, 1, 60000) == 1);
        hf_client_process(rig.client);
    }
    CHECK_INT(h->status, HF_OK);
}

/* All of them have it, one after the other.  How many did not have it as soon
 * as the one before had released it? */
static int pauses_take(void)
{
    int pauses = 0;
    for (int i = 0; i < HOLDERS; i++) {
        struct holder *h = &rig.holders[i];
        hf_client_process(rig.client);
        if (i > 0 && !atomic_load(&h->done)) pauses++;
        holder_await(h);
        CHECK_INT(hf_hold_release_start(h->hold, NULL, NULL, NULL), HF_OK);
    }
    return pauses;
}

TEST(turns, go_on_where_the_store_says_that_nobody_waits)
{
    rig_begin("echo://here");
    CHECK_INT(pauses_take(), 0);
}

/* Waiters of other processes may be there, and would never win a race against
 * a proposal right behind each release. */
TEST(turns, end_where_the_store_does_not_say_who_waits)
{
    rig_begin("echo://silent");
    CHECK(pauses_take() > 0); /* a process that stands still misses some */
}
