/*
 * work_engine.c: the stores that are modules, each on a server of its own:
 * lock and unlock by one thread, hand-overs between processes, and what 10,000
 * held locks ask of the server; and what the first use of a module costs.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "tool.h"
#include "work.h"

#define HELD 10000
#define LEASE_S 10
#define PROCESSES 4
#define ANY NAN /* no target */

static const struct plan {
    const char *work;
    const char *runner; /* of the reference; NULL: there is none */
    const char *peer;
    double rate_min;     /* of the reference's, one thread */
    double handoffs_min; /* the same, four processes */
    double requests_max; /* per held lock and renewal */
} plans[] = {
    {"postgres", "raw_postgres", "row", 0.9, 0.8, 0.01},
    {"postgres-session", "raw_postgres", "session", 0.9, 0.8, ANY},
    {"mysql", "raw_mysql", "row", 0.9, 0.8, 0.01},
    {"mysql-session", "raw_mysql", "session", 0.9, 0.8, ANY},
    {"sqlite", "raw_sqlite", "row", 0.8, 0.8, ANY},
    {"etcd", NULL, NULL, ANY, ANY, 0.03},
    {"zookeeper", "raw_zookeeper", "node", ANY, ANY, 0.03},
};

static const struct plan *plan_find(const char *work)
{
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
        if (strcmp(plans[i].work, work) == 0) return &plans[i];
    fail("%s: no such engine", work);
}

/* Several runs of ours alone; 0 or -1. */
static int alone_run(struct bench *b, const struct spec *ours, struct pair *p)
{
    static double runs[ROUNDS_MAX][FIGURES];
    double column[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++)
        if (measure_once(b, ours, runs[i]) != 0) return -1;
    for (int f = 0; f < FIGURES; f++) {
        for (int i = 0; i < b->rounds; i++) column[i] = runs[i][f];
        p->ours[f] = median(column, b->rounds);
        p->reference[f] = p->ratio[f] = NAN;
    }
    return 0;
}

static int plan_run(struct bench *b, const struct work *w,
                    const struct plan *plan, const struct spec *ours,
                    struct pair *p)
{
    struct spec raw = *ours;

    raw.runner = plan->runner;
    raw.peer = plan->peer;
    raw.url = b->engine->raw;
    if (plan->runner) return pair_run(b, w, ours, &raw, p);
    if (alone_run(b, ours, p) == 0) return 0;
    table_skip(&b->table, w->name, "a runner failed, see above");
    return -1;
}

static void ratio_add(struct bench *b, const struct work *w, const char *what,
                      const struct pair *p, enum figure f, double bound)
{
    enum judge judge = isnan(bound) ? JUDGE_NOTHING : JUDGE_RATIO_MIN;

    row_add(b, w, what, p, f, judge, isnan(bound) ? 0 : bound);
}

static void one_run(struct bench *b, const struct work *w,
                    const struct plan *plan, struct spec ours)
{
    struct pair p;

    ours.mode = "loop";
    ours.threads = 1;
    if (plan_run(b, w, plan, &ours, &p) != 0) return;
    ratio_add(b, w, "ops/s", &p, RATE, plan->rate_min);
    row_add(b, w, "client CPU us/op", &p, CPU_PER_OP, JUDGE_NOTHING, 0);
    health_add(b, w, &p);
}

static void many_run(struct bench *b, const struct work *w,
                     const struct plan *plan, struct spec ours)
{
    struct pair p;

    ours.mode = "contend";
    ours.threads = 1;
    ours.procs = PROCESSES;
    if (plan_run(b, w, plan, &ours, &p) != 0) return;
    ratio_add(b, w, "hand-overs/s", &p, HANDOFFS, plan->handoffs_min);
    row_add(b, w, "most/least of a process", &p, SPREAD, JUDGE_NOTHING, 0);
    health_add(b, w, &p);
}

static void held_add(struct bench *b, const struct work *w, const char *what,
                     double ours, enum judge judge, double bound)
{
    struct row row = {w->name, what, ours, NAN, NAN, judge, bound, ""};

    table_add(&b->table, row, NULL);
}

