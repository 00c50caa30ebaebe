/*
 * once_async_contract.c: at most once, by the calls that return at once.  One
 * rule: a callback runs exactly once if, and only if, its call returned HF_OK.
 */
#include <string.h>

#include "lib/rig_started.h"

/* What the callbacks were told.  It outlives a test that fails. */
struct told {
    atomic_int calls;
    int status;
    int error_status;
    int outcome;
    int run_status;
    char data[32];
    hf_once *run;
};

static struct told *told_new(void)
{
    static struct told pool[32];
    static int used;
    struct told *t = &pool[used++ % 32];
    memset(t, 0, sizeof *t);
    return t;
}

static void told_result(struct told *t, int status,
                        const struct hf_once_result *r)
{
    t->status = status;
    if ((r != NULL) != (status == HF_OK)) t->status = HF_INTERNAL;
    t->outcome = r ? r->outcome : -1;
    t->run_status = r ? r->status : -1;
    snprintf(t->data, sizeof t->data, "%s", r && r->data ? r->data : "");
}

static void on_begun(hf_client *client, int status, hf_once *once,
                     const struct hf_once_result *result,
                     const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)client;
    told_result(t, status, result);
    t->run = once;
    t->error_status = err->status;
    atomic_fetch_add(&t->calls, 1);
}

static void on_looked(hf_client *client, int status,
                      const struct hf_once_result *result,
                      const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)client;
    (void)err;
    told_result(t, status, result);
    atomic_fetch_add(&t->calls, 1);
}

static void on_ended(hf_client *client, int status, const struct hf_error *err,
                     void *user)
{
    struct told *t = user;
    (void)client;
    (void)err;
    t->status = status;
    atomic_fetch_add(&t->calls, 1);
}

static struct told *begin_start(hf_client *c, const char *name,
                                const struct hf_once_options *o)
{
    struct told *t = told_new();
    CHECK_INT(hf_once_begin_start(c, name, o, on_begun, t, NULL), HF_OK);
    return t;
}

/* Begin a run that this client is told to run. */
static hf_once *begun(hf_client *c, const char *name)
{
    struct told *t = begin_start(c, name, NULL);
    CHECK(rig_until_told(c, &t->calls, 1));
    CHECK_INT(t->status, HF_OK);
    CHECK_INT(t->outcome, HF_ONCE_MINE);
    CHECK(t->run != NULL);
    CHECK_INT(hf_hold_state(hf_once_hold(t->run)), HF_STATE_HELD);
    return t->run;
}

static struct told *look(hf_client *c, const char *name)
{
    struct told *t = told_new();
    CHECK_INT(hf_once_look_start(c, name, NULL, on_looked, t, NULL), HF_OK);
    CHECK(rig_until_told(c, &t->calls, 1));
    CHECK_INT(t->status, HF_OK);
    return t;
}

static const char *const names[RIG_MODES] = {"job", "other job"};

TEST(once_async, is_begun_looked_at_and_ended)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        CHECK_INT(look(c, names[mode])->outcome, 0);
        hf_once *run = begun(c, names[mode]);
        CHECK_INT(look(c, names[mode])->outcome, HF_ONCE_RUNNING);
        struct told *t = told_new();
        CHECK_INT(hf_once_end_start(run, 7, "result", 6, on_ended, t, NULL),
                  HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_OK);
        t = look(c, names[mode]);
        CHECK_INT(t->outcome, HF_ONCE_DONE);
        CHECK_INT(t->run_status, 7);
        CHECK_STR(t->data, "result");
        t = begin_start(c, names[mode], NULL);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->outcome, HF_ONCE_DONE);
        CHECK_STR(t->data, "result");
        CHECK(t->run == NULL);
    }
}

TEST(once_async, that_is_abandoned_may_be_begun_at_once)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct told *t = told_new();
        hf_once *run = begun(c, names[mode]);
        CHECK_INT(hf_once_abandon_start(run, on_ended, t, NULL), HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_OK);
        CHECK_INT(look(c, names[mode])->outcome, 0);
        run = begun(c, names[mode]);
        CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
    }
}

TEST(once_async, waits_for_the_end_of_a_run_in_progress)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *other = rig_client(NULL);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_once *run = begun(other, names[mode]);
        struct told *t = begin_start(c, names[mode], NULL);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        CHECK_INT(atomic_load(&t->calls), 0);
        CHECK_INT(hf_once_end(run, 3, "x", 1, NULL), HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_OK);
        CHECK_INT(t->outcome, HF_ONCE_DONE);
        CHECK_INT(t->run_status, 3);
    }
}

