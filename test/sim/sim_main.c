/*
 * sim_main.c: the command.
 *
 *   sim run [--seeds N] [--from S] [--nodes N] [--mutation NAME]
 *           [--faults LIST] [--rw] [--trace]
 *   sim mutants [--seeds N]
 *   sim amnesia [--seeds N]
 *   sim list
 *
 * The rule: a failing seed prints the one command that replays it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/sim.h"

#define SEEDS_DEFAULT 2000
#define MUTANT_SEEDS 20000 /* the rarest shows in one of 7,000 */
#define AMNESIA_SEEDS 10000
#define WORKERS 2
#define FAILURES_SHOWN 10
#define SEEDS_TELLING 1000 /* this many must meet everything that may happen */

struct options {
    uint64_t seeds, from;
    uint64_t nodes; /* 0: as the seed draws */
    int mutation;
    unsigned faults;
    const char *faults_text;
    int is_rw; /* the worlds of read/write locks */
    int trace;
};

/* What the workers add up, in shared memory. */
struct tally {
    uint64_t passed, failed, events;
    int64_t acquired, passed_on, lost, refused_writes;
    int64_t deeds[DEEDS_LEN];
};

static int usage(void)
{
    fputs("usage: sim run [--seeds N] [--from S] [--nodes N] "
          "[--mutation NAME] [--faults LIST] [--rw] [--trace]\n"
          "       sim mutants [--seeds N]\n"
          "       sim amnesia [--seeds N]\n"
          "       sim list\n",
          stderr);
    return 64;
}

static int number_parse(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-') return -1;
    *out = n;
    return 0;
}

static int option_parse(struct options *o, const char *key, const char *value)
{
    if (!strcmp(key, "--seeds")) return number_parse(value, &o->seeds);
    if (!strcmp(key, "--from")) return number_parse(value, &o->from);
    if (!strcmp(key, "--nodes"))
        return number_parse(value, &o->nodes) || o->nodes > SIM_NODES_MAX;
    if (!strcmp(key, "--mutation")) {
        o->mutation = mutant_find(value);
        if (o->mutation < 0) return -1;
        o->is_rw |= mutant_is_rw(o->mutation);
        return 0;
    }
    if (strcmp(key, "--faults")) return -1;
    o->faults_text = value;
    return sim_faults_parse(value, &o->faults);
}

static int options_parse(struct options *o, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--trace")) {
            o->trace = 1;
            continue;
        }
        if (!strcmp(argv[i], "--rw")) {
            o->is_rw = 1;
            continue;
        }
        if (i + 1 == argc || option_parse(o, argv[i], argv[i + 1]) != 0) {
            fprintf(stderr, "sim: %s: not understood\n", argv[i]);
            return -1;
        }
        i++;
    }
    return 0;
}

/* ---- running ---------------------------------------------------------- */

static void failure_print(const struct options *o, uint64_t seed,
                          const char *reason)
{
    printf("seed %llu: %s\n  replay: sim run --from %llu --seeds 1",
           (unsigned long long)seed, reason, (unsigned long long)seed);
    if (o->nodes) printf(" --nodes %llu", (unsigned long long)o->nodes);
    if (o->mutation) printf(" --mutation %s", mutants[o->mutation].name);
    if (o->faults_text) printf(" --faults %s", o->faults_text);
    puts(o->is_rw ? " --rw --trace" : " --trace");
    fflush(stdout);
}

static int worker_run(const struct options *o, uint64_t first, uint64_t step,
                      struct tally *t)
{
    struct sim *s = sim_new();
    if (!s) return 1;
    s->trace = o->trace;
    s->nodes_wanted = (int)o->nodes;
    s->rw_wanted = o->is_rw;
    for (uint64_t i = first; i < o->seeds; i += step) {
        if (sim_run(s, o->from + i, o->faults, o->mutation)) {
            if (t->failed++ < FAILURES_SHOWN)
                failure_print(o, s->seed, s->reason);
        } else {
            t->passed++;
        }
        t->events += s->events;
        t->acquired += s->acquired;
        t->passed_on += s->passed;
        t->lost += s->lost;
        t->refused_writes += s->refused_writes;
        for (int k = 0; k < DEEDS_LEN; k++) t->deeds[k] += s->deeds[k];
    }
    sim_delete(s);
    return 0;
}

static pid_t worker_start(const struct options *o, uint64_t index,
                          struct tally *t)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid != 0) return pid;
    int rc = worker_run(o, index, WORKERS, t);
    fflush(stdout);
    exit(rc);
}