static void held_run(struct bench *b, const struct work *w,
                     const struct plan *plan, struct spec ours)
{
    double f[FIGURES];
    enum judge judge =
        isnan(plan->requests_max) ? JUDGE_NOTHING : JUDGE_OURS_MAX;

    ours.mode = "hold";
    ours.count = HELD;
    ours.secs = b->hold_secs;
    ours.settle = LEASE_S / 2.0; /* the first renewals, which may ask more */
    if (measure_once(b, &ours, f) != 0) {
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    if (b->engine->requests) /* each lock is renewed three times in a lease */
        held_add(b, w, "requests per renewal",
                 f[COMMANDS_PER_S] / (HELD * 3.0 / LEASE_S), judge,
                 plan->requests_max);
    held_add(b, w, "% of a core for 10,000", 100 * f[CPU_SECONDS] / ours.secs,
             JUDGE_NOTHING, 0);
    held_add(b, w, "bytes per held lock", f[BYTES_PER_LOCK], JUDGE_NOTHING, 0);
    held_add(b, w, "locks lost", fmax(f[LOST], 0), JUDGE_OURS_IS, 0);
}

void work_engine(struct bench *b, const struct work *w)
{
    const struct plan *plan = plan_find(w->name);
    struct engine engine;
    struct spec ours = {.runner = "peer",
                        .peer = "holdfast",
                        .url = engine.url,
                        .lease_ms = LEASE_S * 1000};

    const char *why = engine_start(&engine, w->name, b->dir);
    if (why) {
        table_skip(&b->table, w->name, why);
        if (engine.stop) engine.stop();
        return;
    }
    b->engine = &engine;
    one_run(b, w, plan, ours);
    if (!child_interrupted()) many_run(b, w, plan, ours);
    if (!child_interrupted()) held_run(b, w, plan, ours);
    b->engine = NULL;
    if (engine.stop) engine.stop();
}

/* ---- the first use ---- */

#define FIRSTS 21
#define FIRST_MS_MAX 15

/* Milliseconds to a client in a new process, or NAN. */
static double first_measure(struct bench *b, const char *url)
{
    struct spec spec = {
        .runner = "peer", .peer = "holdfast", .mode = "first", .url = url};
    struct child c;
    double ms = NAN;

    if (spec_start(b, &spec, &c) != 0) return NAN;
    const char *json = child_expect(&c, "END", 30);
    if (json) ms = measure_number(json, "first_ns") / 1e6;
    child_close(&c);
    return ms;
}

static void first_run(struct bench *b, const struct work *w, const char *what,
                      const char *url, const char *built_in)
{
    double ours[FIRSTS], reference[FIRSTS];

    for (int i = 0; i < FIRSTS && !child_interrupted(); i++) {
        ours[i] = first_measure(b, url);
        reference[i] = first_measure(b, built_in);
        if (!isnan(ours[i]) && !isnan(reference[i])) continue;
        table_skip(&b->table, w->name, "a runner failed, see above");
        return;
    }
    if (child_interrupted()) return;
    struct row row = {w->name,
                      what,
                      median(ours, FIRSTS),
                      median(reference, FIRSTS),
                      NAN,
                      JUDGE_DIFFERENCE_MAX,
                      FIRST_MS_MAX,
                      ""};
    table_add(&b->table, row, "reference: file:");
}

/* Nothing listens on port 1, and nothing is connected yet. */
void work_modules(struct bench *b, const struct work *w)
{
    static const char *const urls[][2] = {
        {"ms, postgres", "postgres://u@127.0.0.1:1/d"},
        {"ms, mysql", "mysql://u@127.0.0.1:1/d"},
        {"ms, sqlite", NULL},
        {"ms, etcd", "etcd://127.0.0.1:1/"},
        {"ms, zookeeper", "zookeeper://127.0.0.1:1/"},
    };
    char file[300], sqlite[300];

    snprintf(file, sizeof(file), "file:%s", b->dir);
    snprintf(sqlite, sizeof(sqlite), "sqlite:%s/first.db", b->dir);
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        first_run(b, w, urls[i][0], urls[i][1] ? urls[i][1] : sqlite, file);
}
