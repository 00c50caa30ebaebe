/*
 * work_time.c: how long one thing takes: the next holder after a kill (W7),
 * and a command under a lock (start).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "tool.h"
#include "work.h"

#define KILLS 5
#define KILL_LEASE_MS 2000
#define KILL_LATE_MS 5
#define KILL_EARLY_MS (-2) /* both clocks count whole milliseconds */
#define STARTS 200
#define START_MS 3

/* The waiter waits, the holder dies.  Milliseconds after the lease's end, or
 * NAN. */
static double kill_measure(struct bench *b, struct child *waiter,
                           struct child *holder, int turn)
{
    if (!child_expect(waiter, "READY", 30)) return NAN;
    if (!child_expect(holder, "HELD", 30)) return NAN;
    /* Else the kill always meets the same phase of the renewals. */
    pause_ns((uint64_t)(37 * turn) * NS_PER_MS);
    child_send(waiter, "GO\n");
    pause_ns((uint64_t)(550 + 170 * turn) * NS_PER_MS);
    child_end(holder->pid, SIGKILL);
    int64_t left_ms = server_ttl_ms(&b->server);
    uint64_t end_ns = now_ns() + (uint64_t)left_ms * NS_PER_MS;
    const char *got = child_expect(waiter, "ACQ", 30);
    if (!got || left_ms <= 0) return NAN;
    uint64_t got_ns = strtoull(got, NULL, 10);
    return ((double)got_ns - (double)end_ns) / (double)NS_PER_MS;
}

static double kill_once(struct bench *b, int turn)
{
    struct spec spec = {.runner = "peer",
                        .peer = "holdfast",
                        .mode = "waiter",
                        .lease_ms = KILL_LEASE_MS};
    struct child waiter, holder;
    double ms = NAN;

    server_flush(&b->server);
    if (spec_start(b, &spec, &waiter) != 0) return NAN;
    spec.mode = "holder";
    if (spec_start(b, &spec, &holder) == 0) {
        ms = kill_measure(b, &waiter, &holder, turn);
        child_close(&holder);
    }
    child_close(&waiter);
    return ms;
}

void work_w7(struct bench *b, const struct work *w)
{
    double ms[KILLS];
    char note[NOTE_MAX];

    for (int i = 0; i < KILLS; i++) {
        ms[i] = kill_once(b, i);
        if (!isnan(ms[i])) continue;
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    double middle = median(ms, KILLS);
    snprintf(note, sizeof(note), "%.1f to %.1f ms, median of %d", ms[0],
             ms[KILLS - 1], KILLS);
    struct row late = {w->name, "ms after the lease", middle,       NAN,
                       NAN,     JUDGE_OURS_MAX,       KILL_LATE_MS, ""};
    table_add(&b->table, late, note);
    struct row early = {w->name, "earliest, ms", ms[0],         NAN,
                        NAN,     JUDGE_OURS_MIN, KILL_EARLY_MS, ""};
    table_add(&b->table, early, NULL);
}

/* One start: stamp says when it runs, we when we called exec. */
struct start {
    double first_ms; /* to the first instruction of the command */
    double all_ms;   /* to the end of everything */
};

static int stamp_read(int fd, uint64_t *out)
{
    char text[64] = "";
    size_t len = 0;
    ssize_t n;

    while (len < sizeof(text) - 1
           && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return sscanf(text, "%" SCNu64, out) == 1 ? 0 : -1;
}

static int start_once(char *const argv[], struct start *out)
{
    int fds[2];
    uint64_t first = 0;

    if (pipe2(fds, O_CLOEXEC) != 0) return -1;
    uint64_t begin = now_ns();
    pid_t pid = child_fork();
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(fds[1]);
    int got = pid > 0 ? stamp_read(fds[0], &first) : -1;
    close(fds[0]);
    int status = pid > 0 ? child_wait(pid, 30) : -1;
    uint64_t end = now_ns();
    if (got != 0 || status != 0) {
        if (pid > 0) child_end(pid, SIGKILL);
        return -1;
    }
    out->first_ms = (double)(first - begin) / (double)NS_PER_MS;
    out->all_ms = (double)(end - begin) / (double)NS_PER_MS;
    return 0;
}

static int starts_run(struct bench *b, struct start *ours, struct start *flock)
{
    char url[300], file[300], stamp[4096], command[4096];
    char *const hf[] = {command, "run", "bench-start", "--", stamp, NULL};
    char *const fl[] = {"flock", "-x", file, stamp, NULL};

    snprintf(file, sizeof(file), "%s/start", b->dir);
    mkdir(file, 0700);
    snprintf(url, sizeof(url), "file:%s/start", b->dir);
    setenv("HOLDFAST_URL", url, 1);
    snprintf(file, sizeof(file), "%s/start.lock", b->dir);
    snprintf(stamp, sizeof(stamp), "%s/stamp", b->runners);
    snprintf(command, sizeof(command), "%s", b->holdfast);
    for (int i = 0; i < STARTS && !child_interrupted(); i++)
        if (start_once(hf, &ours[i]) != 0 || start_once(fl, &flock[i]) != 0)
            return -1;
    return child_interrupted() ? -1 : 0;
}

void work_start(struct bench *b, const struct work *w)
{
    static struct start ours[STARTS], flock[STARTS];
    static double a[STARTS], f[STARTS];

    if (!b->holdfast) {
        table_skip(&b->table, w->name, "no holdfast command (holdfast=PATH)");
        return;
    }
    if (starts_run(b, ours, flock) != 0) {
        table_skip(&b->table, w->name, "a command failed");
        return;
    }
    for (int i = 0; i < STARTS; i++) {
        a[i] = ours[i].first_ms;
        f[i] = flock[i].first_ms;
    }
    struct row first = {
        w->name, "ms to the command",  median(a, STARTS), median(f, STARTS),
        NAN,     JUDGE_DIFFERENCE_MAX, START_MS,          ""};
    table_add(&b->table, first, "reference: flock -x");
    for (int i = 0; i < STARTS; i++) {
        a[i] = ours[i].all_ms;
        f[i] = flock[i].all_ms;
    }
    struct row all = {w->name,
                      "ms to the end",
                      median(a, STARTS),
                      median(f, STARTS),
                      NAN,
                      JUDGE_NOTHING,
                      0,
                      ""};
    table_add(&b->table, all, NULL);
}
