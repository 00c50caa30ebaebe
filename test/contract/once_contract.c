/*
 * once_contract.c: at most once, per period or per key.  One rule for all of
 * it: of any number that begin, one is told to run.
 */
#include <string.h>

#include "lib/rig.h"

#define LONG_PERIOD_MS (INT64_C(366) * 24 * 3600 * 1000)

static struct hf_once_options once_options(int64_t period_ms, int64_t wait_ms)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    o.period_ms = period_ms;
    if (wait_ms == RIG_TRY)
        o.flags = HF_ONCE_TRY;
    else
        o.wait_ms = wait_ms;
    return o;
}

/* Begin; the outcome, and the run if it is ours. */
static int begin(hf_client *c, const struct hf_once_options *o, hf_once **run)
{
    struct hf_error err = {0};
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (hf_once_begin(c, "job", o, run, &r, &err))
        TEST_FAIL("begin: %s", err.text);
    hf_once_result_free(c, &r);
    CHECK((r.outcome == HF_ONCE_MINE) == (*run != NULL));
    return r.outcome;
}

/* Run it to its end. */
static void run_whole(hf_client *c, const struct hf_once_options *o, int status,
                      const char *result)
{
    hf_once *run;
    CHECK_INT(begin(c, o, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, status, result, strlen(result), NULL), HF_OK);
}

TEST(once, is_run_by_one_and_the_next_is_told_how_it_ended)
{
    hf_once *run;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *mine = rig_client(NULL), *theirs = rig_client(NULL);
    run_whole(mine, NULL, 7, "the result");
    CHECK_INT(hf_once_begin(theirs, "job", NULL, &run, &r, NULL), HF_OK);
    CHECK(run == NULL);
    CHECK_INT(r.outcome, HF_ONCE_DONE);
    CHECK_INT(r.status, 7);
    CHECK_STR(r.data, "the result");
    CHECK_INT(r.len, 10);
    CHECK(r.began_ms > 0 && r.ended_ms >= r.began_ms && r.pid > 0);
    hf_once_result_free(theirs, &r);
}

TEST(once, of_another_name_is_run_too)
{
    hf_once *run;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, NULL, 0, "");
    CHECK_INT(hf_once_begin(c, "{other} job", NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, that_runs_is_told_as_running_with_its_begin)
{
    struct hf_once_options o = once_options(0, RIG_TRY);
    hf_once *run, *none;
    struct hf_once_result first = HF_ONCE_RESULT_INIT, r = HF_ONCE_RESULT_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &first, NULL), HF_OK);
    CHECK(rig_fence_rises(0, first.fence) && first.valid_ms > 0);
    CHECK_INT(hf_once_begin(d, "job", &o, &none, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_RUNNING);
    CHECK_INT(r.fence, first.fence);
    CHECK_INT(r.began_ms, first.began_ms);
    CHECK_INT(r.ended_ms, 0);
    /* Nor does the same client begin it twice. */
    CHECK_INT(hf_once_begin(c, "job", &o, &none, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_RUNNING);
    CHECK_INT(hf_hold_state(hf_once_hold(run)), HF_STATE_HELD);
    CHECK_INT(hf_hold_fence(hf_once_hold(run)), first.fence);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, that_is_abandoned_may_be_begun_at_once)
{
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_abandon(run, NULL), HF_OK);
    CHECK_INT(begin(d, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, that_is_abandoned_leaves_the_record_it_found)
{
    struct hf_once_options o = once_options(0, 0);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    struct hf_value v = HF_VALUE_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, NULL, 3, "the result");
    o.flags = HF_ONCE_RETRY;
    CHECK_INT(begin(c, &o, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_abandon(run, NULL), HF_OK);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_DONE);
    CHECK_INT(r.status, 3);
    CHECK_STR(r.data, "the result");
    hf_once_result_free(c, &r);
    CHECK_INT(hf_value_read(c, "holdfast_once:{job}", &v, NULL), HF_OK);
    int64_t ttl_ms = v.ttl_ms;
    hf_value_free(c, &v);
    CHECK(ttl_ms > 0 && ttl_ms <= 24 * 3600 * 1000);
}

TEST(once, of_a_name_and_of_that_name_in_braces_are_two)
{
    hf_once *run;
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, NULL, 0, "");
    CHECK_INT(hf_once_begin(c, "{job}", NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, that_runs_elsewhere_is_no_error)
{
    struct hf_once_options o = once_options(0, RIG_TRY);
    struct hf_error err = {0};
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run, *none;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_begin(d, "job", &o, &none, &r, &err), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_RUNNING);
    CHECK_STR(err.text, "");
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, that_failed_is_run_again_only_if_asked_for)
{
    struct hf_once_options o = once_options(0, 0);
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, &o, 3, "");
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
    o.flags = HF_ONCE_RETRY;
    run_whole(c, &o, 0, "");
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
}

