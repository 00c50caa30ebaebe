/*
 * urls.h: holdfast by one URL against holdfast by another.
 */
#ifndef BENCH_URLS_H
#define BENCH_URLS_H

#include "holdfast/holdfast.h"
#include "work.h"

/* A client and a lock of it, or fail(); closed with the client. */
void url_open(const char *url, hf_client **client, hf_lock **lock);

/* Add a row: how often it is locked and unlocked by `url`, and by `direct` in
 * turn; the first is to be at least `ratio_min` of the second. */
void urls_compare(struct bench *b, const struct work *w, const char *url,
                  const char *direct, double ratio_min);

#endif
