/*
 * rules_cell_test.c: a store that lives on, and one that is saved as a row and
 * loaded again between any two requests.  One rule: they answer alike.
 */
#include <stdio.h>
#include <string.h>

#include "rules/cell.h"
#include "sys/random.h"
#include "test.h"

#define T0 (INT64_C(1700000000) * US_PER_S)
#define SEEDS 150
#define REQUESTS 400
#define PAST 16 /* requests that may be repeated */

static struct store *lives, *rows;
static struct cell_plain plain;
static struct cell_bytes state = {.alloc = &hf__alloc_default};
static int64_t now_us;
static struct request past[PAST];

static void stores_end(void *arg)
{
    (void)arg;
    hf__rules_store_close(lives);
    hf__rules_store_close(rows);
    lives = rows = NULL;
    hf__rules_cell_free(&state);
}

static void stores_begin(void)
{
    if (lives) stores_end(NULL);
    lives = hf__rules_store_open(&hf__alloc_default);
    rows = hf__rules_store_open(&hf__alloc_default);
    CHECK(lives != NULL && rows != NULL);
    plain = (struct cell_plain){0};
    state.len = 0;
    now_us = T0;
    memset(past, 0, sizeof past);
}

/* ---- requests ----------------------------------------------------------- */

static uint64_t seed;

static int64_t draw(int64_t below)
{
    return (int64_t)(hf__random_next(&seed) % (uint64_t)below);
}

static void tally_draw(struct request *req)
{
    static const enum tally_do latch[] = {TALLY_READ, TALLY_OPEN, TALLY_DOWN,
                                          TALLY_DOWN, TALLY_DELETE};
    req->verb = VERB_TALLY;
    req->ballot = 0;
    req->lease_us = 30 * US_PER_S;
    req->tally = (enum tally_do)draw(TALLY_DELETE + 1);
    if (req->kind == KIND_LATCH) req->tally = latch[draw(5)];
    if (req->kind == KIND_BARRIER) req->tally = TALLY_READ;
    req->number = 1 + draw(4);
    if (draw(4) == 0) req->flags |= REQ_ANYWAY;
}

static void value_draw(struct request *req)
{
    req->lease_us = draw(3) ? draw(200) * US_PER_MS : 0;
    req->ballot = 0;
    req->verb = draw(2) ? VERB_VALUE_WRITE : VERB_VALUE_READ;
    req->version = draw(2) ? HF_VALUE_ANY : 0;
    if (draw(3) == 0) {
        req->verb = VERB_GUARD;
        req->version = (uint64_t)(1 + draw(20));
        req->flags = draw(2) ? REQ_GUARD_VALUE : 0;
        if (draw(3) == 0) req->flags |= REQ_GUARD_LOOK;
        if (draw(4) == 0) req->flags |= REQ_GUARD_CLAIM;
    }
    if (draw(5) == 0) req->flags |= REQ_DELETE;
    req->data = "bytes\0that follow";
    req->data_len = (size_t)draw(18);
}

static void lock_draw(struct request *req)
{
    static const enum verb verbs[] = {VERB_PROPOSE, VERB_PROPOSE, VERB_PROPOSE,
                                      VERB_RELEASE, VERB_RELEASE, VERB_RENEW,
                                      VERB_INSPECT, VERB_BREAK};
    req->verb = verbs[draw(8)];
    if (req->verb == VERB_BREAK && draw(3)) req->verb = VERB_PROPOSE;
    req->ballot = now_us - draw(40) * 100 * US_PER_MS / (1 + draw(40));
    req->lease_us = (1 + draw(draw(4) ? 300 : 3000)) * US_PER_MS;
    req->count = 1 + (int32_t)draw(3);
    req->permits = 1 + (int32_t)draw(3);
    if (req->kind == KIND_BARRIER) req->permits = 2;
    if (draw(2)) req->flags |= REQ_QUEUE;
    if (draw(6) == 0) req->flags |= REQ_WRITERS | REQ_QUEUE;
    if (draw(6) == 0) req->flags |= REQ_UPGRADE;
    if (draw(4) == 0) req->flags |= REQ_UNSURE;
    if (draw(8) == 0) req->flags |= REQ_DETACHED;
    if (req->verb == VERB_PROPOSE && draw(3) == 0) req->capacity = 1 + draw(4);
    if (req->verb == VERB_PROPOSE && draw(2)) req->seen = now_us - 1000;
    if (req->kind == KIND_BARRIER) req->seen = 0;
    req->round = 1 + (uint32_t)draw(2);
    req->info = "12 host a label";
    if (req->verb == VERB_BREAK || req->verb == VERB_INSPECT) req->info = NULL;
}

