/*
 * bench.c: measures holdfast against plain C on this machine, prints a table
 * with targets and verdicts, and writes it as JSON.
 *
 *     bench [key=value...] [workload...]
 *
 * It starts its own servers on free loopback ports and stops them again.
 * Nothing is compared that was not measured in alternation (measure.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/machine.h"
#include "lib/store.h"
#include "lib/tool.h"
#include "lib/work.h"

static const struct work works[] = {
    {"W1-busy", "1 thread, beside a busy process", work_w1_busy},
    {"W1-idle", "1 thread", work_w1_idle},
    {"W1-string", "1 thread, format=string", work_w1_string},
    {"W1-nofence", "1 thread, format=string and fence=off", work_w1_nofence},
    {"W1-tls", "1 thread, over TLS", work_w1_tls},
    {"W2", "64 threads, own names", work_w2},
    {"W2-async", "1 thread, 64 in flight", work_w2_async},
    {"readers", "16 threads, all read one lock", work_readers},
    {"W3", "16 threads, one name", work_w3},
    {"W3-handover", "the same, handed over in the process", work_w3_handover},
    {"W4", "4 processes of 4 threads, one name", work_w4},
    {"W4-handover", "the same, handed over in each", work_w4_handover},
    {"W4-fair", "the same, the longest waiter first", work_w4_fair},
    {"permits", "64 threads, a semaphore of 8", work_permits},
    {"W5", "1 thread, a lock over five servers", work_w5},
    {"W5-memory", "the same for a minute, two of them gone", work_w5_memory},
    {"W6", "10,000 locks held and renewed", work_w6},
    {"W6-100k", "100,000 locks held and renewed", work_w6_100k},
    {"W7", "the holder is killed", work_w7},
    {"W8-sentinel", "1 thread, a primary behind Sentinels, and kill -9",
     work_w8_sentinel},
    {"cluster", "1 thread, and 10,000 renewals, on a cluster", work_cluster},
    {"waiters", "10,000 waiters on 10,000 names", work_waiters},
    {"queue", "10 to 1,000 waiters in the queue of a fair lock", work_queue},
    {"wake", "from a release to the next holder elsewhere", work_wake},
    {"guard", "a guarded write on Redis", work_guard},
    {"stock", "reservations of a sale, against a lock around a number",
     work_stock},
    {"orders", "the orders of a sale into SQLite", work_orders},
    {"file", "1 thread, file backend against flock(2)", work_file},
    {"start", "holdfast run on file against flock -x", work_start},
    {"postgres", "rows: 1 thread, 4 processes, 10,000 held", work_engine},
    {"postgres-session", "the same with session=on", work_engine},
    {"mysql", "rows: 1 thread, 4 processes, 10,000 held", work_engine},
    {"mysql-session", "the same with session=on", work_engine},
    {"sqlite", "1 thread, 4 processes, 10,000 held", work_engine},
    {"etcd", "1 thread, 4 processes, 10,000 held", work_engine},
    {"zookeeper", "1 thread, 4 processes, 10,000 held", work_engine},
    {"modules", "the first client of a store that is a module", work_modules},
    {"grow", "1 thread beside 1,000 to 100,000 locks", work_grow},
};
#define WORKS (sizeof(works) / sizeof(works[0]))

struct wish {
    const char *json;
    int strict; /* a missed target is a failure */
    int chosen[WORKS];
    int chosen_len;
};

static struct bench bench;

static void usage_print(FILE *out)
{
    fputs("usage: bench [key=value...] [workload...]\n"
          "  secs=2       seconds a run\n"
          "  rounds=3     alternating runs of each, medians count\n"
          "  hold=20      seconds of W6, a third of those of W5-memory\n"
          "  busy=1       busy processes beside W1-busy\n"
          "  json=FILE    where the table goes too; default: bench.json in\n"
          "               the directory above this program; json= for none\n"
          "  runners=DIR  where peer, raw and stamp are\n"
          "  holdfast=CMD the command, for start\n"
          "  strict=1     exit 2 if a target is missed\n"
          "workloads:\n",
          out);
    for (size_t i = 0; i < WORKS; i++)
        fprintf(out, "  %-16s %s\n", works[i].name, works[i].about);
}

/* "W1" is W1-busy and W1-idle; "w1-idle" is one of them. */
static void work_choose(struct wish *wish, const char *arg)
{
    size_t len = strlen(arg);
    int found = 0;

    for (size_t i = 0; i < WORKS; i++) {
        const char *name = works[i].name;
        if (strncasecmp(name, arg, len) != 0) continue;
        if (name[len] != '\0' && name[len] != '-') continue;
        wish->chosen[i] = found = 1;
    }
    if (!found) {
        usage_print(stderr);
        fail("%s: no such workload", arg);
    }
    wish->chosen_len++;
}

