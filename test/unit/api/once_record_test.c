/*
 * once_record_test.c: the record of a run, and what follows from it.  One rule:
 * when in doubt it is not run.
 */
#include <string.h>

#include "api/once/once.h"
#include "base/limits.h"
#include "holdfast/value.h"
#include "test.h"

#define DAY_MS INT64_C(86400000)
#define NOW_MS (20000 * DAY_MS + DAY_MS / 2) /* noon */

static struct once_record ended(int status, int64_t began_ms)
{
    struct once_record r = {.is_ended = 1,
                            .status = status,
                            .fence = 12,
                            .began_ms = began_ms,
                            .ended_ms = began_ms + 5,
                            .pid = 4711,
                            .host = "alpha",
                            .id = 90210};
    return r;
}

static struct once_record running(int64_t began_ms)
{
    struct once_record r = ended(0, began_ms);
    r.is_ended = 0;
    r.ended_ms = 0;
    return r;
}

static struct hf_once_options options(int64_t period_ms, uint32_t flags)
{
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    o.period_ms = period_ms;
    o.flags = flags;
    return o;
}

/* ---- text --------------------------------------------------------------- */

TEST(once_record, is_read_as_it_was_written)
{
    char text[ONCE_HEAD_MAX];
    struct once_record r = ended(-17, NOW_MS), back;
    size_t len = hf__once_format(&r, text);
    CHECK_STR(text, "v1 ended -17 12 1728043200000 1728043200005 4711 alpha "
                    "90210\n");
    CHECK_INT(hf__once_parse(text, len, &back), 0);
    CHECK_INT(back.is_ended, 1);
    CHECK_INT(back.status, -17);
    CHECK_INT(back.fence, 12);
    CHECK_INT(back.began_ms, NOW_MS);
    CHECK_INT(back.ended_ms, NOW_MS + 5);
    CHECK_INT(back.pid, 4711);
    CHECK_STR(back.host, "alpha");
    CHECK_INT(back.head_len, len);
    CHECK(hf__once_is_same(&r, &back));
}

TEST(once_record, fits_at_its_longest)
{
    char text[ONCE_HEAD_MAX];
    struct once_record r = running(1), back;
    r.began_ms = INT64_MAX;
    r.status = INT32_MIN;
    r.fence = r.id = UINT64_MAX;
    r.ended_ms = r.pid = INT64_MAX;
    memset(r.host, 'h', sizeof r.host - 1);
    size_t len = hf__once_format(&r, text);
    CHECK(len < sizeof text);
    CHECK_INT(hf__once_parse(text, len, &back), 0);
    CHECK_INT(back.is_ended, 0);
    CHECK_INT(back.status, INT32_MIN);
    CHECK(back.fence == UINT64_MAX && back.pid == INT64_MAX);
    CHECK_STR(back.host, r.host);
}

TEST(once_record, stays_one_line_whatever_the_host_is_called)
{
    char text[ONCE_HEAD_MAX];
    struct once_record r = running(1), back;
    snprintf(r.host, sizeof r.host, "my\nhost x");
    size_t len = hf__once_format(&r, text);
    CHECK_INT(hf__once_parse(text, len, &back), 0);
    CHECK_STR(back.host, "my?host?x");
    CHECK(hf__once_is_same(&r, &back));
    r.host[0] = '\0';
    len = hf__once_format(&r, text);
    CHECK_INT(hf__once_parse(text, len, &back), 0);
    CHECK_STR(back.host, "");
    CHECK(hf__once_is_same(&r, &back));
}

TEST(once_record, is_refused_unless_it_is_whole)
{
    static const char *const wrong[] = {
        "",
        "\n",
        "v1\n",
        "v2 ended 0 1 2 3 4 h\n",
        "v1 paused 0 1 2 3 4 h\n",
        "v1 ended 0 1 2 3 4\n",
        "v1 ended 0 1 2 3 4 h more\n",
        "v1 ended 0 1 2 3 4 h 5 6\n",
        "v1 ended 0 1 2 3 4 h -5\n",
        "v1 ended 0 1 2 3 4 h 18446744073709551616\n",
        "v1 ended x 1 2 3 4 h\n",
        "v1 ended 0 -1 2 3 4 h\n",
        "v1 ended 2147483648 1 2 3 4 h\n",
        "v1 ended 0 1 9223372036854775808 3 4 h\n",
        "v1 ended 0  1 2 3 4 h\n",
        "v1 ended 0 1 2 3 4 h",
        "v1 ended 0 1 2 3 4 \n",
    };
    struct once_record r;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (hf__once_parse(wrong[i], strlen(wrong[i]), &r) == 0)
            TEST_FAIL("believed: %s", wrong[i]);
        CHECK(r.fence == 0 && r.head_len == 0);
    }
    CHECK_INT(hf__once_parse("v1 ended 0 1 2 3 4 h\ndata", 25, &r), 0);
    CHECK_INT(r.head_len, 21);
}

TEST(once_record, without_an_id_is_read_too)
{
    static const char text[] = "v1 running 0 12 1728043200000 0 4711 alpha\n";
    struct once_record r;
    CHECK_INT(hf__once_parse(text, sizeof text - 1, &r), 0);
    CHECK(r.id == 0 && r.fence == 12);
    CHECK_STR(r.host, "alpha");
    CHECK(hf__once_is_same(&r, &r));
}

TEST(once_record, of_two_runs_begun_in_one_millisecond_is_not_the_same)
{
    struct once_record a = running(NOW_MS), b = running(NOW_MS);
    a.fence = b.fence = 0; /* fence=off */
    CHECK(hf__once_is_same(&a, &b));
    b.id++;
    CHECK(!hf__once_is_same(&a, &b));
}

