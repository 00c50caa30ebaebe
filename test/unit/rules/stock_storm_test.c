/*
 * stock_storm_test.c: a sale in virtual time.  Buyers, the fetching of units
 * between segments, payments, cancels, and forged tokens are interleaved at
 * every round trip; packets come late, twice or never, and clients crash.
 *
 * The rule: after every packet the books are compared with a ledger of our own,
 * which believes nothing but the events; and each planted bug is found.
 */
#define HF_MUTATIONS 1
#include "rules/stock.c"
#include "rules/stock_book.c"

#include <stdio.h>

#include "core/stock_walk.h"
#include "sys/random.h"
#include "test.h"

#define SEGMENTS 4
#define USERS 10
#define IDS 6
#define ACTORS 8
#define PACKETS 64
#define ORDERS 4000
#define STEPS 2500
#define SEEDS 400
#define HOLD_MS 400
#define MAX_HOLD_MS 1000
#define BACK_MS 500 /* by which the clock is set back at once */

/* A request on its way, or kept to come once more. */
struct packet {
    int is_used, actor, turn; /* of the actor when it was sent */
    uint32_t place;           /* among the jobs of one phase */
    struct stock_job job;
    int by, under; /* the user, the request id */
    char user[16], id[16];
};

enum actor_does { DOES_NOTHING, DOES_WALK, DOES_SETTLE };

struct actor {
    enum actor_does does;
    int turn;
    struct stock_walk walk;
    uint32_t waits; /* answers of this phase not yet here */
    uint8_t heard[SEGMENTS];
    int user, id;
    int64_t units, order, pause_ms;
    char nonce[STOCK_NONCE_LEN + 1];
    enum stock_do settles;
};

/* What the events say of one order. */
struct ledger {
    char stage; /* 0: no such order */
    int user, id;
    int64_t units, born_ms;
    int is_refunded; /* a client was told that it is not sold */
    char nonce[STOCK_NONCE_LEN + 1];
};

static struct world {
    struct stock_segment *segments[SEGMENTS];
    uint32_t len;
    int64_t limit, made, now_ms;
    unsigned nonces;
    uint64_t random;
    struct actor actors[ACTORS];
    struct packet packets[PACKETS];
    struct ledger ledger[SEGMENTS][ORDERS];
    int64_t heard[SEGMENTS]; /* events taken into the ledger */
    int calm;                /* no faults any more */
    int restocks;
    char wrong[200];
    int said[STOCK_OTHER + 1], ended[STOCK_DOS];
} w;

static uint64_t draw(uint64_t n)
{
    return hf__random_next(&w.random) % n;
}

static int fault(uint64_t percent)
{
    return !w.calm && draw(100) < percent;
}

#define WRONG(...)                                                             \
    do {                                                                       \
        if (!w.wrong[0]) snprintf(w.wrong, sizeof w.wrong, __VA_ARGS__);       \
    } while (0)

/* ---- what must be true ---- */

static int is_live(const struct ledger *l)
{
    return l->stage == 'H' || l->stage == 'S';
}

static int64_t units_of_user(int user)
{
    int64_t units = 0;
    for (uint32_t i = 0; i < w.len; i++)
        for (int64_t o = 1; o <= w.heard[i]; o++)
            if (is_live(&w.ledger[i][o]) && w.ledger[i][o].user == user)
                units += w.ledger[i][o].units;
    return units;
}

/* May this event follow on that stage?  The new stage, or 0. */
static char stage_after(char stage, int kind)
{
    switch (kind) {
    case STOCK_EVENT_RESERVED:
        return stage == 0 ? 'H' : 0;
    case STOCK_EVENT_SOLD:
        return stage == 'H' ? 'S' : 0;
    case STOCK_EVENT_CANCELLED:
        return stage == 'H' ? 'K' : 0;
    case STOCK_EVENT_EXPIRED:
        return stage == 'H' ? 'X' : 0;
    case STOCK_EVENT_REFUSED:
        return stage == 'X' ? 'F' : 0;
    default:
        return stage == 'X' ? 'S' : 0;
    }
}

