/*
 * stock_flow.h: ways to sell on one Redis server for some time: by a sale of
 * holdfast, and by a lock around a number, in plain C.
 */
#ifndef BENCH_STOCK_FLOW_H
#define BENCH_STOCK_FLOW_H

#include "measure.h"

#define STOCK_BUYERS 20    /* connections, each with one request at a time */
#define STOCK_PIPES 4      /* connections that are pipelined ... */
#define STOCK_DEPTH 64     /* ... and requests at once on each */
#define STOCK_STORED 50000 /* reservations, whose memory is measured */

/* What came of it. */
struct stock_flow {
    double per_s;
    double server_us; /* CPU of the server, for each of them */
    double bytes;     /* memory of the server, for each of them */
};

/* STOCK_PIPES threads with a client each, and STOCK_DEPTH reservations at once.
 */
void stock_flow_piped(struct bench *b, struct stock_flow *out);
/* The same until there are STOCK_STORED of them. */
void stock_flow_stored(struct bench *b, struct stock_flow *out);
/* The same, of a sale that is sold out. */
void stock_flow_sold_out(struct bench *b, struct stock_flow *out);
/* STOCK_BUYERS threads, each with a client of its own. */
void stock_flow_buyers(struct bench *b, struct stock_flow *out);
/* The same threads, each with plain C: SET NX, GET, SET, and a script that
 * deletes only its own value; a lock that is taken is asked for again after a
 * pause of half a ms to one and a half. */
void stock_flow_lock(struct bench *b, struct stock_flow *out);

#endif
