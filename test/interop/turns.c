/*
 * turns.c: see turns.h.  One rule: what went wrong is written down, and only
 * the test's own thread judges it.
 */
#include "turns.h"

#include <inttypes.h>
#include <sched.h>

char turns_counter[160];
static char token[160];

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

void turns_files(const char *dir)
{
    snprintf(turns_counter, sizeof turns_counter, "%s/counter", dir);
    snprintf(token, sizeof token, "%s/token", dir);
    CHECK_INT(number_write(turns_counter, 0), 0);
    CHECK_INT(number_write(token, 0), 0);
}

uint64_t turns_counted(void)
{
    return number_read(turns_counter);
}

static void turn_guarded(struct turns *t, uint64_t fence)
{
    uint64_t n = number_read(turns_counter), last = number_read(token);
    sched_yield();
    int is_next = t->has_fence ? fence > last : fence == 0;
    if (n == UINT64_MAX || !is_next)
        snprintf(t->wrong, sizeof t->wrong,
                 "%" PRIu64 ", fence %" PRIu64 " after %" PRIu64, n, fence,
                 last);
    if (number_write(turns_counter, n + 1) || number_write(token, fence))
        snprintf(t->wrong, sizeof t->wrong, "the files cannot be written");
}

static void turns_run(void *arg)
{
    struct turns *t = arg;
    struct hf_acquire_options o = rig_options(RIG_NO_LIMIT, 0, 0);
    for (int i = 0; i < t->rounds && !t->wrong[0]; i++) {
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

void turns_start(struct turns *t, hf_client *c, int rounds)
{
    *t = (struct turns){.lock = rig_lock(c, "a"), .rounds = rounds};
    t->has_fence = (hf_client_caps(c) & HF_CAP_FENCE) != 0;
    rig_spawn(turns_run, t);
}

static int process_run(struct lab_proc *self, const void *arg)
{
    static struct turns t;
    const struct turns_process *conf = arg;
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    t.rounds = conf->rounds;
    t.has_fence = !conf->is_unfenced;
    if (!proc_hear(self, line, TURNS_MS)) return 1;
    if (hf_client_open(conf->url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &t.lock, NULL) != HF_OK) return 1;
    turns_run(&t);
    proc_say(self, "%s", t.wrong[0] ? t.wrong : "exact");
    hf_client_close(c);
    return 0;
}

void turns_process_start(struct lab_proc *p, const struct turns_process *conf)
{
    proc_start(p, process_run, conf);
}
