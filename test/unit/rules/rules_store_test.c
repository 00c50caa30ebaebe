/*
 * rules_store_test.c: the rules of one node, by hand-made times.
 */
#include <stdlib.h>
#include <string.h>

#include "rules/store.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)
#define MS US_PER_MS
#define S US_PER_S

struct rig {
    struct store *s;
    int64_t now_us;
    struct reply rep;
};

static void rig_stop(void *arg)
{
    struct rig *r = arg;
    hf__rules_store_close(r->s);
}

static void rig_start(struct rig *r)
{
    *r = (struct rig){.s = hf__rules_store_open(&hf__alloc_default),
                      .now_us = NOW};
    CHECK(r->s != NULL);
    test_cleanup(rig_stop, r);
}

static struct request request_of(enum verb op, const char *owner,
                                 uint64_t attempt, int64_t ballot)
{
    struct request req = {.verb = op,
                          .name = "job",
                          .name_len = 3,
                          .attempt = attempt,
                          .ballot = ballot,
                          .count = 1,
                          .lease_us = 10 * S,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "42 host a label"};
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    return req;
}

static enum verdict rig_do(struct rig *r, const struct request *req)
{
    hf__rules_store_apply(r->s, r->now_us, req, &r->rep);
    return r->rep.verdict;
}

static enum verdict rig_ask(struct rig *r, enum verb op, const char *owner,
                            uint64_t attempt, int64_t ballot)
{
    struct request req = request_of(op, owner, attempt, ballot);
    return rig_do(r, &req);
}

static struct store_view rig_look(struct rig *r)
{
    struct store_view view;
    hf__rules_store_look(r->s, r->now_us, "job", 3, &view);
    return view;
}

/* ---- propose ---------------------------------------------------------- */

TEST(store, a_free_lock_is_granted_under_the_proposed_number)
{
    static struct rig r;
    rig_start(&r);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + 5) == V_GRANTED);
    CHECK_INT(r.rep.fence, NOW + 5);
    CHECK_INT(r.rep.counter, NOW + 5);
    CHECK_INT(r.rep.node_us, NOW);
    struct store_view view = rig_look(&r);
    CHECK(view.locked);
    CHECK_STR(view.owner, "a:1");
    CHECK_INT(view.count, 1);
}

TEST(store, the_node_raises_the_fence_to_its_clock_when_it_may)
{
    static struct rig r;
    rig_start(&r);
    struct request req = request_of(VERB_PROPOSE, "a:1", 1, NOW - S);
    req.flags = REQ_SERVER_FENCE;
    CHECK(rig_do(&r, &req) == V_GRANTED);
    CHECK_INT(r.rep.fence, NOW);
    CHECK_INT(rig_look(&r).counter, NOW);
    CHECK_INT(rig_look(&r).ballot, NOW - S);
    rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW - S);
    req = request_of(VERB_PROPOSE, "a:1", 2, NOW + S);
    req.flags = REQ_SERVER_FENCE;
    CHECK(rig_do(&r, &req) == V_GRANTED);
    CHECK_INT(r.rep.fence, NOW + S);
}

TEST(store, a_repeated_proposal_gets_the_same_answer_and_moves_nothing)
{
    static struct rig r;
    rig_start(&r);
    struct request req = request_of(VERB_PROPOSE, "a:1", 1, NOW - 9);
    req.flags = REQ_SERVER_FENCE;
    CHECK(rig_do(&r, &req) == V_GRANTED);
    struct store_view before = rig_look(&r);
    r.now_us += 3 * S;
    req.count = 7;
    CHECK(rig_do(&r, &req) == V_GRANTED);
    CHECK_INT(r.rep.fence, NOW);
    struct store_view after = rig_look(&r);
    CHECK_INT(after.expires_us, before.expires_us);
    CHECK_INT(after.count, 1);
    CHECK_INT(after.counter, NOW);
}

TEST(store, the_same_attempt_may_propose_another_number)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    r.now_us += S;
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + 7) == V_GRANTED);
    CHECK_INT(r.rep.fence, NOW + 7);
    CHECK_INT(rig_look(&r).expires_us, NOW + 11 * S + MS);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + 6) == V_STALE);
    CHECK_INT(rig_look(&r).ballot, NOW + 7);
}