/* `kinds` are the kinds that this run is about. */
static struct request request_draw(unsigned kinds)
{
    struct request req = {.name = "n", .name_len = 1};
    if (draw(4) == 0 && past[draw(PAST)].name) {
        req = past[draw(PAST)];
        req.flags |= REQ_REPEATED;
        if (req.name) return req;
        req = (struct request){.name = "n", .name_len = 1};
    }
    do req.kind = (enum lock_kind)draw(KINDS_LEN);
    while (!(kinds & (1u << req.kind)));
    req.flags = REQ_SERVER_FENCE;
    req.window_us = BALLOT_WINDOW_US;
    req.attempt = 1 + hf__random_next(&seed) % 1000000;
    snprintf(req.owner, sizeof req.owner, "uuid-%d:%d", (int)draw(2),
             (int)draw(2));
    if (kinds & 1u << KINDS_LEN && draw(3) == 0)
        value_draw(&req);
    else if (req.kind >= KIND_PERMIT && draw(3) == 0)
        tally_draw(&req);
    else
        lock_draw(&req);
    past[draw(PAST)] = req;
    return req;
}

/* ---- comparing ---------------------------------------------------------- */

static int request_at;

static void differ(const struct request *req, const char *what, int64_t a,
                   int64_t b)
{
    if (a == b) return;
    TEST_FAIL("request %d, verb %d, kind %d: %s: %lld and loaded %lld",
              request_at, (int)req->verb, (int)req->kind, what, (long long)a,
              (long long)b);
}

static void compare_info(const struct request *req, const struct hf_info *a,
                         const struct hf_info *b)
{
    differ(req, "info", a != NULL, b != NULL);
    if (!a) return;
    differ(req, "queued", a->queued, b->queued);
    differ(req, "position", a->position, b->position);
    differ(req, "locked", a->locked, b->locked);
    differ(req, "mine", a->mine, b->mine);
    differ(req, "count", a->count, b->count);
    differ(req, "owner count", a->owner_count, b->owner_count);
    differ(req, "ttl", a->ttl_ms, b->ttl_ms);
    differ(req, "since", a->since_ms, b->since_ms);
    differ(req, "token", (int64_t)a->fence, (int64_t)b->fence);
    differ(req, "readers", a->readers, b->readers);
    differ(req, "shared", a->shared, b->shared);
    differ(req, "detached", a->detached, b->detached);
    differ(req, "available", a->available, b->available);
    differ(req, "permits", a->permits, b->permits);
    CHECK_STR(a->owner, b->owner);
    CHECK_STR(a->label, b->label);
}

static void compare_tally(const struct request *req, const struct tally_told *a,
                          const struct tally_told *b)
{
    differ(req, "tally", a != NULL, b != NULL);
    if (!a) return;
    differ(req, "is there", a->is_there, b->is_there);
    differ(req, "value", a->value, b->value);
    differ(req, "capacity", a->capacity, b->capacity);
    differ(req, "taken", a->taken, b->taken);
}

static void compare_handed(const struct request *req)
{
    struct handoff a, b;
    int is_handed = hf__rules_store_handed(lives, &a);
    differ(req, "handed", is_handed, hf__rules_store_handed(rows, &b));
    if (!is_handed) return;
    CHECK_STR(a.owner, b.owner);
    differ(req, "handed attempt", (int64_t)a.attempt, (int64_t)b.attempt);
    differ(req, "handed token", a.fence, b.fence);
    differ(req, "handed lease", a.lease_us, b.lease_us);
}