TEST(once, is_forgotten_when_its_time_to_be_kept_is_over)
{
    struct hf_once_options o = once_options(0, 0);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    hf_once *run = NULL;
    o.keep_ms = 200;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, &o, 0, "");
    do {
        CHECK(rig_now_ms() < end_ms);
        rig_pause_ms(20);
        CHECK_INT(hf_once_begin(c, "job", &o, &run, &r, NULL), HF_OK);
    } while (r.outcome != HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

/* ---- periods ------------------------------------------------------------ */

TEST(once, per_period_is_run_once_in_it)
{
    struct hf_once_options o = once_options(LONG_PERIOD_MS, 0);
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    run_whole(c, &o, 0, "");
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
}

TEST(once, per_period_is_run_again_in_the_next_one)
{
    enum { PERIOD_MS = 200, RUNS = 4 };
    struct hf_once_options o = once_options(PERIOD_MS, 0);
    int64_t last = -1, end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    for (int runs = 0; runs < RUNS;) {
        struct hf_once_result r = HF_ONCE_RESULT_INIT;
        hf_once *run;
        CHECK(rig_now_ms() < end_ms);
        CHECK_INT(hf_once_begin(c, "job", &o, &run, &r, NULL), HF_OK);
        if (r.outcome == HF_ONCE_MINE) {
            int64_t period = r.began_ms / PERIOD_MS;
            CHECK(period > last);
            last = period;
            runs++;
            CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
        } else {
            CHECK_INT(r.outcome, HF_ONCE_DONE);
        }
        rig_pause_ms(10);
    }
}

TEST(once, that_still_runs_in_the_next_period_is_running)
{
    struct hf_once_options o = once_options(50, RIG_TRY);
    hf_once *run, *none;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(begin(c, &o, &run), HF_ONCE_MINE);
    rig_pause_ms(120);
    CHECK_INT(begin(d, &o, &none), HF_ONCE_RUNNING);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, within_its_minimum_is_not_run_again_whatever_the_period)
{
    struct hf_once_options o = once_options(20, 0);
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    o.min_hold_ms = 3600000;
    run_whole(c, &o, 5, "");
    rig_pause_ms(60);
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
    o.flags = HF_ONCE_RETRY;
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
    o.min_hold_ms = 0;
    run_whole(c, &o, 0, "");
}

static void on_log(int level, const char *line, void *user)
{
    if (level == HF_LOG_WARN && strstr(line, "is from the future"))
        atomic_fetch_add((atomic_int *)user, 1);
}

/* A clock was ahead: that is logged, for it stops what is run per period. */
TEST(once, whose_record_is_of_a_time_to_come_is_not_run_and_that_is_told)
{
    static const char record[] =
        "v1 ended 0 12 9000000000000 9000000000005 4711 alpha\n";
    static atomic_int told;
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    struct hf_once_options o = once_options(60000, 0);
    hf_once *run;
    atomic_store(&told, 0);
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    co.log = on_log;
    co.log_user = &told;
    hf_client *c = rig_client(&co);
    CHECK_INT(hf_value_write(c, "holdfast_once:{job}", 0, record,
                             sizeof record - 1, 0, NULL, NULL),
              HF_OK);
    CHECK_INT(begin(c, &o, &run), HF_ONCE_DONE);
    CHECK_INT(atomic_load(&told), 1);
}

/* ---- the end ------------------------------------------------------------ */

TEST(once, result_of_the_largest_size_comes_back_whole)
{
    static char big[HF_ONCE_RESULT_MAX + 1];
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    memset(big, '\n', sizeof big);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, big, HF_ONCE_RESULT_MAX, NULL), HF_OK);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_OK);
    int is_same =
        r.len == HF_ONCE_RESULT_MAX && r.data && !memcmp(r.data, big, r.len);
    hf_once_result_free(c, &r);
    CHECK(is_same);
}