static void event_take(uint32_t segment, int64_t number)
{
    int64_t order = 0, units = 0;
    int kind =
        hf__rules_stock_event(w.segments[segment], number, &order, &units);
    struct ledger *l = &w.ledger[segment][order];
    char stage = stage_after(l->stage, kind);
    if (!stage) WRONG("P5 P8: event %c on an order that is %c", kind, l->stage);
    if (stage == 'S' && l->is_refunded) WRONG("P8: refunded, and sold");
    if (kind == STOCK_EVENT_EXPIRED && w.now_ms < l->born_ms + HOLD_MS)
        WRONG("P5: expired before its time");
    l->stage = stage;
    if (kind == STOCK_EVENT_RESERVED) {
        l->units = units;
        l->born_ms = w.segments[segment]->last_ms;
    } else if (l->units != units) {
        WRONG("P7: an event of other units");
    }
}

/* Books against events, each segment by itself. */
static void segment_check(uint32_t segment)
{
    const struct stock_segment *s = w.segments[segment];
    int64_t held = 0, sold = 0;
    while (w.heard[segment] < s->events_len && !w.wrong[0])
        event_take(segment, ++w.heard[segment]);
    for (int64_t o = 1; o <= s->events_len; o++) {
        const struct ledger *l = &w.ledger[segment][o];
        if (l->stage == 'H') held += l->units;
        if (l->stage == 'S') sold += l->units;
    }
    if (s->init + s->in - s->out != s->avail + s->held + s->sold)
        WRONG("P4: the books of segment %u do not balance", segment);
    if (s->avail < 0 || s->held < 0) WRONG("P1: less than nothing");
    if (held != s->held || sold != s->sold)
        WRONG("P7: books and events of segment %u differ", segment);
}

static int64_t sum_check(void)
{
    int64_t sum = 0, taken = 0, avail = 0;
    for (uint32_t i = 0; i < w.len; i++) {
        const struct stock_segment *s = w.segments[i];
        sum += s->avail + s->held + s->sold;
        taken += s->held + s->sold;
        avail += s->avail;
        for (uint32_t j = 0; j < w.len; j++)
            if (s->aside[j].number > w.segments[j]->taken[i])
                sum += s->aside[j].units;
    }
    if (taken > w.made) WRONG("P1: oversold");
    if (sum != w.made)
        WRONG("P4: %lld units of %lld", (long long)sum, (long long)w.made);
    return avail;
}

static void all_check(void)
{
    for (uint32_t i = 0; i < w.len; i++) segment_check(i);
    (void)sum_check();
    for (int u = 0; w.limit && u < USERS; u++)
        if (units_of_user(u) > w.limit) WRONG("P3: a user has too much");
}

/* ---- packets ---- */

static void packet_send(int actor, uint32_t place, const struct stock_job *job,
                        int user, int id)
{
    for (int i = 0; i < PACKETS; i++) {
        struct packet *p = &w.packets[i];
        if (p->is_used) continue;
        *p = (struct packet){.is_used = 1,
                             .actor = actor,
                             .turn = w.actors[actor].turn,
                             .place = place,
                             .job = *job,
                             .by = user,
                             .under = id};
        snprintf(p->user, sizeof p->user, "u%d", user);
        snprintf(p->id, sizeof p->id, "r%d", id);
        return;
    }
}

static void nonce_make(char *out)
{
    snprintf(out, STOCK_NONCE_LEN + 1, "%011u", ++w.nonces);
}

/* Send what the actor waits for; also once more. */
static void actor_send(int at)
{
    struct actor *a = &w.actors[at];
    struct stock_job job;
    if (a->does == DOES_SETTLE) {
        job = (struct stock_job){.what = a->settles,
                                 .segments = w.len,
                                 .segment = a->walk.home,
                                 .order = a->order,
                                 .ms = (int64_t)draw(2 * MAX_HOLD_MS)};
        memcpy(job.nonce, a->nonce, sizeof job.nonce);
        packet_send(at, 0, &job, a->user, a->id);
        return;
    }
    for (uint32_t i = 0; i < hf__stock_walk_jobs(&a->walk); i++) {
        if (a->heard[i]) continue;
        hf__stock_walk_ask(&a->walk, i, &job);
        memcpy(job.nonce, a->nonce, sizeof job.nonce);
        packet_send(at, i, &job, a->user, a->id);
    }
}

