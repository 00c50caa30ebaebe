/*
 * engine.h: the stores of the bench that are not Redis: a server of one's own
 * on a free loopback port that does not wait for its disk, or a file.  One at a
 * time; it ends with this program.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stddef.h>

#define ENGINE_URL_MAX 400

struct engine {
    char url[ENGINE_URL_MAX]; /* for holdfast */
    char raw[ENGINE_URL_MAX]; /* the same for the reference */
    /* What clients have asked so far; NULL: it is not counted. */
    double (*requests)(void);
    /* Locks that the store has; NULL: it is not asked. */
    double (*held)(void);
    void (*stop)(void); /* NULL: nothing runs */
};

/* Start the engine "postgres", "mysql", "sqlite" (its file in `dir`), "etcd" or
 * "zookeeper"; "postgres-session" and "mysql-session" with session=on.  NULL,
 * or why it cannot be measured; to be stopped in both cases. */
const char *engine_start(struct engine *e, const char *name, const char *dir);

#endif
