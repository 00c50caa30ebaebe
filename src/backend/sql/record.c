/*
 * record.c: see record.h.  One rule: bytes that holdfast has not written are
 * refused.
 */
#include "backend/sql/record.h"

#include <string.h>

#include "rules/pack.h"

#define MARK "hfcell1"
#define MARK_LEN (sizeof MARK - 1)

static void plain_pack(struct cell_bytes *b, const struct cell_plain *p)
{
    hf__rules_pack_signed(b, p->counter);
    hf__rules_pack_text(b, p->owner);
    if (!p->owner[0]) return;
    hf__rules_pack_unsigned(b, p->attempt);
    hf__rules_pack_signed(b, p->ballot);
    hf__rules_pack_signed(b, p->fence);
    hf__rules_pack_signed(b, p->holds);
    hf__rules_pack_signed(b, p->ends_us);
    hf__rules_pack_signed(b, p->since_us);
    hf__rules_pack_unsigned(b, p->flags);
    hf__rules_pack_text(b, p->info);
}

static void plain_unpack(struct unpack *u, struct cell_plain *p)
{
    p->counter = hf__rules_unpack_range(u, 0, PACK_MAX);
    hf__rules_unpack_text(u, p->owner, sizeof p->owner);
    if (!p->owner[0]) return;
    p->attempt = hf__rules_unpack_unsigned(u);
    p->ballot = hf__rules_unpack_range(u, 0, PACK_MAX);
    p->fence = hf__rules_unpack_range(u, 0, PACK_MAX);
    p->holds = hf__rules_unpack_range(u, 0, PACK_MAX);
    p->ends_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    p->since_us = hf__rules_unpack_range(u, 0, PACK_MAX);
    p->flags = (unsigned)hf__rules_unpack_unsigned(u);
    hf__rules_unpack_text(u, p->info, sizeof p->info);
}

/* Write the mark, without a length before it. */
static void mark_pack(struct cell_bytes *b)
{
    for (size_t i = 0; i < MARK_LEN; i++)
        hf__rules_pack_unsigned(b, (unsigned char)MARK[i]);
}

int hf__sql_record_write(const struct sql_row *row, int64_t now_us,
                         struct cell_bytes *out)
{
    out->len = 0;
    out->is_short = 0;
    mark_pack(out);
    hf__rules_pack_signed(out, now_us);
    hf__rules_pack_signed(out, row->news);
    plain_pack(out, &row->plain);
    hf__rules_pack_bytes(out, row->state, row->state_len);
    return out->is_short ? HF_NOMEM : HF_OK;
}

int hf__sql_record_read(const void *at, size_t len, struct sql_row *row,
                        int64_t *now_us)
{
    struct unpack u = {.at = at};
    *row = (struct sql_row){0};
    *now_us = 0;
    if (len == 0) return HF_OK;
    if (len < MARK_LEN || memcmp(at, MARK, MARK_LEN) != 0) return HF_CONFLICT;
    u.end = u.at + len;
    u.at += MARK_LEN;
    int64_t told_us = hf__rules_unpack_range(&u, 0, PACK_MAX);
    row->news = hf__rules_unpack_range(&u, 0, PACK_MAX);
    plain_unpack(&u, &row->plain);
    row->state = hf__rules_unpack_bytes(&u, &row->state_len);
    row->is_there = 1;
    if (!u.is_bad && !u.is_short && u.at == u.end) {
        *now_us = told_us;
        return HF_OK;
    }
    *row = (struct sql_row){0};
    return HF_CONFLICT;
}
