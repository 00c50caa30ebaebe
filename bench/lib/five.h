/*
 * five.h: five servers of our own, and a lock over them.
 */
#ifndef BENCH_FIVE_H
#define BENCH_FIVE_H

#include "holdfast/holdfast.h"
#include "work.h"

#define FIVE 5
#define FIVE_URL_MAX 256

struct five {
    struct server servers[FIVE];
    char url[FIVE_URL_MAX];
};

/* A client that has taken its lock some times already. */
struct five_lock {
    hf_client *client;
    hf_lock *lock;
};

/* "redlock://127.0.0.1:<port>,..."; the servers there become its members,
 * unless they are already. */
void five_url(char url[FIVE_URL_MAX], const int *ports, int len);
void five_init(const char *url);

void five_start(struct five *f, const struct bench *b);
void five_stop(struct five *f);

void five_lock_open(struct five_lock *l, const struct five *f);
void five_lock_close(struct five_lock *l);

/* Take it and give it back. */
void five_lock_once(struct five_lock *l);

#endif
