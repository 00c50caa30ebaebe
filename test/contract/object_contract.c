/*
 * object_contract.c: closing a client closes everything that was opened from
 * it, the same for every kind.  One rule: the tests count what the client has
 * allocated, so that they see a leak without a sanitizer, too.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"

#define PAUSE_MS 300   /* for calls in other threads to be waiting */
#define LEASE_MS 30000 /* nothing is to expire */

/* ---- memory that is counted ---------------------------------------------- */

static atomic_long outstanding;

static void *heap_allocate(size_t size, void *user)
{
    void *p = malloc(size);
    (void)user;
    if (p) atomic_fetch_add(&outstanding, 1);
    return p;
}

static void *heap_resize(void *ptr, size_t size, void *user)
{
    return ptr ? realloc(ptr, size) : heap_allocate(size, user);
}

static void heap_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) atomic_fetch_sub(&outstanding, 1);
    free(ptr);
}

/* ---- one object of every kind that the store has ------------------------- */

struct objects {
    hf_client *client;
    hf_lock *lock, *other;
    hf_multi *multi;
    hf_semaphore *sem;
    hf_election *election;
    hf_cancel *cancel;
    hf_once *once;       /* HF_CAP_VALUE; begun by objects_use() */
    hf_semaphore *plain; /* HF_CAP_TALLY, as those below */
    hf_latch *latch;
    hf_barrier *barrier;
    unsigned caps;
};

static void objects_open(struct objects *o)
{
    struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct hf_semaphore_options s = HF_SEMAPHORE_OPTIONS_INIT;
    memset(o, 0, sizeof *o);
    options.lease_ms = LEASE_MS;
    options.allocator =
        (struct hf_allocator){heap_allocate, heap_resize, heap_release, NULL};
    CHECK_INT(hf_client_open(rig_url(), &options, &o->client, NULL), HF_OK);
    o->caps = hf_client_caps(o->client);
    CHECK_INT(hf_lock_open(o->client, "lock", &o->lock, NULL), HF_OK);
    CHECK_INT(hf_lock_open(o->client, "other", &o->other, NULL), HF_OK);
    hf_lock *locks[] = {o->lock, o->other};
    CHECK_INT(hf_multi_open(locks, 2, &o->multi, NULL), HF_OK);
    s.permits = 1;
    CHECK_INT(hf_semaphore_open(o->client, "sem", &s, &o->sem, NULL), HF_OK);
    CHECK_INT(hf_election_open(o->client, "election", NULL, &o->election, NULL),
              HF_OK);
    CHECK_INT(hf_cancel_open(o->client, &o->cancel), HF_OK);
    if (!(o->caps & HF_CAP_TALLY)) return;
    s.flags = HF_SEMAPHORE_PLAIN;
    CHECK_INT(hf_semaphore_open(o->client, "plain", &s, &o->plain, NULL),
              HF_OK);
    CHECK_INT(hf_latch_open(o->client, "latch", &o->latch, NULL), HF_OK);
    CHECK_INT(hf_barrier_open(o->client, "barrier", 2, &o->barrier, NULL),
              HF_OK);
}

static void objects_close(struct objects *o)
{
    hf_multi_close(o->multi);
    hf_lock_close(o->lock);
    hf_lock_close(o->other);
    hf_semaphore_close(o->sem);
    hf_semaphore_close(o->plain);
    hf_election_close(o->election);
    hf_cancel_close(o->cancel);
    hf_latch_close(o->latch);
    hf_barrier_close(o->barrier);
}

