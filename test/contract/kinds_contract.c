/*
 * kinds_contract.c: one name, one kind.  One rule: each kind says in one row
 * how it is used, and every pair of rows is tried.
 */
#include <stdio.h>
#include <string.h>

#include "lib/rig_gate.h"
#include "lib/rig_semaphore.h"

#define ALL_KINDS (HF_CAP_RW | HF_CAP_QUEUE | HF_CAP_PERMIT | HF_CAP_TALLY)

/* A name in use as one kind, by one client.  Static. */
struct use {
    hf_lock *lock;
    hf_semaphore *sem;
    hf_hold *hold; /* of the lock, or permits of the semaphore */
    hf_latch *latch;
    hf_barrier *barrier;
    struct gate_wait wait;
};

struct row {
    const char *word;
    int family; /* rows of one family share a name */
    /* Open the name, changing nothing. */
    void (*open)(struct use *u, hf_client *c, const char *name);
    /* Bring it into use, waiting as long as it takes; a status. */
    int (*begin)(struct use *u, struct hf_error *err);
    /* Is it in use as it was left by begin()? */
    int (*is_same)(struct use *u);
    /* It is not in use any more.  NULL: it ends by itself, minutes later. */
    void (*end)(struct use *u);
};

/* ---- locks ----------------------------------------------------------  */

static void lock_open(struct use *u, hf_client *c, const char *name, int kind,
                      int order)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.kind = kind;
    o.order = order;
    u->lock = rig_lock_as(c, name, &o);
}

static void plain_open(struct use *u, hf_client *c, const char *name)
{
    lock_open(u, c, name, HF_KIND_PLAIN, HF_ORDER_ANY);
}

static void fair_open(struct use *u, hf_client *c, const char *name)
{
    lock_open(u, c, name, HF_KIND_PLAIN, HF_ORDER_FAIR);
}

static void read_open(struct use *u, hf_client *c, const char *name)
{
    lock_open(u, c, name, HF_KIND_READ, HF_ORDER_ANY);
}

static void write_open(struct use *u, hf_client *c, const char *name)
{
    lock_open(u, c, name, HF_KIND_WRITE, HF_ORDER_FAIR);
}

static int lock_begin(struct use *u, struct hf_error *err)
{
    return hf_lock_acquire(u->lock, NULL, &u->hold, err);
}

/* Its store still says so. */
static int lock_is_same(struct use *u)
{
    return hf_hold_extend(u->hold, 30000, NULL) == HF_OK;
}

static void lock_end(struct use *u)
{
    CHECK_INT(hf_hold_release(u->hold, NULL), HF_OK);
}

/* ---- semaphores -------------------------------------------------------- */

static void permit_open(struct use *u, hf_client *c, const char *name)
{
    u->sem = rig_semaphore_as(c, name, NULL);
}

static void count_open(struct use *u, hf_client *c, const char *name)
{
    u->sem = rig_counter(c, name, 0);
}

/* Both ways in are refused: by number, and by waiting for some. */
static int semaphore_begin(struct use *u, struct hf_error *err)
{
    int status = hf_semaphore_try_set(u->sem, 3, NULL, err);
    if (status != HF_OK && status != HF_CONFLICT) return status;
    int taken = hf_semaphore_acquire(u->sem, NULL, &u->hold, err);
    return taken == status ? status : HF_INTERNAL;
}

static int semaphore_is_same(struct use *u)
{
    struct hf_semaphore_state state = rig_count(u->sem);
    return state.available == 2;
}

static void semaphore_end(struct use *u)
{
    CHECK_INT(hf_semaphore_delete(u->sem, NULL, NULL), HF_OK);
}

static void permit_end(struct use *u)
{
    CHECK_INT(hf_hold_release(u->hold, NULL), HF_OK);
    semaphore_end(u);
}

/* ---- latches and barriers ---------------------------------------------- */

static void latch_open(struct use *u, hf_client *c, const char *name)
{
    u->latch = rig_latch(c, name);
}

static int latch_begin(struct use *u, struct hf_error *err)
{
    int status = hf_latch_set(u->latch, 3, err);
    if (status == HF_OK) return HF_OK;
    int waited = rig_latch_wait(u->latch, RIG_NO_LIMIT, err);
    return waited == status ? status : HF_INTERNAL;
}

