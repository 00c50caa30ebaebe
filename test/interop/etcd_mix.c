/*
 * etcd_mix.c: hundreds of acquisitions by Go, etcdctl and us at once.  One
 * rule: the counter, a number in a file, is read and written in two steps, so
 * that only the lock can keep it right; and our fences rise.
 */
#include <inttypes.h>
#include <sched.h>

#include "etcd_beside.h"

#define ROUNDS 150 /* of each thread */
#define GO_THREADS 2
#define CTL_THREADS 1
#define CTL_ROUNDS 25 /* each starts a program */
#define OUR_THREADS 2 /* in the test's process; one more in another */
#define MIX_MS 200000 /* until all are through */
#define PATH_LEN 160

static struct lab_etcd server;
static struct peer go, ctl;
static char counter[PATH_LEN], token[PATH_LEN];

struct turns {
    hf_lock *lock;
    char wrong[128]; /* "": nothing */
};

static uint64_t number_read(const char *path)
{
    uint64_t n = UINT64_MAX;
    FILE *f = fopen(path, "re");
    if (!f) return n;
    if (fscanf(f, "%" SCNu64, &n) != 1) n = UINT64_MAX;
    fclose(f);
    return n;
}

static int number_write(const char *path, uint64_t n)
{
    FILE *f = fopen(path, "we");
    if (!f) return -1;
    fprintf(f, "%" PRIu64 "\n", n);
    return fclose(f);
}

static void turn_guarded(struct turns *t, uint64_t fence)
{
    uint64_t n = number_read(counter), last = number_read(token);
    sched_yield();
    if (n == UINT64_MAX || fence <= last)
        snprintf(t->wrong, sizeof t->wrong,
                 "%" PRIu64 ", fence %" PRIu64 " after %" PRIu64, n, fence,
                 last);
    if (number_write(counter, n + 1) || number_write(token, fence))
        snprintf(t->wrong, sizeof t->wrong, "the files cannot be written");
}

static void turns_run(void *arg)
{
    struct turns *t = arg;
    struct hf_acquire_options o = rig_options(RIG_NO_LIMIT, 0, 0);
    for (int i = 0; i < ROUNDS && !t->wrong[0]; i++) {
        hf_hold *g = NULL;
        int status = hf_lock_acquire(t->lock, &o, &g, NULL);
        if (status == HF_OK) {
            turn_guarded(t, hf_hold_fence(g));
            status = hf_hold_release(g, NULL);
        }
        if (status != HF_OK)
            snprintf(t->wrong, sizeof t->wrong, "%s", hf_status_name(status));
    }
}

/* In a process of its own, with its own client; it begins when it is told to.
 */
static int process_run(struct lab_proc *self, const void *arg)
{
    static struct turns t;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    if (!proc_hear(self, line, MIX_MS)) return 1;
    if (hf_client_open(arg, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &t.lock, NULL) != HF_OK) return 1;
    turns_run(&t);
    proc_say(self, "%s", t.wrong[0] ? t.wrong : "exact");
    hf_client_close(c);
    return 0;
}

static void files_make(void)
{
    snprintf(counter, sizeof counter, "%s/counter", server.dir);
    snprintf(token, sizeof token, "%s/token", server.dir);
    CHECK_INT(number_write(counter, 0), 0);
    CHECK_INT(number_write(token, 0), 0);
}

TEST(etcd_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct turns ours[OUR_THREADS];
    static struct lab_proc process;
    etcd_beside_serve(&server);
    files_make();
    etcd_beside_start(&go, &server, "etcd-go");
    etcd_beside_start(&ctl, &server, "etcdctl");
    proc_start(&process, process_run, rig_url());
    hf_client *c = rig_client(NULL);
    peer_say(&go, "mix a %d %d 7 %s", GO_THREADS, ROUNDS, counter);
    peer_say(&ctl, "mix a %d %d 7 %s", CTL_THREADS, CTL_ROUNDS, counter);
    proc_say(&process, "go");
    for (int i = 0; i < OUR_THREADS; i++) {
        ours[i].lock = rig_lock(c, "a");
        rig_spawn(turns_run, &ours[i]);
    }
    rig_join();
    for (int i = 0; i < OUR_THREADS; i++) CHECK_STR(ours[i].wrong, "");
    CHECK(proc_hears(&process, "exact", MIX_MS));
    CHECK_STR(peer_hear(&go, MIX_MS), "exact");
    CHECK_STR(peer_hear(&ctl, MIX_MS), "exact");
    CHECK_INT(number_read(counter), (GO_THREADS + OUR_THREADS + 1) * ROUNDS
                                        + CTL_THREADS * CTL_ROUNDS);
}
