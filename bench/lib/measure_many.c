/*
 * measure_many.c: one run of several processes that contend for one name.  The
 * rule: they see each other through one shared page, and their figures are
 * those of all of them together.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "measure.h"

#define PAGE_LEN 4096
#define END_SECS 30

struct sum {
    double ops, handoffs, cpu_ns, elapsed_ns, fails, violations;
    double thread_min, thread_max; /* operations of one thread */
};

static int page_make(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return -1;
    int status = ftruncate(fd, PAGE_LEN);
    close(fd);
    return status;
}

/* "per_thread":[1,2,3] */
static void threads_read(const char *json, struct sum *sum)
{
    static const char key[] = "\"per_thread\":[";
    const char *at = strstr(json, key);

    if (!at) return;
    at += sizeof(key) - 1;
    while (*at && *at != ']') {
        char *end;
        double n = strtod(at, &end);
        if (end == at) return;
        sum->thread_min = fmin(sum->thread_min, n);
        sum->thread_max = fmax(sum->thread_max, n);
        at = end + (*end == ',');
    }
}

static void sum_add(struct sum *sum, const char *json)
{
    sum->ops += measure_number(json, "ops");
    sum->handoffs += measure_number(json, "handoffs");
    sum->cpu_ns += measure_number(json, "cpu_ns");
    sum->fails += measure_number(json, "fails");
    sum->violations += measure_number(json, "violations");
    sum->elapsed_ns = fmax(sum->elapsed_ns, measure_number(json, "elapsed_ns"));
    threads_read(json, sum);
}

static void sum_read(const struct sum *sum, double commands,
                     double out[FIGURES])
{
    double s = sum->elapsed_ns / 1e9;

    for (int f = 0; f < FIGURES; f++) out[f] = NAN;
    out[RATE] = sum->ops / s;
    out[HANDOFFS] = sum->handoffs / s;
    out[CPU_PER_OP] = sum->cpu_ns / 1e3 / sum->ops;
    out[CPU_SECONDS] = sum->cpu_ns / 1e9;
    out[COMMANDS_PER_OP] = commands / sum->ops;
    out[COMMANDS_PER_S] = commands / s;
    out[FAILS] = sum->fails;
    out[VIOLATIONS] = sum->violations;
    out[SPREAD] = sum->thread_max / fmax(sum->thread_min, 1);
}

/* From GO to END. */
static int many_run(struct bench *b, const struct spec *s, struct child *c,
                    double out[FIGURES])
{
    struct sum sum = {.thread_min = INFINITY};
    double secs = s->secs > 0 ? s->secs : b->secs;

    double begin = measure_count_begin(b);
    for (int i = 0; i < s->procs; i++) child_send(&c[i], "GO\n");
    for (int i = 0; i < s->procs; i++) {
        const char *json = child_expect(&c[i], "END", secs + END_SECS);
        if (!json) return -1;
        sum_add(&sum, json);
    }
    double commands = measure_count_end(b, s, begin);
    if (sum.ops <= 0) return -1;
    sum_read(&sum, commands, out);
    return 0;
}

int measure_many(struct bench *b, const struct spec *s, double out[FIGURES])
{
    struct child c[PROCS_MAX];
    struct spec one = *s;
    char page[300];
    int started = 0, status = 0;

    snprintf(page, sizeof(page), "%s/page", b->dir);
    if (s->procs > PROCS_MAX || page_make(page) != 0) return -1;
    one.shm = page;
    while (status == 0 && started < s->procs) {
        one.proc = started;
        status = spec_start(b, &one, &c[started]);
        if (status == 0) started++;
    }
    for (int i = 0; status == 0 && i < started; i++)
        if (!child_expect(&c[i], "READY", END_SECS)) status = -1;
    if (status == 0) status = many_run(b, s, c, out);
    for (int i = 0; i < started; i++) child_close(&c[i]);
    return status;
}
