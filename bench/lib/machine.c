/*
 * machine.c: the noise of the machine and the load we make ourselves.  Noise
 * is only reported, never corrected for.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity() */
#endif
#include "machine.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "tool.h"

static pid_t spinners[SPINNERS_MAX];
static int spinners_len;

static double process_ticks(pid_t pid)
{
    char path[64], text[1024];
    unsigned long long user, system;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    /* The name in brackets may hold anything: count from its end. */
    const char *at = strrchr(text, ')');
    if (!at
        || sscanf(at,
                  ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                  "%llu %llu",
                  &user, &system)
               != 2)
        return 0;
    return (double)(user + system);
}

void machine_read(struct machine_use *u, pid_t server, pid_t runner)
{
    double v[8] = {0};
    FILE *f = fopen("/proc/stat", "r");

    memset(u, 0, sizeof(*u));
    if (!f) return;
    if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &v[0], &v[1], &v[2],
               &v[3], &v[4], &v[5], &v[6], &v[7])
        == 8) {
        for (int i = 0; i < 8; i++) u->total += v[i];
        u->busy = u->total - v[3] - v[4]; /* idle and iowait */
    }
    fclose(f);
    u->known = process_ticks(server) + process_ticks(runner);
    for (int i = 0; i < spinners_len; i++)
        u->known += process_ticks(spinners[i]);
}

double machine_noise(const struct machine_use *before,
                     const struct machine_use *after)
{
    double total = after->total - before->total;
    double others = after->busy - before->busy - (after->known - before->known);

    return total > 0 && others > 0 ? 100 * others / total : 0;
}

/* The core `back` places before the last one we may use, or -1. */
static int core_from_end(int back)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) != 0) return -1;
    for (int i = CPU_SETSIZE - 1; i >= 0; i--)
        if (CPU_ISSET((size_t)i, &set) && back-- == 0) return i;
    return -1;
}

static void spin(int core)
{
    cpu_set_t set;
    volatile unsigned long n = 0;

    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) _exit(1);
    if (setpriority(PRIO_PROCESS, 0, 19) != 0) _exit(1);
    for (;;) n = n + 1;
}

void spinners_start(int count)
{
    for (int i = 0; i < count && i < SPINNERS_MAX; i++) {
        int core = core_from_end(i);
        if (core < 0) return;
        pid_t pid = child_fork();
        if (pid == 0) spin(core);
        if (pid < 0) fail("no further process");
        spinners[spinners_len++] = pid;
    }
    pause_ns(200 * NS_PER_MS); /* let the clock speed follow */
}

void spinners_stop(void)
{
    while (spinners_len > 0) child_end(spinners[--spinners_len], SIGKILL);
}
