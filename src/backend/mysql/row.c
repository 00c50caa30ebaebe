/*
 * row.c: see row.h.  One rule: what was stored by another program may be
 * anything, and is cut to what fits.
 */
#include "backend/mysql/row.h"

#include <stdlib.h>
#include <string.h>

int hf__mysql_row_next(MYSQL_RES *result, struct fields *f)
{
    *f = (struct fields){.at = result ? mysql_fetch_row(result) : NULL};
    if (!f->at) return 0;
    f->lengths = mysql_fetch_lengths(result);
    f->len = mysql_num_fields(result);
    return f->lengths != NULL;
}

const char *hf__mysql_row_text(const struct fields *f, unsigned column)
{
    return column < f->len ? f->at[column] : NULL;
}

int64_t hf__mysql_row_number(const struct fields *f, unsigned column)
{
    const char *text = hf__mysql_row_text(f, column);
    return text ? strtoll(text, NULL, 10) : 0;
}

static void text_read(const struct fields *f, unsigned column, char *to,
                      size_t size)
{
    const char *text = hf__mysql_row_text(f, column);
    size_t len = text ? f->lengths[column] : 0;
    if (len >= size) len = size - 1;
    if (len > 0) memcpy(to, text, len);
    memset(to + len, 0, size - len);
}

static void plain_read(const struct fields *f, struct cell_plain *p)
{
    p->counter = hf__mysql_row_number(f, COLUMN_COUNTER);
    p->attempt = (uint64_t)hf__mysql_row_number(f, COLUMN_ATTEMPT);
    p->ballot = hf__mysql_row_number(f, COLUMN_BALLOT);
    p->fence = hf__mysql_row_number(f, COLUMN_FENCE);
    p->holds = hf__mysql_row_number(f, COLUMN_HOLDS);
    p->ends_us = hf__mysql_row_number(f, COLUMN_ENDS);
    p->since_us = hf__mysql_row_number(f, COLUMN_SINCE);
    p->flags = (unsigned)hf__mysql_row_number(f, COLUMN_FLAGS);
    text_read(f, COLUMN_OWNER, p->owner, sizeof p->owner);
    text_read(f, COLUMN_INFO, p->info, sizeof p->info);
}

int hf__mysql_row_read(const struct fields *f, struct sql_row *row)
{
    *row = (struct sql_row){.is_there = 0};
    if (f->len < COLUMNS_LEN) return -1;
    if (!f->at[COLUMN_NAME]) return 0;
    row->is_there = 1;
    row->name = f->at[COLUMN_NAME];
    row->name_len = f->lengths[COLUMN_NAME];
    row->id = hf__mysql_row_number(f, COLUMN_ID);
    row->version = hf__mysql_row_number(f, COLUMN_VERSION);
    row->news = hf__mysql_row_number(f, COLUMN_NEWS);
    row->waits_us = hf__mysql_row_number(f, COLUMN_WAITS);
    plain_read(f, &row->plain);
    row->state = f->at[COLUMN_STATE];
    row->state_len = row->state ? f->lengths[COLUMN_STATE] : 0;
    return 0;
}