/* Hold something of every kind that can be held. */
static void objects_use(struct objects *o)
{
    struct hf_campaign_options campaign = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_hold *hold;
    CHECK_INT(hf_multi_acquire(o->multi, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_semaphore_acquire(o->sem, NULL, &hold, NULL), HF_OK);
    unsigned publishes = HF_CAP_VALUE | HF_CAP_FENCE;
    if ((o->caps & publishes) == publishes) {
        campaign.value = "here";
        campaign.value_len = 4;
    }
    CHECK_INT(hf_election_campaign(o->election, &campaign, &hold, NULL), HF_OK);
    if (o->caps & HF_CAP_VALUE)
        CHECK_INT(
            hf_once_begin(o->client, "job", NULL, &o->once, &result, NULL),
            HF_OK);
    if (!(o->caps & HF_CAP_TALLY)) return;
    CHECK_INT(hf_semaphore_acquire(o->plain, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_latch_set(o->latch, 1, NULL), HF_OK);
}

static void begin(struct objects *o)
{
    rig_begin();
    rig_client(NULL); /* a space in memory stays as long as its last client */
    atomic_store(&outstanding, 0);
    objects_open(o);
}

/* ---- closing ------------------------------------------------------------- */

TEST(object, of_every_kind_is_freed_with_its_client)
{
    struct objects o;
    begin(&o);
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}

TEST(object, of_every_kind_that_is_in_use_is_freed_with_its_client)
{
    struct objects o;
    begin(&o);
    objects_use(&o);
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&outstanding), 0);
    hf_lock *lock = rig_lock(rig_client(NULL), "lock");
    CHECK_INT(rig_probe(lock), HF_OK);
}

TEST(object, of_every_kind_can_be_closed_before_its_client)
{
    struct objects o;
    begin(&o);
    objects_use(&o);
    objects_close(&o);
    if (o.once) CHECK_INT(hf_once_abandon(o.once, NULL), HF_OK);
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}

TEST(object, that_is_a_set_is_freed_with_the_client_of_its_first_lock)
{
    struct objects o;
    hf_multi *multi;
    begin(&o);
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {o.lock, rig_lock(c, "b")};
    CHECK_INT(hf_multi_open(locks, 2, &multi, NULL), HF_OK);
    rig_close(c); /* the set cannot be used any more, but it can be closed */
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}

/* ---- closing while calls are running ------------------------------------- */

struct caller {
    struct objects *o;
    atomic_int entered, status;
};

static void caller_says(struct caller *w, int status)
{
    atomic_store(&w->status, status);
}

static void on_lock(void *arg)
{
    struct caller *w = arg;
    hf_hold *hold;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_lock_acquire(w->o->lock, NULL, &hold, NULL));
}

static void on_multi(void *arg)
{
    struct caller *w = arg;
    hf_hold *hold;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_multi_acquire(w->o->multi, NULL, &hold, NULL));
}

static void on_semaphore(void *arg)
{
    struct caller *w = arg;
    struct hf_acquire_options options = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *hold;
    options.cancel = w->o->cancel;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_semaphore_acquire(w->o->sem, &options, &hold, NULL));
}

static void on_election(void *arg)
{
    struct caller *w = arg;
    hf_hold *hold;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_election_campaign(w->o->election, NULL, &hold, NULL));
}

static void on_once(void *arg)
{
    struct caller *w = arg;
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_once *once;
    atomic_store(&w->entered, 1);
    caller_says(w,
                hf_once_begin(w->o->client, "job", NULL, &once, &result, NULL));
}

static void on_plain(void *arg)
{
    struct caller *w = arg;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_semaphore_acquire(w->o->plain, NULL, NULL, NULL));
}

static void on_latch(void *arg)
{
    struct caller *w = arg;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_latch_wait(w->o->latch, NULL, NULL));
}

static void on_barrier(void *arg)
{
    struct caller *w = arg;
    atomic_store(&w->entered, 1);
    caller_says(w, hf_barrier_wait(w->o->barrier, NULL, NULL, NULL));
}

static const struct {
    void (*run)(void *);
    unsigned cap;
} kinds[] = {{on_lock, 0},
             {on_multi, 0},
             {on_semaphore, 0},
             {on_election, 0},
             {on_once, HF_CAP_VALUE},
             {on_plain, HF_CAP_TALLY},
             {on_latch, HF_CAP_TALLY},
             {on_barrier, HF_CAP_TALLY}};
#define KINDS (sizeof kinds / sizeof kinds[0])

