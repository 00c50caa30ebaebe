/*
 * guard_contract.c: a value that refuses stale holders.  One rule for all of
 * it: a token below the highest one changes nothing.
 */
#include <string.h>

#include "lib/rig.h"

/* 2^53 and its neighbours: numbers that a double cannot tell apart. */
#define BIG UINT64_C(9007199254740992)
#define MOST ((uint64_t)INT64_MAX)

static int set(hf_client *c, uint64_t token, const char *text)
{
    return hf_guard_set(c, "res", token, text, strlen(text), 0, NULL);
}

/* What is there, "" if nothing is; good until the next call. */
static const char *found(hf_client *c, uint64_t *token)
{
    static char text[64];
    struct hf_value v = HF_VALUE_INIT;
    struct hf_error err = {0};
    if (hf_guard_read(c, "res", &v, &err)) TEST_FAIL("read: %s", err.text);
    snprintf(text, sizeof text, "%s", v.data ? v.data : "");
    *token = v.version;
    hf_value_free(c, &v);
    return text;
}

static void holds(hf_client *c, const char *text, uint64_t token)
{
    uint64_t seen = 0;
    CHECK_STR(found(c, &seen), text);
    CHECK_INT(seen, token);
    CHECK_INT(hf_guard_token(c, "res", &seen, NULL), HF_OK);
    CHECK_INT(seen, token);
}

/* A client whose store can do it; elsewhere it must say so. */
static hf_client *begin(void)
{
    struct hf_error err = {0};
    rig_begin();
    hf_client *c = rig_client(NULL);
    if (rig_has(HF_CAP_GUARD)) return c;
    CHECK_INT(hf_guard_touch(c, "res", 1, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "hf_guard_file_replace") != NULL);
    return NULL;
}

TEST(guard, that_nobody_touched_has_no_token_and_no_value)
{
    hf_client *c = begin();
    if (c) holds(c, "", 0);
}

TEST(guard, lets_tokens_rise_and_stay_and_never_fall)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(set(c, 5, "five"), HF_OK);
    holds(c, "five", 5);
    CHECK_INT(set(c, 5, "again"), HF_OK);
    CHECK_INT(set(c, 10, "ten"), HF_OK);
    CHECK_INT(set(c, 9, "nine"), HF_STALE);
    CHECK_INT(hf_guard_touch(c, "res", 9, NULL), HF_STALE);
    CHECK_INT(hf_guard_delete(c, "res", 9, NULL), HF_STALE);
    holds(c, "ten", 10);
}

TEST(guard, that_was_touched_refuses_earlier_holders_before_any_write)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(hf_guard_touch(c, "res", 8, NULL), HF_OK);
    CHECK_INT(set(c, 7, "late"), HF_STALE);
    holds(c, "", 8);
}

TEST(guard, keeps_its_token_when_the_value_is_deleted)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(set(c, 5, "five"), HF_OK);
    CHECK_INT(hf_guard_delete(c, "res", 6, NULL), HF_OK);
    CHECK_INT(hf_guard_delete(c, "res", 6, NULL), HF_OK);
    holds(c, "", 6);
    CHECK_INT(set(c, 5, "late"), HF_STALE);
    holds(c, "", 6);
}

static int is_gone(void *arg)
{
    uint64_t token;
    return !strcmp(found(arg, &token), "");
}

TEST(guard, outlives_a_value_that_ends_by_itself)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(hf_guard_set(c, "res", 5, "x", 1, 50, NULL), HF_OK);
    CHECK(rig_until(is_gone, c));
    CHECK_INT(set(c, 4, "late"), HF_STALE);
    holds(c, "", 5);
}

TEST(guard, compares_tokens_that_no_double_can_tell_apart)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(set(c, BIG + 1, "a"), HF_OK);
    CHECK_INT(set(c, BIG, "b"), HF_STALE);
    CHECK_INT(set(c, 99, "b"), HF_STALE);
    CHECK_INT(set(c, MOST, "c"), HF_OK);
    CHECK_INT(set(c, MOST - 1, "d"), HF_STALE);
    holds(c, "c", MOST);
}

TEST(guard, refuses_tokens_of_0_and_beyond_2_to_the_63)
{
    struct hf_error err = {0};
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(hf_guard_set(c, "res", 0, "x", 1, 0, &err), HF_INVALID);
    CHECK(strstr(err.text, "out of range: 1 to 2^63-1") != NULL);
    CHECK_INT(hf_guard_touch(c, "res", MOST + 1, &err), HF_INVALID);
    CHECK_INT(hf_guard_claim(c, "res", 0, &err), HF_INVALID);
    holds(c, "", 0);
}