/* ---- decisions ---------------------------------------------------------- */

TEST(once_decide, runs_what_was_never_begun)
{
    struct hf_once_options o = options(DAY_MS, 0);
    CHECK_INT(hf__once_decide(NULL, &o, NOW_MS), HF_ONCE_MINE);
}

TEST(once_decide, does_not_run_twice_in_a_period)
{
    struct hf_once_options o = options(DAY_MS, 0);
    struct once_record r = ended(0, NOW_MS - DAY_MS / 2);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS + DAY_MS / 2 - 1), HF_ONCE_DONE);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS + DAY_MS / 2), HF_ONCE_MINE);
    r = ended(0, NOW_MS - DAY_MS / 2 - 1);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_MINE);
}

TEST(once_decide, without_a_period_any_end_counts)
{
    struct hf_once_options o = options(0, 0);
    struct once_record r = ended(0, NOW_MS - 300 * DAY_MS);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
}

TEST(once_decide, does_not_run_again_when_the_clock_went_back)
{
    struct hf_once_options o = options(DAY_MS, 0);
    struct once_record r = ended(0, NOW_MS + 3 * DAY_MS);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
}

TEST(once_decide, what_runs_although_the_lock_is_free_has_died)
{
    struct hf_once_options o = options(DAY_MS, 0);
    struct once_record r = running(NOW_MS - 1000);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DIED);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS + DAY_MS), HF_ONCE_MINE);
}

TEST(once_decide, what_nobody_was_told_to_run_is_run)
{
    struct hf_once_options o = options(DAY_MS, 0);
    struct once_record r = running(NOW_MS - 1000);
    o.min_hold_ms = DAY_MS;
    r.is_void = 1;
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_MINE);
}

TEST(once_decide, retry_runs_what_died_or_failed_and_nothing_else)
{
    struct hf_once_options o = options(DAY_MS, HF_ONCE_RETRY);
    struct once_record r = running(NOW_MS - 1000);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_MINE);
    r = ended(1, NOW_MS - 1000);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_MINE);
    r = ended(0, NOW_MS - 1000);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
}

TEST(once_decide, within_the_minimum_nobody_runs_it)
{
    struct hf_once_options o = options(1000, HF_ONCE_RETRY);
    struct once_record r = ended(1, NOW_MS - 59999);
    o.min_hold_ms = 60000;
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
    r = running(NOW_MS - 59999);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DIED);
    r = ended(1, NOW_MS - 60000);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_MINE);
}

/* Of a clock that was ahead: it counts, and is noticed. */
TEST(once_decide, what_is_of_a_time_to_come_counts_as_run)
{
    struct hf_once_options o = options(DAY_MS, 0);
    struct once_record r = ended(0, NOW_MS + DAY_MS + 1);
    CHECK_INT(hf__once_decide(&r, &o, NOW_MS), HF_ONCE_DONE);
    CHECK(hf__once_is_ahead(&r, &o, NOW_MS));
    r.began_ms = NOW_MS + DAY_MS;
    CHECK(!hf__once_is_ahead(&r, &o, NOW_MS));
    o.period_ms = 0;
    r.began_ms = INT64_MAX;
    CHECK(!hf__once_is_ahead(&r, &o, NOW_MS));
}

/* ---- how long it is kept ------------------------------------------------ */

TEST(once_keep, is_a_day_or_two_periods)
{
    struct hf_once_options o = options(0, 0);
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS, NOW_MS, 1), DAY_MS);
    o.period_ms = 7 * DAY_MS;
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS, NOW_MS, 1), 14 * DAY_MS);
}

TEST(once_keep, lasts_for_the_rest_of_the_period_and_the_minimum)
{
    struct hf_once_options o = options(DAY_MS, 0);
    o.keep_ms = 1000;
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS, NOW_MS, 1), DAY_MS / 2);
    o.min_hold_ms = 3 * DAY_MS;
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS - 10, NOW_MS, 1), 3 * DAY_MS - 10);
}

TEST(once_keep, of_a_run_that_has_not_ended_is_longer_and_has_a_bound)
{
    struct hf_once_options o = options(0, 0);
    o.keep_ms = 1000;
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS, NOW_MS, 0), DAY_MS + 1000);
    o.keep_ms = HF_VALUE_TTL_MS_MAX;
    CHECK_INT(hf__once_keep_ms(&o, NOW_MS, NOW_MS, 0), HF_VALUE_TTL_MS_MAX);
}

TEST(once_key, has_one_hash_tag_however_the_name_looks)
{
    char key[NAME_LEN_MAX + 1];
    hf__once_key("nightly", key);
    CHECK_STR(key, "holdfast_once:{nightly}");
    hf__once_key("{a}b", key);
    CHECK_STR(key, "holdfast_once_tagged:{a}b");
}

TEST(once_key, is_no_other_names)
{
    char key[NAME_LEN_MAX + 1], other[NAME_LEN_MAX + 1];
    hf__once_key("a", key);
    hf__once_key("{a}", other);
    CHECK(strcmp(key, other) != 0);
}

TEST(once_key, fits_at_its_longest)
{
    char name[HF_ONCE_NAME_MAX + 1], key[NAME_LEN_MAX + 1];
    memset(name, '{', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    hf__once_key(name, key);
    CHECK_INT(strlen(key), HF_ONCE_NAME_MAX + strlen("holdfast_once_tagged:"));
}
