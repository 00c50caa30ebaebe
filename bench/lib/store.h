/*
 * store.h: what a runner has to know of the stores that are modules.  One rule:
 * what the caller has said, in the URL or in the environment, stays.
 */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include <stddef.h>
#include <stdint.h>

#define STORE_URL_MAX 512

/* Let the library find the modules of this build. */
void store_modules_find(void);

/* The URL with what the lease asks of the store.  A lock of ZooKeeper ends with
 * the session and not with its lease, so there the session becomes as short as
 * this lease permits: twice as long.  Another URL is copied. */
void store_url(char out[STORE_URL_MAX], const char *url, int64_t lease_ms);

#endif
