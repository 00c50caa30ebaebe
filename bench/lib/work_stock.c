/*
 * work_stock.c: what a reservation of a sale costs the server, and how many
 * there are in a second, next to a lock around a number.
 */
#include <math.h>

#include "stock_flow.h"
#include "work.h"

enum way { PIPED, BUYERS, LOCK, SOLD_OUT, STORED, WAYS };

static void (*const flows[WAYS])(struct bench *, struct stock_flow *) = {
    [PIPED] = stock_flow_piped,   [BUYERS] = stock_flow_buyers,
    [LOCK] = stock_flow_lock,     [SOLD_OUT] = stock_flow_sold_out,
    [STORED] = stock_flow_stored,
};

/* By round. */
struct flows {
    double per_s[WAYS][ROUNDS_MAX], us[WAYS][ROUNDS_MAX], bytes[ROUNDS_MAX];
};

static void alone_add(struct bench *b, const struct work *w, const char *what,
                      double *ours, double bound)
{
    struct row row = {w->name, what, median(ours, b->rounds),
                      NAN,     NAN,  bound > 0 ? JUDGE_OURS_MAX : JUDGE_NOTHING,
                      bound,   ""};

    table_add(&b->table, row, NULL);
}

/* Against the lock, of the same round. */
static void ratio_add(struct bench *b, const struct work *w, const char *what,
                      double (*of)[ROUNDS_MAX], enum way way, enum judge judge,
                      double bound)
{
    double ours[ROUNDS_MAX], lock[ROUNDS_MAX], ratio[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++) {
        ours[i] = of[way][i];
        lock[i] = of[LOCK][i];
        ratio[i] = ours[i] / lock[i];
    }
    struct row row = {w->name,
                      what,
                      median(ours, b->rounds),
                      median(lock, b->rounds),
                      median(ratio, b->rounds),
                      judge,
                      bound,
                      ""};
    table_add(&b->table, row, NULL);
}

void work_stock(struct bench *b, const struct work *w)
{
    static struct flows f;
    struct stock_flow got;

    for (int i = 0; i < b->rounds; i++)
        for (int way = 0; way < WAYS; way++) {
            flows[way](b, &got);
            f.per_s[way][i] = got.per_s;
            f.us[way][i] = got.server_us;
            if (way == STORED) f.bytes[i] = got.bytes;
        }
    ratio_add(b, w, "reserves/s, 20 connections", f.per_s, BUYERS,
              JUDGE_RATIO_MIN, 4);
    ratio_add(b, w, "reserves/s, pipelined", f.per_s, PIPED, JUDGE_RATIO_MIN,
              12);
    ratio_add(b, w, "server us, 20 connections", f.us, BUYERS, JUDGE_NOTHING,
              0);
    alone_add(b, w, "server us/reserve, pipelined", f.us[PIPED], 15);
    alone_add(b, w, "server us/sold out, pipelined", f.us[SOLD_OUT], 9);
    alone_add(b, w, "server bytes/reservation", f.bytes, 150);
}