TEST(store, a_held_lock_is_busy_for_others_and_for_other_attempts)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    r.now_us += 4 * S;
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW + 5 * S) == V_BUSY);
    CHECK_INT(r.rep.ttl_us, 6 * S);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:2", 1, NOW + 5 * S) == V_BUSY);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 2, NOW + 5 * S) == V_BUSY);
    /* Busy comes before stale, and leaves no trace. */
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW - S) == V_BUSY);
    CHECK_INT(rig_look(&r).counter, NOW);
}

TEST(store, a_number_that_is_not_above_the_counter_is_stale)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + 9);
    rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW + 9);
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW + 9) == V_STALE);
    CHECK_INT(r.rep.counter, NOW + 9);
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW + 8) == V_STALE);
    CHECK(!rig_look(&r).locked);
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW + 10) == V_GRANTED);
}

TEST(store, a_number_older_than_the_window_is_stale)
{
    static struct rig r;
    rig_start(&r);
    int64_t oldest = NOW - BALLOT_WINDOW_US;
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, oldest - 1) == V_STALE);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, oldest) == V_GRANTED);
}

TEST(store, a_number_that_lua_could_not_count_or_none_is_refused)
{
    static struct rig r;
    rig_start(&r);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, 0) == V_ERROR);
    CHECK_INT(r.rep.status, HF_INVALID);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 1, -1) == V_ERROR);
    CHECK_INT(r.rep.status, HF_INVALID);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, BALLOT_MAX + 1) == V_ERROR);
    CHECK_INT(r.rep.status, HF_INVALID);
    CHECK_INT(rig_look(&r).counter, 0);
}

TEST(store, a_lock_is_gone_only_after_its_last_millisecond)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    r.now_us = NOW + 10 * S + MS - 1;
    CHECK(rig_look(&r).locked);
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, r.now_us) == V_BUSY);
    CHECK_INT(r.rep.ttl_us, 0);
    r.now_us++;
    CHECK(!rig_look(&r).locked);
    CHECK(rig_ask(&r, VERB_PROPOSE, "b:1", 1, r.now_us) == V_GRANTED);
}

TEST(store, part_of_a_millisecond_of_lease_is_rounded_up)
{
    static struct rig r;
    rig_start(&r);
    struct request req = request_of(VERB_PROPOSE, "a:1", 1, NOW);
    req.lease_us = 10 * MS + 1;
    rig_do(&r, &req);
    CHECK_INT(rig_look(&r).expires_us, NOW + 12 * MS);
}

/* ---- renew ------------------------------------------------------------ */

TEST(store, renew_sets_count_and_lease_and_tells_what_was_left)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    r.now_us += 4 * S;
    struct request req = request_of(VERB_RENEW, "a:1", 1, 0);
    req.count = 3;
    req.lease_us = 20 * S;
    CHECK(rig_do(&r, &req) == V_GRANTED);
    CHECK_INT(r.rep.ttl_us, 6 * S);
    CHECK_INT(rig_look(&r).count, 3);
    CHECK_INT(rig_look(&r).expires_us, NOW + 24 * S + MS);
    CHECK(rig_do(&r, &req) == V_GRANTED);
    CHECK_INT(rig_look(&r).count, 3);
}

TEST(store, renew_tells_absent_from_somebody_elses)
{
    static struct rig r;
    rig_start(&r);
    CHECK(rig_ask(&r, VERB_RENEW, "a:1", 1, 0) == V_ABSENT);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    CHECK(rig_ask(&r, VERB_RENEW, "b:1", 1, 0) == V_OTHER);
    CHECK(rig_ask(&r, VERB_RENEW, "a:1", 2, 0) == V_OTHER);
    r.now_us = NOW + 11 * S;
    CHECK(rig_ask(&r, VERB_RENEW, "a:1", 1, 0) == V_ABSENT);
}

/* ---- release ---------------------------------------------------------- */

TEST(store, release_frees_the_lock_of_this_attempt_only)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 2, NOW);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW - 1) == V_OTHER);
    CHECK(rig_ask(&r, VERB_RELEASE, "b:1", 2, NOW - 1) == V_OTHER);
    CHECK(rig_look(&r).locked);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 2, NOW) == V_GRANTED);
    CHECK(!rig_look(&r).locked);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 2, NOW) == V_ABSENT);
}