/* A worker that dies, dies of an assertion: that is a failure too. */
static int workers_run(const struct options *o, struct tally *tallies)
{
    pid_t pids[WORKERS];
    int died = 0;
    for (int i = 0; i < WORKERS; i++)
        pids[i] = worker_start(o, (uint64_t)i, &tallies[i]);
    for (int i = 0; i < WORKERS; i++) {
        int status = 0;
        if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status != 0) {
            const struct tally *t = &tallies[i];
            uint64_t done = t->passed + t->failed;
            failure_print(o, o->from + (uint64_t)i + done * WORKERS,
                          "engine: an assertion failed");
            died++;
        }
    }
    return died;
}

static void tally_add(struct tally *sum, const struct tally *t)
{
    sum->passed += t->passed;
    sum->failed += t->failed;
    sum->events += t->events;
    sum->acquired += t->acquired;
    sum->passed_on += t->passed_on;
    sum->lost += t->lost;
    sum->refused_writes += t->refused_writes;
    for (int i = 0; i < DEEDS_LEN; i++) sum->deeds[i] += t->deeds[i];
}

/* Quorums, hand-overs and fallbacks are of plain locks only. */
static int is_expected(const struct options *o, int deed)
{
    int is_plains = deed >= DEED_QUARANTINE && deed <= DEED_WHOLE;
    is_plains |= deed >= DEED_FALLBACK && deed <= DEED_EVEN;
    is_plains |= deed >= DEED_ASK;
    return !o->is_rw || !is_plains;
}

/* What happened; how many things did not, that should have. */
static int deeds_print(const struct options *o, const struct tally *sum)
{
    int is_telling = o->seeds >= SEEDS_TELLING && o->faults == FAULTS_ALL
                     && (!o->nodes || o->is_rw) && !o->mutation;
    int missing = 0;
    for (int i = 0; i < DEEDS_LEN; i++) {
        printf("%s%lld %s", i ? ", " : "", (long long)sum->deeds[i],
               sim_deed_name(i));
        missing += is_telling && is_expected(o, i) && sum->deeds[i] == 0;
    }
    puts("");
    if (missing) printf("%d of these should have happened\n", missing);
    return missing;
}

static int run_main(const struct options *o)
{
    struct tally sum = {0};
    size_t size = WORKERS * sizeof(struct tally);
    struct tally *t = mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        perror("sim: mmap");
        return 70;
    }
    int alone = o->seeds == 1 || o->trace;
    int died = alone ? worker_run(o, 0, 1, t) : workers_run(o, t);
    for (int i = 0; i < WORKERS; i++) tally_add(&sum, &t[i]);
    munmap(t, size);
    printf("seeds %llu to %llu: %llu events, %lld acquired, %lld of them "
           "handed over, %lld lost, %lld stale writes refused\n",
           (unsigned long long)o->from,
           (unsigned long long)(o->from + o->seeds - 1),
           (unsigned long long)sum.events, (long long)sum.acquired,
           (long long)sum.passed_on, (long long)sum.lost,
           (long long)sum.refused_writes);
    sum.failed += (uint64_t)(died + deeds_print(o, &sum));
    printf("%llu passed, %llu failed\n", (unsigned long long)sum.passed,
           (unsigned long long)sum.failed);
    return sum.failed != 0;
}

static int list_main(void)
{
    puts("faults:");
    for (int i = 0; sim_fault_name(i); i++) printf("  %s\n", sim_fault_name(i));
    puts("mutations:");
    for (int i = 1; i < mutants_len; i++)
        printf("  %-20s %s\n", mutants[i].name, mutants[i].what);
    return 0;
}

int main(int argc, char **argv)
{
    struct options o = {
        .seeds = SEEDS_DEFAULT, .from = 1, .faults = FAULTS_ALL};
    const char *env = getenv("HF_SIM_SEEDS");
    if (argc < 2) return usage();
    int is_hunt = !strcmp(argv[1], "mutants");
    int is_amnesia = !strcmp(argv[1], "amnesia");
    if (is_hunt) o.seeds = MUTANT_SEEDS;
    if (is_amnesia) o.seeds = AMNESIA_SEEDS;
    if (env && !is_hunt && !is_amnesia && number_parse(env, &o.seeds) != 0)
        return usage();
    if (options_parse(&o, argc - 2, argv + 2) != 0) return usage();
    if (!strcmp(argv[1], "run")) return run_main(&o);
    if (!strcmp(argv[1], "list")) return list_main();
    if (is_amnesia) return amnesia_main(o.seeds) != 0;
    return is_hunt ? mutants_main(o.seeds) != 0 : usage();
}