static void compare(const struct request *req, const struct reply *a,
                    const struct reply *b)
{
    differ(req, "verdict", a->verdict, b->verdict);
    differ(req, "status", a->status, b->status);
    differ(req, "fence", a->fence, b->fence);
    differ(req, "counter", a->counter, b->counter);
    differ(req, "ttl", a->ttl_us, b->ttl_us);
    differ(req, "poll", a->poll_us, b->poll_us);
    differ(req, "version", (int64_t)a->version, (int64_t)b->version);
    differ(req, "length", (int64_t)a->data_len, (int64_t)b->data_len);
    if (a->data_len > 0) CHECK(!memcmp(a->data, b->data, a->data_len));
    differ(req, "text", a->text != NULL, b->text != NULL);
    if (a->text) CHECK_STR(a->text, b->text);
    compare_info(req, a->info, b->info);
    compare_tally(req, a->tally, b->tally);
    compare_handed(req);
    differ(req, "news", hf__rules_store_is_news(lives, req, a),
           hf__rules_store_is_news(rows, req, b));
}

static void request_do(const struct request *req)
{
    struct reply a, b;
    hf__rules_store_apply(lives, now_us, req, &a);
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, state.at, state.len),
              HF_OK);
    hf__rules_store_apply(rows, now_us, req, &b);
    compare(req, &a, &b);
    CHECK_INT(hf__rules_cell_save(rows, now_us, "n", 1, &plain, &state), HF_OK);
}

static void run(unsigned kinds)
{
    test_cleanup(stores_end, NULL);
    for (uint64_t i = 1; i <= SEEDS; i++) {
        seed = i;
        stores_begin();
        for (request_at = 0; request_at < REQUESTS; request_at++) {
            struct request req = request_draw(kinds);
            now_us += 1 + draw(draw(8) ? 20 * US_PER_MS : 600 * US_PER_MS);
            request_do(&req);
        }
    }
}

#define BIT(kind) (1u << (kind))

TEST(rules_cell, plain_lock_and_its_queue_survive)
{
    run(BIT(KIND_PLAIN));
}

TEST(rules_cell, readers_and_writers_survive)
{
    run(BIT(KIND_READ) | BIT(KIND_WRITE));
}

TEST(rules_cell, permits_survive)
{
    run(BIT(KIND_PERMIT));
}

TEST(rules_cell, counters_survive)
{
    run(BIT(KIND_COUNT));
}

TEST(rules_cell, latches_survive)
{
    run(BIT(KIND_LATCH));
}

TEST(rules_cell, barriers_survive)
{
    run(BIT(KIND_BARRIER));
}

TEST(rules_cell, values_and_guards_survive)
{
    run(BIT(KIND_PLAIN) | BIT(KINDS_LEN));
}

TEST(rules_cell, kinds_that_are_mixed_survive)
{
    run(BIT(KINDS_LEN + 1) - 1);
}

/* ---- bytes -------------------------------------------------------------- */

static void lock_take(int64_t lease_us)
{
    struct request req = {.verb = VERB_PROPOSE,
                          .flags = REQ_SERVER_FENCE,
                          .name = "n",
                          .name_len = 1,
                          .owner = "a:1",
                          .attempt = 7,
                          .ballot = now_us,
                          .count = 1,
                          .lease_us = lease_us,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "1 h l"};
    struct reply rep;
    hf__rules_store_apply(lives, now_us, &req, &rep);
    CHECK_INT(rep.verdict, V_GRANTED);
}

TEST(rules_cell, a_plain_lock_needs_no_state)
{
    test_cleanup(stores_end, NULL);
    stores_begin();
    lock_take(US_PER_S);
    CHECK_INT(hf__rules_cell_save(lives, now_us, "n", 1, &plain, &state),
              HF_OK);
    CHECK_INT((int64_t)state.len, 0);
    CHECK_STR(plain.owner, "a:1");
    CHECK_INT(plain.ends_us, T0 + US_PER_S + US_PER_MS);
    CHECK_INT(plain.counter, T0);
}

