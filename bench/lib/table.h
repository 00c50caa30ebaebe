/*
 * table.h: what was measured, against what was promised.  A row that could not
 * be measured is in the table too, and says why.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdio.h>

#define ROWS_MAX 192
#define NOTE_MAX 96

/* What a target is about. */
enum judge {
    JUDGE_NOTHING,   /* for information */
    JUDGE_RATIO_MIN, /* ours / reference */
    JUDGE_RATIO_MAX,
    JUDGE_OURS_MIN, /* ours alone */
    JUDGE_OURS_MAX,
    JUDGE_OURS_IS,
    JUDGE_DIFFERENCE_MAX /* ours - reference */
};

/* A figure that does not exist is NAN. */
struct row {
    const char *work; /* "W1-busy" */
    const char *what; /* "ops/s" */
    double ours;
    double reference;
    double ratio; /* NAN: ours / reference */
    enum judge judge;
    double bound;
    char note[NOTE_MAX];
};

struct table {
    struct row rows[ROWS_MAX];
    int len;
};

/* Add a row and print it.  `note` may be NULL. */
void table_add(struct table *t, struct row row, const char *note);

/* A workload that could not be run. */
void table_skip(struct table *t, const char *work, const char *why);

void table_head_print(void);

/* Rows that missed their target; rows that could not be measured. */
int table_missed(const struct table *t);
int table_failed(const struct table *t);

/* All rows as a JSON array. */
void table_json(const struct table *t, FILE *out);

#endif