TEST(store, a_release_leaves_a_tombstone_whatever_it_finds)
{
    static struct rig r;
    rig_start(&r);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW + 5) == V_ABSENT);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + 5) == V_STALE);
    rig_ask(&r, VERB_PROPOSE, "b:1", 1, NOW + 6);
    CHECK(rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW + 9) == V_OTHER);
    CHECK_INT(rig_look(&r).counter, NOW + 9);
    CHECK(rig_ask(&r, VERB_RELEASE, "b:1", 1, NOW + 12) == V_GRANTED);
    CHECK_INT(rig_look(&r).counter, NOW + 12);
    rig_ask(&r, VERB_RELEASE, "b:1", 1, NOW + 7);
    CHECK_INT(rig_look(&r).counter, NOW + 12);
}

/* ---- break, inspect, list --------------------------------------------- */

TEST(store, break_frees_and_rises_above_every_token)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW + S);
    CHECK(rig_ask(&r, VERB_BREAK, "b:1", 0, 0) == V_GRANTED);
    CHECK(r.rep.info->locked);
    CHECK_STR(r.rep.info->owner, "a:1");
    CHECK_INT(rig_look(&r).counter, NOW + S + 1);
    CHECK(!rig_look(&r).locked);
    r.now_us = NOW + 5 * S;
    CHECK(rig_ask(&r, VERB_BREAK, "b:1", 0, 0) == V_GRANTED);
    CHECK(!r.rep.info->locked);
    CHECK_INT(rig_look(&r).counter, NOW + 5 * S);
    CHECK(rig_ask(&r, VERB_RENEW, "a:1", 1, 0) == V_ABSENT);
}

TEST(store, inspect_tells_who_holds_from_where_and_since_when)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    r.now_us += S;
    CHECK(rig_ask(&r, VERB_INSPECT, "a:1", 0, 0) == V_GRANTED);
    const struct hf_info *info = r.rep.info;
    CHECK(info->locked && info->mine && !info->foreign && !info->shared);
    CHECK_INT(info->ttl_ms, 9000);
    CHECK_INT(info->count, 1);
    CHECK_INT(info->owner_count, 1);
    CHECK_INT((int64_t)info->fence, NOW);
    CHECK_INT(info->since_ms, NOW / MS);
    CHECK_INT(info->now_ms, NOW / MS + 1000);
    CHECK_INT(info->pid, 42);
    CHECK_STR(info->host, "host");
    CHECK_STR(info->label, "a label");
    rig_ask(&r, VERB_INSPECT, "b:1", 0, 0);
    CHECK(!r.rep.info->mine);
    CHECK_INT(r.rep.info->count, 0);
}

TEST(store, inspect_of_a_free_lock_still_tells_the_highest_token)
{
    static struct rig r;
    rig_start(&r);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    rig_ask(&r, VERB_RELEASE, "a:1", 1, NOW);
    rig_ask(&r, VERB_INSPECT, "a:1", 0, 0);
    CHECK(!r.rep.info->locked);
    CHECK_INT(r.rep.info->ttl_ms, -2);
    CHECK_INT((int64_t)r.rep.info->fence, NOW);
    CHECK_STR(r.rep.info->owner, "");
}

static void rig_fill(struct rig *r, int names)
{
    for (int i = 0; i < names; i++) {
        char name[32];
        struct request req = request_of(VERB_PROPOSE, "a:1", 1, NOW);
        snprintf(name, sizeof name, "n%05d", i);
        req.name = name;
        req.name_len = strlen(name);
        CHECK(rig_do(r, &req) == V_GRANTED);
        if (i % 3 != 0) continue;
        req.verb = VERB_RELEASE;
        CHECK(rig_do(r, &req) == V_GRANTED);
    }
}

static int rig_list(struct rig *r, const char *pattern, int *pages)
{
    struct request req = {.verb = VERB_LIST, .name = pattern};
    int rows = 0;
    *pages = 0;
    do {
        CHECK(rig_do(r, &req) == V_GRANTED);
        CHECK(r->rep.rows_len <= STORE_PAGE_ROWS);
        for (size_t i = 0; i < r->rep.rows_len; i++)
            CHECK(r->rep.rows[i].info.locked);
        rows += (int)r->rep.rows_len;
        req.cursor = r->rep.cursor;
        ++*pages;
        CHECK(*pages < 1000);
    } while (req.cursor != 0);
    return rows;
}

