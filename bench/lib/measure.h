/*
 * measure.h: one run of one runner, and alternating runs of two.
 *
 * Two peers are only ever compared within one series of alternating runs: the
 * machine has moods, and a figure from another minute belongs to another one.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "engine.h"
#include "server.h"
#include "table.h"

#define ROUNDS_MAX 99

enum figure {
    RATE,        /* lock+unlock per second */
    HANDOFFS,    /* per second */
    CPU_PER_OP,  /* client, microseconds */
    CPU_SECONDS, /* client, over the whole run */
    COMMANDS_PER_OP,
    COMMANDS_PER_S,
    RSS_MB,
    BYTES_PER_LOCK, /* growth of the resident memory per lock held */
    LOST,           /* locks, by the server's or the runner's word */
    FAILS,
    VIOLATIONS, /* two holders seen at once */
    P50_US,
    P99_US,
    SPREAD, /* most to least operations of one thread; several processes */
    NOISE,  /* % of the machine used by processes not of the run */
    FIGURES
};

struct bench {
    const char *runners;  /* directory of peer, raw and stamp */
    const char *holdfast; /* the command, or NULL */
    char dir[256];        /* temporary, ours */
    double secs;
    double hold_secs;
    int rounds;
    int spinners; /* busy processes beside W1-busy */
    struct server server;
    const struct engine *engine; /* runs are on this store; NULL: on Redis */
    struct table table;
};

/* What to run.  Zero or NULL leaves the runner's default. */
struct spec {
    const char *runner; /* "peer" or "raw" */
    const char *peer;
    const char *mode;
    const char *url;   /* for peer */
    const char *plain; /* commands it sends outside of scripts */
    double secs;       /* 0: the bench's */
    double settle;     /* seconds between READY and GO */
    int threads;
    int count;
    int permits;
    int known;
    int held;
    int lease_ms;
    int procs;       /* number of processes at once; 0: one */
    int proc;        /* number of this process */
    const char *shm; /* file of the memory that they share */
};
#define PROCS_MAX 16

struct pair {
    double ours[FIGURES]; /* medians */
    double reference[FIGURES];
    double ratio[FIGURES]; /* median of the ratios of neighbouring runs */
};

/* Requests of clients: what the server has counted at the begin, and how many
 * came since; NAN: they are not counted. */
double measure_count_begin(struct bench *b);
double measure_count_end(struct bench *b, const struct spec *spec,
                         double begin);

/* Start the runner of `spec`.  0, or -1. */
struct child;
int spec_start(const struct bench *b, const struct spec *spec, struct child *c);

/* Let a runner that is READY run, and read its figures.  0, or -1. */
int measure_started(struct bench *b, const struct spec *spec, struct child *c,
                    double out[FIGURES]);

/* Run once.  0, or -1 (the runner has said why on standard error). */
int measure_once(struct bench *b, const struct spec *spec, double out[FIGURES]);

/* The same with several processes; the figures are those of all together. */
int measure_many(struct bench *b, const struct spec *spec, double out[FIGURES]);

/* The number behind "key": in a runner's JSON; 0 if it is not there. */
double measure_number(const char *json, const char *key);

/* Run both alternately, `rounds` times each.  0, or -1. */
int measure_pair(struct bench *b, const struct spec *ours,
                 const struct spec *reference, int rounds, struct pair *out);

/* The middle one; sorts `v`. */
double median(double *v, int len);

#endif
