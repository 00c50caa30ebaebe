/*
 * row.c: see row.h.  One rule: what was stored by another program may be
 * anything, and is cut to what fits.
 */
#include "backend/postgres/row.h"

#include <string.h>

#include "backend/postgres/params.h"

int64_t hf__postgres_row_number(const PGresult *result, int at, int column)
{
    if (PQgetisnull(result, at, column)) return 0;
    if (PQgetlength(result, at, column) != 8) return 0;
    return hf__postgres_number(PQgetvalue(result, at, column));
}

static void text_read(const PGresult *result, int at, int column, char *to,
                      size_t size)
{
    size_t len = (size_t)PQgetlength(result, at, column);
    if (len >= size) len = size - 1;
    memcpy(to, PQgetvalue(result, at, column), len);
    memset(to + len, 0, size - len);
}

static void plain_read(const PGresult *result, int at, struct cell_plain *p)
{
    p->counter = hf__postgres_row_number(result, at, COLUMN_COUNTER);
    p->attempt = (uint64_t)hf__postgres_row_number(result, at, COLUMN_ATTEMPT);
    p->ballot = hf__postgres_row_number(result, at, COLUMN_BALLOT);
    p->fence = hf__postgres_row_number(result, at, COLUMN_FENCE);
    p->holds = hf__postgres_row_number(result, at, COLUMN_HOLDS);
    p->ends_us = hf__postgres_row_number(result, at, COLUMN_ENDS);
    p->since_us = hf__postgres_row_number(result, at, COLUMN_SINCE);
    p->flags = (unsigned)hf__postgres_row_number(result, at, COLUMN_FLAGS);
    text_read(result, at, COLUMN_OWNER, p->owner, sizeof p->owner);
    text_read(result, at, COLUMN_INFO, p->info, sizeof p->info);
}

int hf__postgres_row_read(const PGresult *result, int at, struct sql_row *row)
{
    *row = (struct sql_row){.is_there = 0};
    if (at >= PQntuples(result) || PQnfields(result) <= COLUMN_STATE) return -1;
    if (PQgetisnull(result, at, COLUMN_NAME)) return 0;
    row->is_there = 1;
    row->name = PQgetvalue(result, at, COLUMN_NAME);
    row->name_len = (size_t)PQgetlength(result, at, COLUMN_NAME);
    row->id = hf__postgres_row_number(result, at, COLUMN_ID);
    row->version = hf__postgres_row_number(result, at, COLUMN_VERSION);
    row->news = hf__postgres_row_number(result, at, COLUMN_NEWS);
    row->waits_us = hf__postgres_row_number(result, at, COLUMN_WAITS);
    plain_read(result, at, &row->plain);
    if (PQgetisnull(result, at, COLUMN_STATE)) return 0;
    row->state = PQgetvalue(result, at, COLUMN_STATE);
    row->state_len = (size_t)PQgetlength(result, at, COLUMN_STATE);
    return 0;
}
