/*
 * once_crowd_contract.c: many callers that begin the same run, and others that
 * wait for its end.  One rule for all of it: exactly one is told to run.
 */
#include <string.h>

#include "lib/rig.h"

static struct hf_once_options once_options(int64_t wait_ms)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    if (wait_ms == RIG_TRY)
        o.flags = HF_ONCE_TRY;
    else
        o.wait_ms = wait_ms;
    return o;
}

static hf_once *begin(hf_client *c)
{
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_MINE);
    return run;
}

struct waiter {
    hf_client *client;
    struct hf_once_options options;
    atomic_int *begun;
    int status, outcome, told;
    char data[32];
};

static void wait_for_it(void *arg)
{
    struct waiter *w = arg;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    atomic_fetch_add(w->begun, 1);
    w->status = hf_once_begin(w->client, "job", &w->options, &run, &r, NULL);
    if (w->status != HF_OK) return;
    w->outcome = r.outcome;
    w->told = r.status;
    if (r.data) snprintf(w->data, sizeof w->data, "%s", r.data);
    hf_once_result_free(w->client, &r);
    if (run) hf_once_end(run, 0, NULL, 0, NULL);
}

TEST(once_crowd, waiters_are_told_the_end_of_the_one_that_runs)
{
    static struct waiter w;
    static atomic_int begun;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    atomic_store(&begun, 0);
    w = (struct waiter){rig_client(NULL),
                        once_options(RIG_WAIT_MS),
                        &begun,
                        HF_INTERNAL,
                        0,
                        0,
                        ""};
    hf_once *run = begin(rig_client(NULL));
    rig_spawn(wait_for_it, &w);
    CHECK(rig_until_equal(&begun, 1));
    rig_pause_ms(50);
    CHECK_INT(hf_once_end(run, 4, "bytes", 5, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(w.outcome, HF_ONCE_DONE);
    CHECK_INT(w.told, 4);
    CHECK_STR(w.data, "bytes");
}

TEST(once_crowd, wait_ends_with_timeout_while_it_runs)
{
    struct hf_once_options o = once_options(1500);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *none;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_once *run = begin(rig_client(NULL));
    CHECK_INT(hf_once_begin(rig_client(NULL), "job", &o, &none, &r, NULL),
              HF_TIMEOUT);
    CHECK(none == NULL);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once_crowd, wait_can_be_cancelled)
{
    struct hf_once_options o = once_options(RIG_NO_LIMIT);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *none;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    hf_once *run = begin(rig_client(NULL));
    CHECK_INT(hf_cancel_open(c, &o.cancel), HF_OK);
    hf_cancel_fire(o.cancel);
    int status = hf_once_begin(c, "job", &o, &none, &r, NULL);
    hf_cancel_close(o.cancel);
    CHECK_INT(status, HF_CANCELLED);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

/* ---- many --------------------------------------------------------------- */

#define CONTENDERS 8

static int count_outcome(const struct waiter *w, int outcome)
{
    int n = 0;
    for (int i = 0; i < CONTENDERS; i++)
        n += w[i].status == HF_OK && w[i].outcome == outcome;
    return n;
}

TEST(once_crowd, of_many_contenders_exactly_one_runs_it)
{
    static struct waiter w[CONTENDERS];
    static atomic_int begun;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *clients[2] = {rig_client(NULL), rig_client(NULL)};
    for (int round = 0; round < 10; round++) {
        atomic_store(&begun, 0);
        for (int i = 0; i < CONTENDERS; i++) {
            w[i] = (struct waiter){clients[i % 2],
                                   once_options(RIG_TRY),
                                   &begun,
                                   HF_INTERNAL,
                                   0,
                                   0,
                                   ""};
            rig_spawn(wait_for_it, &w[i]);
        }
        rig_join();
        CHECK_INT(count_outcome(w, HF_ONCE_MINE), 1);
        CHECK_INT(count_outcome(w, HF_ONCE_DIED), 0);
        CHECK_INT(count_outcome(w, HF_ONCE_DONE)
                      + count_outcome(w, HF_ONCE_RUNNING),
                  CONTENDERS - 1);
        CHECK_INT(hf_value_delete(clients[0], "holdfast_once:{job}",
                                  HF_VALUE_ANY, NULL),
                  HF_OK);
    }
}

/* A request with an idempotency key: one computes, all get the bytes. */
struct request_of {
    hf_client *client;
    atomic_int *computed;
    int status;
    char data[32];
};

static void serve(void *arg)
{
    struct request_of *q = arg;
    struct hf_once_options o = once_options(RIG_NO_LIMIT);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    q->status = hf_once_begin(q->client, "key-1", &o, &run, &r, NULL);
    if (q->status != HF_OK) return;
    if (run) {
        int n = atomic_fetch_add(q->computed, 1);
        rig_pause_ms(30);
        snprintf(q->data, sizeof q->data, "order %d", 100 + n);
        q->status = hf_once_end(run, 0, q->data, strlen(q->data), NULL);
    } else if (r.outcome == HF_ONCE_DONE && r.data) {
        snprintf(q->data, sizeof q->data, "%s", r.data);
    }
    hf_once_result_free(q->client, &r);
}

TEST(once_crowd, per_key_one_thread_computes_and_all_get_the_bytes)
{
    static struct request_of q[CONTENDERS];
    static atomic_int computed;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *clients[2] = {rig_client(NULL), rig_client(NULL)};
    atomic_store(&computed, 0);
    for (int i = 0; i < CONTENDERS; i++) {
        q[i] = (struct request_of){clients[i % 2], &computed, HF_INTERNAL, ""};
        rig_spawn(serve, &q[i]);
    }
    rig_join();
    CHECK_INT(atomic_load(&computed), 1);
    for (int i = 0; i < CONTENDERS; i++) {
        CHECK_INT(q[i].status, HF_OK);
        CHECK_STR(q[i].data, "order 100");
    }
}