TEST(rules_cell, a_hold_that_has_ended_is_not_saved_and_its_counter_is)
{
    test_cleanup(stores_end, NULL);
    stores_begin();
    lock_take(US_PER_S);
    CHECK_INT(hf__rules_cell_save(lives, now_us + 2 * US_PER_S, "n", 1, &plain,
                                  &state),
              HF_OK);
    CHECK_STR(plain.owner, "");
    CHECK_INT(plain.counter, T0);
}

/* An end of another program's making counts up to the next millisecond. */
TEST(rules_cell, an_end_is_never_earlier_than_the_row_says)
{
    struct store_view view;
    test_cleanup(stores_end, NULL);
    stores_begin();
    plain = (struct cell_plain){
        .owner = "a:1", .ends_us = T0 + 1500, .since_us = T0, .holds = 1};
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, NULL, 0), HF_OK);
    CHECK(hf__rules_store_look(rows, T0 + 1499, "n", 1, &view));
    CHECK(!hf__rules_store_look(rows, T0 + 2000, "n", 1, &view));
}

static void state_make(void)
{
    test_cleanup(stores_end, NULL);
    seed = 3;
    stores_begin();
    for (int i = 0; i < 60; i++) {
        struct request req = request_draw(BIT(KINDS_LEN + 1) - 1);
        now_us += draw(2000);
        request_do(&req);
    }
    CHECK(state.len > 20);
}

TEST(rules_cell, bytes_that_end_early_are_refused_or_another_record)
{
    state_make();
    for (size_t len = 1; len < state.len; len++) {
        int status = hf__rules_cell_load(rows, "n", 1, &plain, state.at, len);
        CHECK(status == HF_CONFLICT || status == HF_OK);
    }
}

TEST(rules_cell, the_same_record_has_the_same_bytes)
{
    struct cell_bytes again = {.alloc = &hf__alloc_default};
    struct cell_plain back;
    state_make();
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, state.at, state.len),
              HF_OK);
    CHECK_INT(hf__rules_cell_save(rows, now_us, "n", 1, &back, &again), HF_OK);
    CHECK(hf__rules_cell_is_same(&plain, &back));
    CHECK(again.len == state.len && !memcmp(again.at, state.at, again.len));
    hf__rules_cell_free(&again);
}

TEST(rules_cell, another_format_and_what_no_lock_has_are_refused)
{
    static const unsigned char newer[] = {2, 1, 0, 0}, unknown[] = {1, 99};
    static const unsigned char twice[] = {1, 1, 2, 0, 1, 2, 0};
    test_cleanup(stores_end, NULL);
    stores_begin();
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, newer, sizeof newer),
              HF_CONFLICT);
    CHECK_INT(
        hf__rules_cell_load(rows, "n", 1, &plain, unknown, sizeof unknown),
        HF_CONFLICT);
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, twice, sizeof twice),
              HF_CONFLICT);
    plain.counter = -1;
    CHECK_INT(hf__rules_cell_load(rows, "n", 1, &plain, NULL, 0), HF_CONFLICT);
}

/* ---- no memory ---------------------------------------------------------- */

static int allocs_left;

static void *few_alloc(size_t size, void *user)
{
    (void)user;
    return allocs_left-- > 0 ? hf__alloc(&hf__alloc_default, size) : NULL;
}

static void *few_realloc(void *ptr, size_t size, void *user)
{
    (void)user;
    return allocs_left-- > 0 ? hf__realloc(&hf__alloc_default, ptr, size)
                             : NULL;
}

static void few_free(void *ptr, void *user)
{
    (void)user;
    hf__free(&hf__alloc_default, ptr);
}

TEST(rules_cell, without_memory_a_load_fails_and_leaves_nothing)
{
    struct allocator few = {.fn = {.allocate = few_alloc,
                                   .resize = few_realloc,
                                   .release = few_free}};
    state_make();
    for (int n = 0, status = HF_NOMEM; status != HF_OK; n++) {
        allocs_left = 1;
        struct store *s = hf__rules_store_open(&few);
        CHECK(s != NULL);
        allocs_left = n;
        status = hf__rules_cell_load(s, "n", 1, &plain, state.at, state.len);
        CHECK(status == HF_OK || status == HF_NOMEM);
        hf__rules_store_close(s);
        CHECK(n < 1000);
    }
}