static void wish_key(struct wish *wish, const char *key, const char *v)
{
    if (strcmp(key, "secs") == 0)
        bench.secs = real_of(key, v, 0.1, 3600);
    else if (strcmp(key, "rounds") == 0)
        bench.rounds = (int)number_of(key, v, 1, ROUNDS_MAX);
    else if (strcmp(key, "hold") == 0)
        bench.hold_secs = real_of(key, v, 1, 3600);
    else if (strcmp(key, "busy") == 0)
        bench.spinners = (int)number_of(key, v, 1, SPINNERS_MAX);
    else if (strcmp(key, "json") == 0)
        wish->json = v;
    else if (strcmp(key, "runners") == 0)
        bench.runners = v;
    else if (strcmp(key, "holdfast") == 0)
        bench.holdfast = v;
    else if (strcmp(key, "strict") == 0)
        wish->strict = (int)number_of(key, v, 0, 1);
    else
        fail("%s=%s: no such option", key, v);
}

static void wish_parse(struct wish *wish, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (strcmp(argv[i], "--help") == 0) {
            usage_print(stdout);
            exit(0);
        }
        if (!equals) {
            work_choose(wish, argv[i]);
            continue;
        }
        *equals = '\0';
        wish_key(wish, argv[i], equals + 1);
    }
}

/* The runners lie beside this program; the command and the JSON in the build
 * directory, which is the one above. */
static void programs_find(struct wish *wish)
{
    static char here[3000];
    static char command[2][4096];
    static char json[4096];

    ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
    if (n < 0) fail("/proc/self/exe cannot be read: give runners=");
    here[n] = '\0';
    char *slash = strrchr(here, '/');
    if (slash) *slash = '\0';
    if (!bench.runners) bench.runners = here;
    snprintf(json, sizeof(json), "%s/../bench.json", here);
    if (!wish->json) wish->json = json;
    if (bench.holdfast) return;
    snprintf(command[0], sizeof(command[0]), "%s/holdfast", here);
    snprintf(command[1], sizeof(command[1]), "%s/../holdfast", here);
    for (int i = 0; i < 2; i++)
        if (access(command[i], X_OK) == 0) bench.holdfast = command[i];
}

static int path_remove(const char *path, const struct stat *st, int type,
                       struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void bench_clean(void)
{
    spinners_stop();
    server_stop(&bench.server);
    if (bench.dir[0]) nftw(bench.dir, path_remove, 16, FTW_DEPTH | FTW_PHYS);
    bench.dir[0] = '\0';
}

static void bench_open(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(bench.dir, sizeof(bench.dir), "%s/holdfast-bench-XXXXXX",
             base && *base && strlen(base) < 200 ? base : "/tmp");
    if (!mkdtemp(bench.dir)) {
        bench.dir[0] = '\0';
        fail("no temporary directory");
    }
    child_setup();
    atexit(bench_clean);
    server_start(&bench.server, bench.dir);
}

static void json_write(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f) fail("%s: cannot be written", path);
    fprintf(f,
            "{\"redis\":\"%s\",\"cores\":%ld,\"secs\":%g,\"rounds\":%d,"
            "\"hold_secs\":%g,\n\"rows\":",
            bench.server.version, sysconf(_SC_NPROCESSORS_ONLN), bench.secs,
            bench.rounds, bench.hold_secs);
    table_json(&bench.table, f);
    fputs("}\n", f);
    if (fclose(f) != 0) fail("%s: cannot be written", path);
}

int main(int argc, char **argv)
{
    struct wish wish = {.json = NULL};

    bench.secs = 2;
    bench.rounds = 3;
    bench.hold_secs = 20;
    bench.spinners = 1;
    wish_parse(&wish, argc, argv);
    store_modules_find();
    programs_find(&wish);
    bench_open();
    printf("redis %s, %ld cores, %d rounds of %g s\n", bench.server.version,
           sysconf(_SC_NPROCESSORS_ONLN), bench.rounds, bench.secs);
    table_head_print();
    for (size_t i = 0; i < WORKS && !child_interrupted(); i++)
        if (!wish.chosen_len || wish.chosen[i]) works[i].run(&bench, &works[i]);
    if (child_interrupted()) fail("interrupted");
    if (*wish.json) json_write(wish.json);
    int missed = table_missed(&bench.table);
    int failed = table_failed(&bench.table);
    printf("%d missed, %d not run\n", missed, failed);
    if (failed) return 1;
    return wish.strict && missed ? 2 : 0;
}