TEST(once, result_that_is_too_long_is_left_out_and_said_so)
{
    static char big[HF_ONCE_RESULT_MAX + 1];
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 9, big, sizeof big, NULL), HF_INVALID);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_DONE);
    CHECK_INT(r.status, 9);
    CHECK(r.len == 0 && r.data == NULL);
}

TEST(once, end_of_a_run_that_was_begun_again_touches_nothing)
{
    hf_once *old, *new;
    struct hf_once_options o = once_options(0, 0);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    if (!rig_has(HF_CAP_BREAK) || rig_has(HF_CAP_KERNEL)) return;
    CHECK_INT(begin(c, NULL, &old), HF_ONCE_MINE);
    CHECK_INT(hf_lock_break(rig_lock(d, "job"), NULL, NULL), HF_OK);
    rig_pause_ms(2); /* without a fence runs differ by their begin */
    o.flags = HF_ONCE_RETRY;
    CHECK_INT(begin(d, &o, &new), HF_ONCE_MINE);
    CHECK_INT(hf_once_end(old, 1, NULL, 0, NULL), HF_LOST);
    CHECK_INT(hf_once_look(c, "job", NULL, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_RUNNING);
    CHECK_INT(hf_once_end(new, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, end_of_a_run_that_outlived_its_record_is_written_anew)
{
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_value_delete(c, "holdfast_once:{job}", HF_VALUE_ANY, NULL),
              HF_OK);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_DONE);
}

/* ---- looking and bad input ---------------------------------------------- */

TEST(once, can_be_looked_at_without_being_begun)
{
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    CHECK_INT(hf_once_look(d, "job", NULL, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, 0);
    CHECK_INT(begin(c, NULL, &run), HF_ONCE_MINE);
    CHECK_INT(hf_once_look(d, "job", NULL, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_RUNNING);
    CHECK_INT(hf_once_end(run, 2, "x", 1, NULL), HF_OK);
    CHECK_INT(hf_once_look(d, "job", NULL, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_DONE);
    CHECK_INT(r.status, 2);
    CHECK_STR(r.data, "x");
    hf_once_result_free(d, &r);
}

TEST(once, refuses_names_and_times_out_of_range)
{
    char name[HF_ONCE_NAME_MAX + 2];
    struct hf_once_options o = once_options(-1, 0);
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_INT(hf_once_begin(c, name, NULL, &run, &r, NULL), HF_INVALID);
    CHECK_INT(hf_once_begin(c, "", NULL, &run, &r, NULL), HF_INVALID);
    CHECK_INT(hf_once_begin(c, "job", &o, &run, &r, NULL), HF_INVALID);
    o = once_options(0, -3);
    CHECK_INT(hf_once_begin(c, "job", &o, &run, &r, NULL), HF_INVALID);
    o = once_options(0, 0);
    o.flags = 64;
    CHECK_INT(hf_once_begin(c, "job", &o, &run, &r, NULL), HF_INVALID);
    CHECK_INT(hf_once_end(NULL, 0, NULL, 0, NULL), HF_INVALID);
    name[HF_ONCE_NAME_MAX] = '\0';
    CHECK_INT(hf_once_begin(c, name, NULL, &run, &r, NULL), HF_OK);
    CHECK_INT(r.outcome, HF_ONCE_MINE);
    CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
}

TEST(once, says_so_when_something_else_is_in_the_place_of_its_record)
{
    struct hf_once_result r = HF_ONCE_RESULT_INIT;
    hf_once *run;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(
        hf_value_write(c, "holdfast_once:{job}", 0, "?", 1, 0, NULL, NULL),
        HF_OK);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &r, NULL), HF_CONFLICT);
    CHECK_INT(rig_probe(rig_lock(c, "job")), HF_OK);
}