static void phase_begin(int at)
{
    struct actor *a = &w.actors[at];
    a->turn++;
    a->waits = a->does == DOES_WALK ? hf__stock_walk_jobs(&a->walk) : 1;
    memset(a->heard, 0, sizeof a->heard);
    actor_send(at);
}

static void settle_begin(int at, enum stock_do what)
{
    w.actors[at].does = DOES_SETTLE;
    w.actors[at].settles = what;
    if (w.actors[at].pause_ms > w.now_ms)
        w.actors[at].turn++; /* sent by actor_step() */
    else
        phase_begin(at);
}

/* The walk is over: is what it says the truth, and what comes next? */
static void walk_over(int at)
{
    static const enum stock_do next[] = {STOCK_CONFIRM, STOCK_CONFIRM,
                                         STOCK_CONFIRM, STOCK_CANCEL,
                                         STOCK_EXTEND};
    struct actor *a = &w.actors[at];
    w.said[a->walk.says]++;
    a->does = DOES_NOTHING;
    a->turn++;
    if (a->walk.says == STOCK_SOLD_OUT && w.calm && sum_check() >= a->units)
        WRONG("P2: refused, and %lld are there", (long long)sum_check());
    if (a->walk.says != STOCK_RESERVED || fault(20)) return;
    if (fault(25)) a->pause_ms = w.now_ms + (int64_t)draw(3 * HOLD_MS);
    settle_begin(at, next[draw(sizeof next / sizeof next[0])]);
}

static void settle_over(int at, const struct stock_job *job)
{
    struct actor *a = &w.actors[at];
    struct ledger *l = &w.ledger[job->segment][job->order];
    const struct stock_told *t = &job->told;
    a->does = DOES_NOTHING;
    a->turn++;
    w.ended[job->what]++;
    if (fault(20)) settle_begin(at, draw(2) ? STOCK_CONFIRM : STOCK_CANCEL);
    if (job->what == STOCK_EXTEND && t->state == HF_STOCK_HELD) {
        if (t->left_ms && w.now_ms + t->left_ms > l->born_ms + MAX_HOLD_MS)
            WRONG("P5: held for longer than the sale allows");
        if (fault(50)) settle_begin(at, STOCK_EXTEND);
    }
}

/* ---- what a packet does ---- */

/* At the segment, whether or not an answer is still waited for. */
static void reserve_note(const struct packet *p, const struct stock_told *t)
{
    int64_t order = t->order;
    if (t->says == STOCK_LIMIT && w.limit
        && units_of_user(p->by) + p->job.units <= w.limit)
        WRONG("P3: refused below the limit");
    if (t->says != STOCK_RESERVED || !t->changed) return;
    struct ledger *l = &w.ledger[p->job.segment][order];
    for (int64_t o = 1; o < order; o++) {
        const struct ledger *old = &w.ledger[p->job.segment][o];
        if (is_live(old) && old->user == p->by && old->id == p->under)
            WRONG("P3: one request id, two reservations");
    }
    if (l->stage) WRONG("P7: an order number twice");
    l->user = p->by;
    l->id = p->under;
    memcpy(l->nonce, p->job.nonce, sizeof l->nonce);
}

static void settle_note(const struct packet *p, const struct stock_told *t)
{
    struct ledger *l = &w.ledger[p->job.segment][p->job.order];
    if (strcmp(l->nonce, p->job.nonce) != 0) {
        if (t->state != HF_STOCK_UNKNOWN || t->changed)
            WRONG("a forged token was good");
        return;
    }
    if (p->job.what != STOCK_EXTEND
        && (t->state == HF_STOCK_EXPIRED || t->state == HF_STOCK_CANCELLED
            || t->state == HF_STOCK_UNKNOWN))
        l->is_refunded = 1;
    if (p->job.what == STOCK_CONFIRM && t->state == HF_STOCK_SOLD
        && l->is_refunded)
        WRONG("P8: refunded, and told to be sold");
}