TEST(once_async, that_runs_is_told_as_running_timed_out_or_cancelled)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    CHECK(hf_once_hold(NULL) == NULL);
    hf_once *run = begun(rig_client(NULL), "job");
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_cancel *cancel;
        CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
        o.flags = HF_ONCE_TRY;
        struct told *t = begin_start(c, "job", &o);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->outcome, HF_ONCE_RUNNING);
        o.flags = 0;
        o.wait_ms = 1000;
        t = begin_start(c, "job", &o);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_TIMEOUT);
        CHECK_INT(t->error_status, HF_TIMEOUT);
        o.wait_ms = 0;
        o.cancel = cancel;
        t = begin_start(c, "job", &o);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        hf_cancel_fire(cancel);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_CANCELLED);
        o.cancel = NULL;
        hf_cancel_close(cancel);
    }
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once_async, hears_that_its_client_is_closed)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_once *run = begun(rig_client(NULL), "job");
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct told *t = begin_start(c, "job", NULL);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        rig_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
        CHECK_INT(t->status, HF_CLOSED);
        CHECK(t->run == NULL);
    }
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

/* Ends the run in the callback of its begin; notes the status of the last of
 * the two calls. */
static void on_begun_end(hf_client *client, int status, hf_once *once,
                         const struct hf_once_result *result,
                         const struct hf_error *err, void *user)
{
    int ended = once ? hf_once_end_start(once, 0, "from inside", 11, on_ended,
                                         user, NULL)
                     : status;
    (void)result;
    if (!once || ended != HF_OK) on_ended(client, ended, err, user);
}

TEST(once_async, may_be_ended_in_the_callback_of_its_begin)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct told *t = told_new();
        CHECK_INT(
            hf_once_begin_start(c, names[mode], NULL, on_begun_end, t, NULL),
            HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_OK);
        CHECK_STR(look(c, names[mode])->data, "from inside");
    }
}

/* At whatever moment the client is closed, each call is answered once. */
TEST(once_async, tells_once_whenever_its_client_is_closed)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    rig_client(NULL); /* a space in memory stays as long as its last client */
    for (int i = 0; i < 20; i++) {
        struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
        hf_client *c;
        o.flags = i % 2 ? HF_CLIENT_OWN_LOOP : 0;
        CHECK_INT(hf_client_open(rig_url(), &o, &c, NULL), HF_OK);
        struct told *t = told_new();
        CHECK_INT(hf_once_begin_start(c, "job", NULL, on_begun_end, t, NULL),
                  HF_OK);
        for (int turns = 0; turns < i / 4; turns++) rig_turn(c, 1);
        hf_client_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
    }
}

TEST(once_async, is_not_started_with_what_is_not_valid)
{
    struct hf_once_options bad = HF_ONCE_OPTIONS_INIT;
    struct hf_error err;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct told *t = told_new();
    bad.period_ms = -1;
    CHECK_INT(hf_once_begin_start(c, "job", NULL, NULL, t, &err), HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0]);
    CHECK_INT(hf_once_begin_start(c, "", NULL, on_begun, t, NULL), HF_INVALID);
    CHECK_INT(hf_once_begin_start(c, "job", &bad, on_begun, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_once_look_start(c, "job", NULL, NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_once_look_start(c, "", NULL, on_looked, t, NULL), HF_INVALID);
    CHECK_INT(hf_once_end_start(NULL, 0, NULL, 0, on_ended, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_once_abandon_start(NULL, on_ended, t, NULL), HF_INVALID);
    hf_once *run = begun(c, "job");
    CHECK_INT(hf_once_end_start(run, 0, NULL, 0, NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_once_abandon_start(run, NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK); /* it is still ours */
    CHECK_INT(atomic_load(&t->calls), 0);
}

TEST(once_async, leaves_out_a_result_that_is_too_long_and_says_so)
{
    static char big[HF_ONCE_RESULT_MAX + 1];
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct told *t = told_new();
    hf_once *run = begun(c, "job");
    CHECK_INT(hf_once_end_start(run, 0, big, sizeof big, on_ended, t, NULL),
              HF_OK);
    CHECK(rig_until_told(c, &t->calls, 1));
    CHECK_INT(t->status, HF_INVALID);
    CHECK_INT(look(c, "job")->outcome, HF_ONCE_DONE);
}