TEST(guard, refuses_bad_keys_and_values)
{
    static char big[HF_GUARD_VALUE_MAX + 1];
    hf_client *c = begin();
    if (!c) return;
    memset(big, 'x', sizeof big);
    CHECK_INT(hf_guard_touch(c, "", 1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_touch(c, NULL, 1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_set(c, "res", 1, big, sizeof big, 0, NULL), HF_INVALID);
    CHECK_INT(hf_guard_set(c, "res", 1, NULL, 1, 0, NULL), HF_INVALID);
    CHECK_INT(hf_guard_set(c, "res", 1, "x", 1, -1, NULL), HF_INVALID);
    CHECK_INT(hf_guard_set(c, "res", 1, big, sizeof big - 1, 0, NULL), HF_OK);
}

TEST(guard, says_whose_token_was_there)
{
    struct hf_error err = {0};
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(set(c, 12, "x"), HF_OK);
    CHECK_INT(hf_guard_touch(c, "res", 11, &err), HF_STALE);
    CHECK_STR(err.text,
              "token 11 is refused: the resource has already seen token 12");
    CHECK_INT(hf_status_advice(HF_STALE), HF_ADVICE_STOP);
}

TEST(guard, refuses_what_a_former_holder_still_writes)
{
    hf_hold *first, *second;
    hf_client *c = begin();
    if (!c || !rig_has(HF_CAP_FENCE)) return;
    hf_lock *l = rig_lock(c, "lock");
    CHECK_INT(rig_acquire(l, 0, 0, &first), HF_OK);
    uint64_t former = hf_hold_fence(first);
    CHECK_INT(hf_hold_release(first, NULL), HF_OK);
    CHECK_INT(rig_acquire(l, 0, 0, &second), HF_OK);
    CHECK_INT(hf_guard_touch(c, "res", hf_hold_fence(second), NULL), HF_OK);
    CHECK_INT(set(rig_client(NULL), former, "first"), HF_STALE);
    CHECK_INT(set(c, hf_hold_fence(second), "second"), HF_OK);
    holds(c, "second", hf_hold_fence(second));
}

TEST(claim, must_be_the_last_one_to_write)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(hf_guard_set_claimed(c, "res", 7, "a", 1, 0, NULL), HF_STALE);
    CHECK_INT(hf_guard_claim(c, "res", 7, NULL), HF_OK);
    CHECK_INT(hf_guard_set_claimed(c, "res", 7, "b", 1, 0, NULL), HF_OK);
    CHECK_INT(hf_guard_claim(c, "res", 3, NULL), HF_OK);
    CHECK_INT(hf_guard_set_claimed(c, "res", 7, "c", 1, 0, NULL), HF_STALE);
    holds(c, "b", 0);
    CHECK_INT(hf_guard_set_claimed(c, "res", 3, "d", 1, 0, NULL), HF_OK);
    holds(c, "d", 0);
}

TEST(claim, does_not_lower_the_highest_token)
{
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(set(c, 9, "nine"), HF_OK);
    CHECK_INT(hf_guard_claim(c, "res", 2, NULL), HF_OK);
    CHECK_INT(set(c, 8, "eight"), HF_STALE);
    holds(c, "nine", 9);
}

TEST(guard, leaves_a_versioned_value_alone)
{
    uint64_t token = 9;
    hf_client *c = begin();
    if (!c) return;
    CHECK_INT(hf_value_write(c, "res", 0, "x", 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(set(c, 1, "y"), HF_CONFLICT);
    CHECK_INT(hf_guard_delete(c, "res", 1, NULL), HF_CONFLICT);
    CHECK_INT(hf_guard_token(c, "res", &token, NULL), HF_OK);
    CHECK_INT(token, 0);
}

TEST(guard, leaves_a_lock_alone)
{
    hf_client *c = begin();
    /* A lock that is a string cannot be told from a value. */
    if (!c || strstr(rig_url(), "format=string")) return;
    hf_lock *l = rig_lock(c, "res");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    CHECK_INT(set(c, 1, "y"), HF_CONFLICT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(set(c, 1, "y"), HF_OK);
}