static void answer_take(struct packet *p)
{
    struct actor *a = &w.actors[p->actor];
    if (a->turn != p->turn || a->does == DOES_NOTHING) return;
    if (fault(4)) return; /* lost: it is sent once more */
    if (a->does == DOES_SETTLE) {
        settle_over(p->actor, &p->job);
        return;
    }
    if (a->heard[p->place]) return;
    a->heard[p->place] = 1;
    if (a->walk.phase == WALK_RESERVE && p->job.told.says == STOCK_RESERVED)
        a->order = p->job.told.order;
    hf__stock_walk_told(&a->walk, &p->job);
    if (--a->waits) return;
    hf__stock_walk_next(&a->walk);
    if (fault(5)) { /* crashes between two steps */
        a->does = DOES_NOTHING;
        a->turn++;
    } else if (hf__stock_walk_jobs(&a->walk)) {
        phase_begin(p->actor);
    } else {
        walk_over(p->actor);
    }
}

static void packet_deliver(struct packet *at)
{
    struct packet p = *at;
    int64_t units = p.job.units;
    /* Some come once more, later; acknowledgements long after. */
    if (!fault(p.job.what == STOCK_ACK ? 60 : 12)) at->is_used = 0;
    p.job.user = p.user;
    p.job.id = p.id;
    CHECK_INT(
        hf__rules_stock_apply(w.segments[p.job.segment], w.now_ms, &p.job),
        HF_OK);
    if (p.job.what == STOCK_RESERVE) reserve_note(&p, &p.job.told);
    segment_check(p.job.segment);
    if (p.job.what == STOCK_RESERVE && p.job.told.says == STOCK_RESERVED
        && w.ledger[p.job.segment][p.job.told.order].units != units)
        WRONG("reserved other than asked for");
    if (p.job.what == STOCK_CONFIRM || p.job.what == STOCK_CANCEL
        || p.job.what == STOCK_EXTEND)
        settle_note(&p, &p.job.told);
    answer_take(&p);
    all_check();
}

/* ---- the storm ---- */

static void walk_start(int at, int user, int id, int64_t units)
{
    struct actor *a = &w.actors[at];
    a->does = DOES_WALK;
    a->user = user;
    a->id = id;
    a->units = units;
    nonce_make(a->nonce);
    hf__stock_walk_begin(&a->walk, (uint32_t)user % w.len, w.len, units);
    phase_begin(at);
}

/* A buyer that crashed may come back and repeat: one user and id, one number of
 * units. */
static void buyer_start(int at)
{
    int user = (int)draw(USERS), id = (int)draw(IDS);
    walk_start(at, user, id, 1 + id % 2);
}

static void forge(int at)
{
    struct actor *a = &w.actors[at];
    uint32_t segment = (uint32_t)draw(w.len);
    if (!w.heard[segment]) return;
    a->order = 1 + (int64_t)draw((uint64_t)w.heard[segment]);
    a->walk.home = segment;
    a->user = w.ledger[segment][a->order].user;
    nonce_make(a->nonce);
    settle_begin(at, draw(2) ? STOCK_CONFIRM : STOCK_CANCEL);
}

static void restock_some(void)
{
    char id[16];
    struct stock_job job = {.what = STOCK_RESTOCK,
                            .segments = w.len,
                            .segment = (uint32_t)draw(w.len),
                            .units = 2,
                            .id = id};
    snprintf(id, sizeof id, "m%d", w.restocks++);
    for (int copies = 0; copies < 2; copies++)
        CHECK_INT(
            hf__rules_stock_apply(w.segments[job.segment], w.now_ms, &job),
            HF_OK);
    w.made += 2;
}

static void actor_step(int at)
{
    struct actor *a = &w.actors[at];
    if (a->pause_ms > w.now_ms && !w.calm) return;
    if (a->does != DOES_NOTHING)
        actor_send(at); /* no answer: once more */
    else if (fault(8))
        forge(at);
    else if (!w.calm)
        buyer_start(at);
}

static void step(void)
{
    int at = (int)draw(PACKETS);
    w.now_ms += (int64_t)draw(3);
    if (fault(1)) w.now_ms += (int64_t)draw(2 * HOLD_MS);
    if (fault(1)) w.now_ms -= (int64_t)draw(BACK_MS);
    if (w.restocks < 20 && draw(100) == 0 && !w.calm) restock_some();
    for (int i = 0; i < PACKETS; i++, at++)
        if (w.packets[at % PACKETS].is_used) {
            packet_deliver(&w.packets[at % PACKETS]);
            break;
        }
    if (draw(4) == 0) actor_step((int)draw(ACTORS));
}