static int latch_is_same(struct use *u)
{
    return rig_latch_left(u->latch) == 3;
}

static void latch_end(struct use *u)
{
    CHECK_INT(hf_latch_delete(u->latch, NULL, NULL), HF_OK);
}

static void barrier_open(struct use *u, hf_client *c, const char *name)
{
    u->barrier = rig_barrier(c, name, 2);
}

/* A party waits at the barrier; one of another kind is refused at once. */
static int barrier_begin(struct use *u, struct hf_error *err)
{
    int64_t waiting = 0;
    int status = hf_barrier_waiting(u->barrier, &waiting, err);
    if (status != HF_OK) {
        int waited = rig_barrier_wait(u->barrier, RIG_NO_LIMIT, NULL, err);
        return waited == status ? status : HF_INTERNAL;
    }
    gate_start_barrier(&u->wait, u->barrier, RIG_WAIT_MS, NULL);
    return rig_until_waiting(u->barrier, 1) ? HF_OK : HF_TIMEOUT;
}

static int barrier_is_same(struct use *u)
{
    return rig_until_waiting(u->barrier, 1);
}

/* ---- all of them ------------------------------------------------------- */

static const struct row rows[] = {
    {"plain", 0, plain_open, lock_begin, lock_is_same, lock_end},
    {"fair", 0, fair_open, lock_begin, lock_is_same, lock_end},
    {"read", 1, read_open, lock_begin, lock_is_same, lock_end},
    {"write", 1, write_open, lock_begin, lock_is_same, lock_end},
    {"permit", 2, permit_open, semaphore_begin, semaphore_is_same, permit_end},
    {"count", 3, count_open, semaphore_begin, semaphore_is_same, semaphore_end},
    {"latch", 4, latch_open, latch_begin, latch_is_same, latch_end},
    {"barrier", 5, barrier_open, barrier_begin, barrier_is_same, NULL},
};
#define ROWS (sizeof rows / sizeof rows[0])

/* One in use, and one that comes; to be closed after the test. */
static struct use first[ROWS][ROWS], second[ROWS][ROWS];

static int begin(void)
{
    if (!rig_begin_with(ALL_KINDS)) return 0;
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    return 1;
}

typedef void (*pair_fn)(const struct row *a, struct use *one,
                        const struct row *b, struct use *other);

/* Call fn for each pair of two kinds, the first in use under a fresh name. */
static void each_pair(pair_fn fn)
{
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < ROWS; k++) {
            char name[32];
            struct use *one = &first[i][k], *other = &second[i][k];
            if (rows[i].family == rows[k].family) continue;
            snprintf(name, sizeof name, "%s-%s", rows[i].word, rows[k].word);
            rows[i].open(one, c, name);
            rows[k].open(other, d, name);
            CHECK_INT(rows[i].begin(one, NULL), HF_OK);
            fn(&rows[i], one, &rows[k], other);
        }
}

static void pair_conflicts(const struct row *a, struct use *one,
                           const struct row *b, struct use *other)
{
    struct hf_error err = {0};
    int status = b->begin(other, &err);
    (void)one;
    if (status != HF_CONFLICT || !err.text[0])
        TEST_FAIL("%s on %s: %d %s", b->word, a->word, status, err.text);
}

TEST(kinds, a_name_in_use_is_a_conflict_to_every_other_kind)
{
    if (begin()) each_pair(pair_conflicts);
}

static void pair_stays(const struct row *a, struct use *one,
                       const struct row *b, struct use *other)
{
    (void)b->begin(other, NULL);
    if (!a->is_same(one)) TEST_FAIL("%s changed %s", b->word, a->word);
}

TEST(kinds, what_is_refused_to_another_kind_is_not_changed)
{
    if (begin()) each_pair(pair_stays);
}

static void pair_follows(const struct row *a, struct use *one,
                         const struct row *b, struct use *other)
{
    struct hf_error err = {0};
    if (!a->end) return;
    (void)b->begin(other, NULL);
    a->end(one);
    if (b->begin(other, &err) != HF_OK || !b->is_same(other))
        TEST_FAIL("%s after %s: %s", b->word, a->word, err.text);
}

TEST(kinds, a_name_that_is_free_again_may_be_of_any_kind)
{
    if (begin()) each_pair(pair_follows);
}
