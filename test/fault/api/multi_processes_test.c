/*
 * multi_processes_test.c: sets of locks among processes, and over quorums.  One
 * rule: what they count together is exact, and every process gets its locks.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/five.h"
#include "lib/nodes.h"
#include "lib/proc.h"
#include "lib/rig_multi.h"
#include "lib/rig_redis.h"

#define NAMES 4

static struct lab_server r, s;

static hf_multi *multi_named(hf_client *c, int len)
{
    hf_lock *locks[NAMES];
    char name[] = "a";
    for (int i = 0; i < len; i++, name[0]++) locks[i] = rig_lock(c, name);
    return rig_multi(locks, (size_t)len);
}

/* ---- processes ----------------------------------------------------------- */

/* What two processes count together, not atomically. */
static volatile long *counter;

struct crosser {
    const char *url[2]; /* of the first and the second lock */
    const char *name[2];
    int rounds;
    int64_t lease_ms;
    int holds; /* take it once, say so, and stay */
};

static int crosser_run(struct lab_proc *self, const void *arg)
{
    const struct crosser *x = arg;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c[2] = {NULL, NULL};
    hf_lock *l[2];
    hf_multi *m = NULL;
    o.lease_ms = x->lease_ms;
    for (int i = 0; i < 2; i++) {
        if (i == 1 && strcmp(x->url[0], x->url[1]) == 0)
            c[1] = c[0];
        else if (hf_client_open(x->url[i], &o, &c[i], NULL) != HF_OK)
            return 1;
        if (hf_lock_open(c[i], x->name[i], &l[i], NULL) != HF_OK) return 1;
    }
    if (hf_multi_open(l, 2, &m, NULL) != HF_OK) return 1;
    for (int i = 0; i < x->rounds; i++) {
        struct hf_acquire_options how = rig_options(60000, 0, 0);
        hf_hold *g = NULL;
        if (hf_multi_acquire(m, &how, &g, NULL) != HF_OK) return 2;
        if (x->holds) {
            proc_say(self, "held");
            rig_pause_ms(120000);
        }
        *counter = *counter + 1;
        if (hf_hold_release(g, NULL) != HF_OK) return 3;
    }
    proc_say(self, "done");
    return 0;
}

static void counter_make(void)
{
    void *page = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    counter = page;
}

static void crossers_run(struct crosser x[2])
{
    static struct lab_proc p[2];
    counter_make();
    for (int i = 0; i < 2; i++) proc_start(&p[i], crosser_run, &x[i]);
    for (int i = 0; i < 2; i++) {
        CHECK(proc_hears(&p[i], "done", 120000));
        CHECK_INT(proc_wait(&p[i], RIG_PATIENCE_MS), 0);
    }
    CHECK_INT(*counter, x[0].rounds + x[1].rounds);
}

TEST(multi_processes, two_processes_that_cross_count_without_a_loss)
{
    static struct crosser x[2];
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    x[0] = (struct crosser){{r.url, r.url}, {"a", "b"}, 2000, 0, 0};
    x[1] = (struct crosser){{r.url, r.url}, {"b", "a"}, 2000, 0, 0};
    crossers_run(x);
}

TEST(multi_processes, two_processes_on_two_servers_count_without_a_loss)
{
    static struct crosser x[2];
    redis_begin(&r, NULL);
    redis_begin(&s, NULL);
    rig_begin_at(r.url);
    x[0] = (struct crosser){{r.url, s.url}, {"a", "a"}, 1000, 0, 0};
    x[1] = (struct crosser){{s.url, r.url}, {"a", "a"}, 1000, 0, 0};
    crossers_run(x);
}

/* The two use other names for the same locks, and so another order: a deadlock,
 * if a process waited for one lock while it holds the other. */
TEST(multi_processes, processes_that_disagree_about_the_order_get_on)
{
    static struct crosser x[2];
    static char names[2][64];
    redis_begin(&r, NULL);
    redis_begin(&s, NULL);
    rig_begin_at(r.url);
    snprintf(names[0], sizeof names[0], "redis://localhost:%d", r.port);
    snprintf(names[1], sizeof names[1], "redis://localhost:%d", s.port);
    x[0] = (struct crosser){{names[0], s.url}, {"a", "b"}, 300, 0, 0};
    x[1] = (struct crosser){{r.url, names[1]}, {"a", "b"}, 300, 0, 0};
    crossers_run(x);
}

TEST(multi_processes, of_a_killed_process_is_free_when_its_leases_end)
{
    static struct lab_proc p;
    static struct crosser x;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    counter_make();
    x = (struct crosser){{r.url, r.url}, {"b", "c"}, 1, 1500, 1};
    proc_start(&p, crosser_run, &x);
    CHECK(proc_hears(&p, "held", RIG_PATIENCE_MS));
    hf_multi *m = multi_named(rig_client(NULL), 4);
    struct hf_acquire_options o = rig_options(2500, 0, 0);
    hf_hold *g = NULL;
    CHECK_INT(hf_multi_acquire(m, &o, &g, NULL), HF_TIMEOUT); /* it renews */
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    o.wait_ms = RIG_WAIT_MS;
    CHECK_INT(hf_multi_acquire(m, &o, &g, NULL), HF_OK);
}

/* ---- quorums ------------------------------------------------------------- */

static struct lab_masters f;

static int all_vote(void *arg)
{
    struct hf_node nodes[5];
    int settled = 0, len = nodes_of(arg, nodes, 5);
    for (int i = 0; i < len; i++) settled += nodes[i].up && nodes[i].settled;
    return settled == 5;
}

TEST(multi_processes, over_a_quorum_survives_one_of_its_servers)
{
    char url[512];
    struct hf_quorum_node nodes[5];
    int len = 0;
    five_begin(&f, 5);
    snprintf(url, sizeof url, "redlock://%s", f.hosts);
    CHECK_INT(nodes_init(url, NULL, nodes, 5, &len, NULL), HF_OK);
    hf_client *c = rig_client_at(url, NULL), *d = rig_client_at(url, NULL);
    hf_multi *m = multi_named(c, 3), *n = multi_named(d, 3);
    hf_hold *g = NULL, *h = NULL;
    CHECK_INT(hf_multi_try(n, &h, NULL), HF_OK); /* both connect */
    CHECK_INT(hf_hold_release(h, NULL), HF_OK);
    CHECK(rig_until(all_vote, c) && rig_until(all_vote, d));
    CHECK_INT(hf_multi_acquire(m, NULL, &g, NULL), HF_OK);
    CHECK_INT(hf_multi_try(n, &h, NULL), HF_TAKEN);
    five_kill(&f, 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    CHECK_INT(hf_multi_acquire(n, &o, &h, NULL), HF_OK);
    CHECK_INT(hf_hold_state(h), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(h, NULL), HF_OK);
    for (int i = 0; i < 5; i++)
        if (i != 1)
            CHECK_INT(redis_number(&f.nodes[i].redis, "EXISTS a b c"), 0);
}