static void sale_open(uint64_t seed, enum stock_mutation bug)
{
    memset(&w, 0, sizeof w);
    w.random = seed;
    w.now_ms = 1000000;
    w.len = 1 + (uint32_t)draw(SEGMENTS);
    w.limit = (int64_t)draw(5);
    for (uint32_t i = 0; i < w.len; i++) {
        struct stock_job job = {.what = STOCK_MAKE,
                                .segments = w.len,
                                .units = (int64_t)draw(10),
                                .terms = {w.limit, HOLD_MS, MAX_HOLD_MS, 0, 0}};
        w.segments[i] = hf__rules_stock_open(&hf__alloc_default);
        CHECK(w.segments[i] != NULL);
        hf__rules_stock_mutate(w.segments[i], bug);
        CHECK_INT(hf__rules_stock_apply(w.segments[i], w.now_ms, &job), HF_OK);
        w.made += job.units;
    }
}

static void sale_close(void)
{
    for (uint32_t i = 0; i < w.len; i++) hf__rules_stock_close(w.segments[i]);
}

/* Without faults everything that is left is sold, whatever segment is asked. */
static void rest_sell(void)
{
    int id = 1000; /* of users that had nothing yet */
    w.calm = 1;
    for (int i = 0; i < ACTORS; i++) w.actors[i].does = DOES_NOTHING;
    memset(w.packets, 0, sizeof w.packets);
    w.now_ms += 2 * MAX_HOLD_MS + 20 * BACK_MS;
    for (int user = 1000; user < 1400 && !w.wrong[0]; user++) {
        w.now_ms += 1 + STOCK_GONE_MS; /* "sold out" is believed so far */
        walk_start(0, user, id++, 1);
        w.actors[0].walk.home = (uint32_t)draw(w.len);
        memset(w.packets, 0, sizeof w.packets);
        phase_begin(0);
        for (int i = 0; i < 2000 && w.actors[0].does == DOES_WALK; i++) step();
        CHECK(w.actors[0].does != DOES_WALK);
        for (int i = 0; i < 2000 && w.actors[0].does != DOES_NOTHING; i++)
            step();
    }
    int64_t avail = sum_check();
    if (avail) WRONG("P2: %lld are left", (long long)avail);
}

/* 1 if something was wrong. */
static int storm(uint64_t seed, enum stock_mutation bug)
{
    sale_open(seed, bug);
    for (int i = 0; i < STEPS && !w.wrong[0]; i++) step();
    if (!w.wrong[0]) rest_sell();
    sale_close();
    return w.wrong[0] != '\0';
}

TEST(stock_storm, sells_each_unit_once_whatever_is_lost_or_repeated)
{
    int said[STOCK_OTHER + 1] = {0}, ended[STOCK_DOS] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        if (storm(seed, STOCK_MUT_NONE))
            TEST_FAIL("seed %llu: %s", (unsigned long long)seed, w.wrong);
        for (int i = 0; i <= STOCK_OTHER; i++) said[i] += w.said[i];
        for (int i = 0; i < STOCK_DOS; i++) ended[i] += w.ended[i];
    }
    CHECK(said[STOCK_RESERVED] > SEEDS && said[STOCK_DUPLICATE] > SEEDS);
    CHECK(said[STOCK_LIMIT] > SEEDS && said[STOCK_SOLD_OUT] > SEEDS);
    CHECK(said[STOCK_BUSY] > 0);
    CHECK(ended[STOCK_CONFIRM] > SEEDS && ended[STOCK_CANCEL] > SEEDS);
    CHECK(ended[STOCK_EXTEND] > SEEDS);
}

TEST(stock_storm, finds_each_planted_bug)
{
    for (int bug = STOCK_MUT_NONE + 1; bug < STOCK_NMUTATIONS; bug++) {
        uint64_t seed = 1;
        while (seed <= SEEDS && !storm(seed, (enum stock_mutation)bug)) seed++;
        if (seed > SEEDS) TEST_FAIL("planted bug %d is not found", bug);
    }
}
