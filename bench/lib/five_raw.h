/*
 * five_raw.h: the same over five servers by plain C.
 */
#ifndef BENCH_FIVE_RAW_H
#define BENCH_FIVE_RAW_H

#include <hiredis/hiredis.h>

#include "five.h"

struct five_raw {
    redisContext *links[FIVE];
    int owed[FIVE];   /* replies that have not come */
    char release[80]; /* a command; the token goes into it */
    int turn;
};

void five_raw_open(struct five_raw *r, const struct five *f);
void five_raw_close(struct five_raw *r);
void five_raw_once(struct five_raw *r);

#endif
