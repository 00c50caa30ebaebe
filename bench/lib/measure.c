/*
 * measure.c: runs runners and reads their figures.  Commands are counted by
 * the server, CPU by the kernel, time by the runner.
 */
#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "machine.h"
#include "tool.h"

#define ARGS_MAX 20
#define ARG_LEN 320
#define READY_SECS 120 /* 100,000 locks may have to be taken first */
#define END_SECS 30

struct command {
    char text[ARGS_MAX][ARG_LEN];
    char *argv[ARGS_MAX + 1];
    int len;
};

__attribute__((format(printf, 2, 3))) static void command_add(
    struct command *c, const char *format, ...)
{
    va_list args;

    if (c->len == ARGS_MAX) fail("too many arguments");
    va_start(args, format);
    vsnprintf(c->text[c->len], ARG_LEN, format, args);
    va_end(args);
    c->argv[c->len] = c->text[c->len];
    c->argv[++c->len] = NULL;
}

int spec_start(const struct bench *b, const struct spec *s, struct child *c)
{
    struct command cmd = {.len = 0};

    command_add(&cmd, "%s/%s", b->runners, s->runner);
    command_add(&cmd, "peer=%s", s->peer);
    command_add(&cmd, "mode=%s", s->mode ? s->mode : "loop");
    command_add(&cmd, "ports=%d", b->server.port);
    command_add(&cmd, "dir=%s", b->dir);
    command_add(&cmd, "secs=%g", s->secs > 0 ? s->secs : b->secs);
    command_add(&cmd, "warm=0.5");
    if (s->url) command_add(&cmd, "url=%s", s->url);
    if (s->threads) command_add(&cmd, "threads=%d", s->threads);
    if (s->count) command_add(&cmd, "count=%d", s->count);
    if (s->permits) command_add(&cmd, "permits=%d", s->permits);
    if (s->known) command_add(&cmd, "known=%d", s->known);
    if (s->held) command_add(&cmd, "held=%d", s->held);
    if (s->lease_ms) command_add(&cmd, "lease=%d", s->lease_ms);
    if (s->shm) command_add(&cmd, "shm=%s", s->shm);
    if (s->proc) command_add(&cmd, "proc=%d", s->proc);
    return child_start(c, cmd.argv);
}

double measure_number(const char *json, const char *key)
{
    char quoted[40];

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    const char *at = strstr(json, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

static void figures_read(const char *json, double commands, int locks,
                         double out[FIGURES])
{
    double ops = measure_number(json, "ops");
    double s = measure_number(json, "elapsed_ns") / 1e9;
    double cpu_s = measure_number(json, "cpu_ns") / 1e9;
    double grown_kb =
        measure_number(json, "rss_kb") - measure_number(json, "rss_base_kb");

    out[RATE] = s > 0 ? ops / s : 0;
    out[HANDOFFS] = s > 0 ? measure_number(json, "handoffs") / s : 0;
    out[CPU_PER_OP] = ops > 0 ? cpu_s * 1e6 / ops : NAN;
    out[CPU_SECONDS] = cpu_s;
    out[COMMANDS_PER_OP] = ops > 0 ? commands / ops : NAN;
    out[COMMANDS_PER_S] = s > 0 ? commands / s : 0;
    out[RSS_MB] = measure_number(json, "rss_kb") / 1024;
    out[BYTES_PER_LOCK] = locks ? grown_kb * 1024 / locks : NAN;
    out[LOST] = measure_number(json, "lost_seen");
    out[FAILS] = measure_number(json, "fails");
    out[VIOLATIONS] = measure_number(json, "violations");
    out[P50_US] = measure_number(json, "p50_ns") / 1e3;
    out[P99_US] = measure_number(json, "p99_ns") / 1e3;
}

double measure_count_begin(struct bench *b)
{
    if (b->engine) return b->engine->requests ? b->engine->requests() : NAN;
    server_count_begin(&b->server);
    return 0;
}

double measure_count_end(struct bench *b, const struct spec *s, double begin)
{
    if (b->engine)
        return b->engine->requests ? b->engine->requests() - begin : NAN;
    return server_count_end(&b->server, s->plain ? s->plain : "");
}

/* Of the locks of mode=hold. */
static double missing_count(struct bench *b, int count)
{
    if (!b->engine) return (double)server_missing(&b->server, "hold", count);
    return b->engine->held ? count - b->engine->held() : 0;
}

/* From GO to END. */
int measure_started(struct bench *b, const struct spec *s, struct child *c,
                    double out[FIGURES])
{
    struct machine_use before, after;
    double secs = s->secs > 0 ? s->secs : b->secs;

    machine_read(&before, b->server.pid, c->pid);
    double begin = measure_count_begin(b);
    child_send(c, "GO\n");
    const char *json = child_expect(c, "END", secs + END_SECS);
    if (!json) return -1;
    double commands = measure_count_end(b, s, begin);
    machine_read(&after, b->server.pid, c->pid);
    figures_read(json, commands, s->count, out);
    out[NOISE] = machine_noise(&before, &after);
    if (s->count) {
        double missing = missing_count(b, s->count);
        if (missing > out[LOST]) out[LOST] = missing;
    }
    return 0;
}

int measure_once(struct bench *b, const struct spec *s, double out[FIGURES])
{
    struct child c;

    server_flush(&b->server);
    if (s->procs > 1) return measure_many(b, s, out);
    if (spec_start(b, s, &c) != 0) return -1;
    int status = -1;
    if (child_expect(&c, "READY", READY_SECS)) {
        pause_ns((uint64_t)(s->settle * (double)NS_PER_S));
        status = measure_started(b, s, &c, out);
    }
    child_close(&c);
    return status;
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double median(double *v, int len)
{
    if (len == 0) return NAN;
    qsort(v, (size_t)len, sizeof(*v), double_compare);
    return len % 2 ? v[len / 2] : (v[len / 2 - 1] + v[len / 2]) / 2;
}

static void pair_reduce(double (*ours)[FIGURES], double (*reference)[FIGURES],
                        int rounds, struct pair *out)
{
    double a[ROUNDS_MAX], b[ROUNDS_MAX], r[ROUNDS_MAX];

    for (int f = 0; f < FIGURES; f++) {
        for (int i = 0; i < rounds; i++) {
            a[i] = ours[i][f];
            b[i] = reference[i][f];
            r[i] = b[i] > 0 ? a[i] / b[i] : NAN;
        }
        out->ours[f] = median(a, rounds);
        out->reference[f] = median(b, rounds);
        out->ratio[f] = median(r, rounds);
    }
}

int measure_pair(struct bench *b, const struct spec *ours,
                 const struct spec *reference, int rounds, struct pair *out)
{
    static double a[ROUNDS_MAX][FIGURES], r[ROUNDS_MAX][FIGURES];

    for (int i = 0; i < rounds; i++) {
        /* They take turns at being first, which may help or harm. */
        if (i % 2 == 1 && measure_once(b, reference, r[i]) != 0) return -1;
        if (measure_once(b, ours, a[i]) != 0) return -1;
        if (i % 2 == 0 && measure_once(b, reference, r[i]) != 0) return -1;
    }
    pair_reduce(a, r, rounds, out);
    return 0;
}
