/*
 * redis_rw_killed_test.c: kill -9 of readers, writers and queued waiters.  One
 * rule: a dead process keeps others out only until its own lease, or its place
 * in the queue, ends, whatever live processes do meanwhile.
 */
#include <signal.h>
#include <string.h>

#include "lib/proc.h"
#include "lib/rig_redis.h"
#include "lib/rig_rw.h"

struct actor {
    const char *url;
    int kind, order;
    int64_t lease_ms;
};

/* Says "asks", then "has it" or what was wrong; and stays. */
static int actor_run(struct lab_proc *self, const void *arg)
{
    const struct actor *w = arg;
    struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    how.kind = w->kind;
    how.order = w->order;
    o.lease_ms = w->lease_ms;
    if (hf_client_open(w->url, &o, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open_as(c, "a", &how, &l, NULL) != HF_OK) return 1;
    proc_say(self, "asks");
    int status = rig_acquire(l, 0, RIG_NO_LIMIT, NULL);
    proc_say(self, "%s", status == HF_OK ? "has it" : hf_status_name(status));
    for (;;) rig_pause_ms(1000);
}

static struct lab_server r;
static struct lab_proc p, reader;
static struct actor w, of_reader;
static struct rw a;

static void begin(int order)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    w = (struct actor){.url = r.url, .order = order, .lease_ms = 3000};
}

/* Before the test opens a client: it forks. */
static void actor_start(struct lab_proc *of, struct actor *how, int kind)
{
    *how = w;
    how->kind = kind;
    proc_start(of, actor_run, how);
    CHECK(proc_hears(of, "asks", RIG_PATIENCE_MS));
}

static void actor_hold(int kind)
{
    static struct actor how;
    actor_start(&p, &how, kind);
    CHECK(proc_hears(&p, "has it", RIG_PATIENCE_MS));
}

static void actor_kill(void)
{
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
}

/* testMultiInstanceReadLockZombieCleanup */
TEST(redis_rw_killed, a_reader_keeps_writers_out_for_its_lease_only)
{
    begin(HF_ORDER_ANY);
    actor_hold(HF_KIND_READ);
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
    uint64_t living = hf_holder_new();
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(a.read, living, RIG_TRY, &g), HF_OK);
    rig_pause_ms(4500); /* it renews */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(a.write), HF_TAKEN);
    CHECK_INT(rig_acquire(a.read, living, RIG_TRY, &g), HF_OK);
    actor_kill();
    rig_pause_ms(4000); /* the living one keeps the lock's own end away */
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(a.write), HF_OK);
}

TEST(redis_rw_killed, a_writer_keeps_readers_out_for_its_lease_only)
{
    begin(HF_ORDER_ANY);
    actor_hold(HF_KIND_WRITE);
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
    actor_kill();
    CHECK_INT(rig_acquire(a.read, 0, RIG_WAIT_MS, NULL), HF_OK);
}

static int is_one_queued(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.queued == 1;
}

TEST(redis_rw_killed, who_dies_at_the_head_of_the_queue_is_passed_over_soon)
{
    static struct actor how;
    begin(HF_ORDER_FAIR);
    w.lease_ms = 30000;
    actor_start(&reader, &of_reader, HF_KIND_READ);
    CHECK(proc_hears(&reader, "has it", RIG_PATIENCE_MS));
    actor_start(&p, &how, HF_KIND_WRITE);
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_FAIR);
    CHECK(rig_until(is_one_queued, a.write));
    actor_kill();
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
    int64_t began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(a.read, hf_holder_new(), RIG_WAIT_MS, NULL), HF_OK);
    CHECK(rig_now_ms() - began_ms < RIG_WAIT_MS - 5000);
    CHECK_INT(redis_number(&r, "EXISTS {a}:hf_rw:q {a}:hf_rw:w {a}:hf_rw:r"),
              0);
}

/* testMultiInstanceZombieReadLockPerformance, which is disabled there */
TEST(redis_rw_killed, sixty_dead_readers_are_taken_off_at_once)
{
    begin(HF_ORDER_ANY);
    rw_open(&a, rig_client(NULL), "a", HF_ORDER_ANY);
    for (int i = 0; i < 60; i++)
        redis_say(&r,
                  "HSET a mode read aaaaaaaa-89ab-4def-8123-456789abcdef:%d"
                  " 1",
                  i);
    redis_say(&r, "PEXPIRE a 600000");
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "HLEN a"), 2);
}