TEST(store, list_tells_every_held_lock_once_in_bounded_pages)
{
    static struct rig r;
    int pages;
    rig_start(&r);
    CHECK_INT(rig_list(&r, NULL, &pages), 0);
    rig_fill(&r, 3000);
    CHECK_INT(rig_list(&r, NULL, &pages), 2000);
    CHECK(pages >= 2000 / STORE_PAGE_ROWS);
    CHECK_INT(rig_list(&r, "n0000[1-5]", &pages), 4);
    CHECK_INT(rig_list(&r, "nothing*", &pages), 0);
    CHECK_INT(pages, (3000 + STORE_PAGE_STEPS - 1) / STORE_PAGE_STEPS);
    r.now_us = NOW + 11 * S;
    CHECK_INT(rig_list(&r, NULL, &pages), 0);
}

/* ---- the simulator's hooks -------------------------------------------- */

TEST(store, flushing_the_locks_keeps_the_counters)
{
    static struct rig r;
    rig_start(&r);
    rig_fill(&r, 100);
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    hf__rules_store_flush_locks(r.s);
    CHECK(!rig_look(&r).locked);
    CHECK_INT(rig_look(&r).counter, NOW);
    CHECK(rig_ask(&r, VERB_RENEW, "a:1", 1, NOW) == V_ABSENT);
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW) == V_STALE);
}

TEST(store, a_wipe_forgets_everything_unless_counters_are_kept)
{
    static struct rig r;
    struct store_view view;
    rig_start(&r);
    rig_fill(&r, 100);
    hf__rules_store_wipe(r.s, 1);
    CHECK(hf__rules_store_at(r.s, NOW, 99, &view));
    CHECK(!view.locked && view.counter == NOW);
    hf__rules_store_wipe(r.s, 0);
    CHECK(!hf__rules_store_at(r.s, NOW, 0, &view));
    CHECK(rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW) == V_GRANTED);
}

TEST(store, a_lock_can_be_ended_early)
{
    static struct rig r;
    rig_start(&r);
    CHECK(!hf__rules_store_expire(r.s, "job", 3));
    rig_ask(&r, VERB_PROPOSE, "a:1", 1, NOW);
    CHECK(hf__rules_store_expire(r.s, "job", 3));
    CHECK(!rig_look(&r).locked);
    CHECK_INT(rig_look(&r).counter, NOW);
}

/* ---- memory ----------------------------------------------------------- */

struct scarce {
    int left; /* allocations that still succeed */
    int open;
};

static void *scarce_resize(void *ptr, size_t size, void *user)
{
    struct scarce *m = user;
    if (m->left-- <= 0) return NULL;
    if (!ptr) m->open++;
    return realloc(ptr, size);
}

static void *scarce_allocate(size_t size, void *user)
{
    return scarce_resize(NULL, size, user);
}

static void scarce_release(void *ptr, void *user)
{
    struct scarce *m = user;
    if (ptr) m->open--;
    free(ptr);
}

/* Runs all that allocates; returns 1 if nothing was refused. */
static int scarce_run(const struct allocator *alloc)
{
    static const enum verb ops[] = {VERB_PROPOSE, VERB_RELEASE, VERB_BREAK,
                                    VERB_LIST, VERB_INSPECT};
    struct store *s = hf__rules_store_open(alloc);
    int refused = !s;
    for (size_t i = 0; s && i < 100; i++) {
        char name[16];
        struct reply rep;
        struct request req = request_of(ops[i % 5], "a:1", i, NOW + (int64_t)i);
        snprintf(name, sizeof name, "n%zu", i);
        if (req.verb != VERB_LIST) req.name = name;
        if (req.verb == VERB_LIST) req.name = NULL;
        req.name_len = strlen(name);
        hf__rules_store_apply(s, NOW, &req, &rep);
        if (rep.verdict != V_ERROR) continue;
        CHECK_INT(rep.status, HF_NOMEM);
        CHECK(rep.text != NULL);
        refused = 1;
    }
    hf__rules_store_close(s);
    return !refused;
}

TEST(store, every_failing_allocation_is_an_answer)
{
    struct scarce m = {0, 0};
    struct allocator alloc = {
        {scarce_allocate, scarce_resize, scarce_release, &m}};
    int allocations = 0, done = 0;
    while (!done) {
        CHECK(allocations < 1000);
        m.left = allocations++;
        done = scarce_run(&alloc);
        CHECK_INT(m.open, 0);
    }
    CHECK(allocations > 20);
}