TEST(object, of_every_kind_ends_its_calls_when_the_client_is_closed)
{
    static struct caller callers[KINDS];
    static struct objects o;
    struct objects holder;
    begin(&o);
    objects_open(&holder);
    objects_use(&holder);
    for (size_t i = 0; i < KINDS; i++) {
        callers[i].o = &o;
        atomic_store(&callers[i].entered, 0);
        atomic_store(&callers[i].status, HF_CLOSED);
        if ((o.caps & kinds[i].cap) != kinds[i].cap) continue;
        atomic_store(&callers[i].status, HF_INTERNAL);
        rig_spawn(kinds[i].run, &callers[i]);
        CHECK(rig_until_equal(&callers[i].entered, 1));
    }
    rig_pause_ms(PAUSE_MS);
    hf_client_close(o.client);
    rig_join();
    for (size_t i = 0; i < KINDS; i++)
        CHECK_INT(atomic_load(&callers[i].status), HF_CLOSED);
    hf_client_close(holder.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}

/* ---- the same, started --------------------------------------------------- */

static atomic_int told_closed, told_else;

static void told(int status)
{
    atomic_fetch_add(status == HF_CLOSED ? &told_closed : &told_else, 1);
}

static void lock_told(hf_lock *lock, int status, hf_hold *hold,
                      const struct hf_error *err, void *user)
{
    (void)lock, (void)hold, (void)err, (void)user;
    told(status);
}

static void multi_told(hf_multi *multi, int status, hf_hold *hold,
                       const struct hf_error *err, void *user)
{
    (void)multi, (void)hold, (void)err, (void)user;
    told(status);
}

static void semaphore_told(hf_semaphore *sem, int status, hf_hold *hold,
                           const struct hf_error *err, void *user)
{
    (void)sem, (void)hold, (void)err, (void)user;
    told(status);
}

static void campaign_told(hf_election *election, int status, hf_hold *hold,
                          const struct hf_error *err, void *user)
{
    (void)election, (void)hold, (void)err, (void)user;
    told(status);
}

static void latch_told(hf_latch *latch, int status, const struct hf_error *err,
                       void *user)
{
    (void)latch, (void)err, (void)user;
    told(status);
}

static void barrier_told(hf_barrier *barrier, int status,
                         const struct hf_passed *passed,
                         const struct hf_error *err, void *user)
{
    (void)barrier, (void)passed, (void)err, (void)user;
    told(status);
}

static int objects_start(struct objects *o)
{
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    a.cancel = o->cancel;
    CHECK_INT(hf_lock_acquire_start(o->lock, &a, lock_told, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire_start(o->multi, &a, multi_told, NULL, NULL),
              HF_OK);
    CHECK_INT(
        hf_semaphore_acquire_start(o->sem, &a, semaphore_told, NULL, NULL),
        HF_OK);
    CHECK_INT(hf_election_campaign_start(o->election, NULL, campaign_told, NULL,
                                         NULL),
              HF_OK);
    if (!(o->caps & HF_CAP_TALLY)) return 4;
    CHECK_INT(
        hf_semaphore_acquire_start(o->plain, &a, semaphore_told, NULL, NULL),
        HF_OK);
    CHECK_INT(hf_latch_wait_start(o->latch, NULL, latch_told, NULL, NULL),
              HF_OK);
    CHECK_INT(hf_barrier_wait_start(o->barrier, NULL, barrier_told, NULL, NULL),
              HF_OK);
    return 7;
}

TEST(object, of_every_kind_ends_what_was_started_when_the_client_is_closed)
{
    struct objects o, holder;
    begin(&o);
    objects_open(&holder);
    objects_use(&holder);
    atomic_store(&told_closed, 0);
    atomic_store(&told_else, 0);
    int started = objects_start(&o);
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&told_closed), started);
    CHECK_INT(atomic_load(&told_else), 0);
    hf_client_close(holder.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}

/* ---- after fork() -------------------------------------------------------- */

/* The parent's memory is left alone: closing does nothing, also twice. */
static int child_run(struct objects *o)
{
    hf_hold *hold;
    long before = atomic_load(&outstanding);
    if (hf_lock_try(o->lock, &hold, NULL) != HF_FORKED) return 1;
    if (hf_semaphore_try(o->sem, &hold, NULL) != HF_FORKED) return 2;
    objects_close(o);
    hf_client_close(o->client);
    objects_close(o);
    return atomic_load(&outstanding) == before ? 0 : 3;
}

TEST(object, of_every_kind_stays_the_parents_after_a_fork)
{
    struct objects o;
    int status;
    hf_hold *hold;
    begin(&o);
    objects_use(&o);
    pid_t pid = proc_fork();
    if (pid == 0) _exit(child_run(&o));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(hf_semaphore_try(o.sem, &hold, NULL), HF_TAKEN);
    hf_client_close(o.client);
    CHECK_INT(atomic_load(&outstanding), 0);
}
