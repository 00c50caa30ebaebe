/* rig_gate.c: see rig_gate.h. */
#include "lib/rig_gate.h"

#include <string.h>

hf_latch *rig_latch(hf_client *client, const char *name)
{
    struct hf_error err = {0};
    hf_latch *latch = NULL;
    if (hf_latch_open(client, name, &latch, &err) != HF_OK)
        TEST_FAIL("latch: %s", err.text);
    return latch;
}

hf_barrier *rig_barrier(hf_client *client, const char *name, int64_t parties)
{
    struct hf_error err = {0};
    hf_barrier *barrier = NULL;
    if (hf_barrier_open(client, name, parties, &barrier, &err) != HF_OK)
        TEST_FAIL("barrier: %s", err.text);
    return barrier;
}

struct hf_wait_options rig_wait_options(int64_t wait_ms)
{
    struct hf_wait_options o = HF_WAIT_OPTIONS_INIT;
    if (wait_ms == RIG_TRY)
        o.flags = HF_WAIT_TRY;
    else
        o.wait_ms = wait_ms;
    return o;
}

int rig_latch_wait(hf_latch *latch, int64_t wait_ms, struct hf_error *err)
{
    struct hf_wait_options o = rig_wait_options(wait_ms);
    return hf_latch_wait(latch, &o, err);
}

int rig_barrier_wait(hf_barrier *barrier, int64_t wait_ms,
                     struct hf_passed *passed, struct hf_error *err)
{
    struct hf_wait_options o = rig_wait_options(wait_ms);
    return hf_barrier_wait(barrier, &o, passed, err);
}

int64_t rig_latch_left(hf_latch *latch)
{
    struct hf_error err = {0};
    int64_t left = -1;
    if (hf_latch_count(latch, &left, &err) != HF_OK)
        TEST_FAIL("latch: %s", err.text);
    return left;
}

struct waiting {
    hf_barrier *barrier;
    int64_t wanted;
};

static int is_waiting(void *arg)
{
    const struct waiting *w = arg;
    int64_t now = -1;
    return hf_barrier_waiting(w->barrier, &now, NULL) == HF_OK
           && now == w->wanted;
}

int rig_until_waiting(hf_barrier *barrier, int64_t wanted)
{
    struct waiting w = {barrier, wanted};
    return rig_until(is_waiting, &w);
}

/* ---- waits -------------------------------------------------------------- */

static void wait_run(void *arg)
{
    struct gate_wait *w = arg;
    atomic_store(&w->begun, 1);
    if (w->latch)
        w->status = hf_latch_wait(w->latch, &w->options, &w->err);
    else
        w->status =
            hf_barrier_wait(w->barrier, &w->options, &w->passed, &w->err);
    atomic_fetch_add(&w->ended, 1);
}

static void wait_init(struct gate_wait *w, int64_t wait_ms, hf_cancel *cancel)
{
    memset(w, 0, sizeof *w);
    hf_passed_init(&w->passed);
    w->options = rig_wait_options(wait_ms);
    w->options.cancel = cancel;
}

static void wait_spawn(struct gate_wait *w)
{
    rig_spawn(wait_run, w);
    CHECK(rig_until_equal(&w->begun, 1));
}

void gate_wait_latch(struct gate_wait *w, hf_latch *latch, int64_t wait_ms,
                     hf_cancel *cancel)
{
    wait_init(w, wait_ms, cancel);
    w->latch = latch;
    wait_spawn(w);
}

void gate_wait_barrier(struct gate_wait *w, hf_barrier *barrier,
                       int64_t wait_ms, hf_cancel *cancel)
{
    wait_init(w, wait_ms, cancel);
    w->barrier = barrier;
    wait_spawn(w);
}

static void wait_done(struct gate_wait *w, int status,
                      const struct hf_error *err)
{
    w->status = status;
    if (err) w->err = *err;
    atomic_fetch_add(&w->ended, 1);
}

static void on_open(hf_latch *latch, int status, const struct hf_error *err,
                    void *user)
{
    (void)latch;
    wait_done(user, status, err);
}

static void on_passed(hf_barrier *barrier, int status,
                      const struct hf_passed *passed,
                      const struct hf_error *err, void *user)
{
    struct gate_wait *w = user;
    (void)barrier;
    if (passed) w->passed = *passed;
    wait_done(w, status, err);
}

void gate_start_latch(struct gate_wait *w, hf_latch *latch, int64_t wait_ms,
                      hf_cancel *cancel)
{
    wait_init(w, wait_ms, cancel);
    w->latch = latch;
    CHECK_INT(hf_latch_wait_start(latch, &w->options, on_open, w, NULL), HF_OK);
}

void gate_start_barrier(struct gate_wait *w, hf_barrier *barrier,
                        int64_t wait_ms, hf_cancel *cancel)
{
    wait_init(w, wait_ms, cancel);
    w->barrier = barrier;
    CHECK_INT(hf_barrier_wait_start(barrier, &w->options, on_passed, w, NULL),
              HF_OK);
}

int gate_ended(struct gate_wait *w)
{
    CHECK(rig_until_equal(&w->ended, 1));
    return w->status;
}

hf_cancel *rig_gate_cancel(hf_client *client)
{
    hf_cancel *cancel = NULL;
    CHECK_INT(hf_cancel_open(client, &cancel), HF_OK);
    return cancel;
}
