/*
 * stock/stock.h: one call of `holdfast stock`, and how its answers are shown.
 */
#ifndef HOLDFAST_CLI_STOCK_STOCK_H
#define HOLDFAST_CLI_STOCK_STOCK_H

#include "holdfast/holdfast.h"
#include "session/session.h"

#define STOCK_WORDS 5

struct stock_call {
    struct session *s;
    const struct options *o;
    hf_stock *stock;          /* NULL for create */
    const char *const *words; /* action, sale, and its own */
    int64_t number;           /* QUANTITY, UNITS, or TIME in ms */
};

/* Say a failure, and return its exit code. */
int stock_fail(const struct stock_call *c, int status,
               const struct hf_error *err);
/* stock/drain.c: move the orders into a database; compare the two. */
int stock_drain(const struct stock_call *c);
int stock_compare(const struct stock_call *c);
/* The URL of the database: --into or HOLDFAST_INTO; NULL: none. */
const char *stock_into(const struct stock_call *c);

/* Show an answer; returns the exit code. */
int stock_show_reservation(const struct stock_call *c,
                           const struct hf_reservation *got);
int stock_show_settled(const struct stock_call *c,
                       const struct hf_stock_settled *settled);
/* Terms, or books; `title` as the first column of a table. */
int stock_show_terms(const struct stock_call *c,
                     const struct hf_stock_report *r);
int stock_show_books(const struct stock_call *c,
                     const struct hf_stock_report *r);
void stock_show_segment(uint32_t segment, const struct hf_stock_report *r,
                        void *call);

#endif
