/*
 * sql_record_test.c: a row as bytes, and back.  One rule: what was not written
 * by us is no row.
 */
#include <string.h>

#include "backend/sql/record.h"
#include "rules/pack.h"
#include "test.h"

#define NOW (INT64_C(1700000000) * US_PER_S)

static struct sql_row row_of(const char *state)
{
    return (struct sql_row){.is_there = 1,
                            .news = 7,
                            .plain = {.counter = NOW + 5,
                                      .owner = "a:1",
                                      .attempt = UINT64_MAX,
                                      .ballot = NOW,
                                      .fence = NOW + 4,
                                      .holds = 2,
                                      .ends_us = NOW + US_PER_S,
                                      .since_us = NOW,
                                      .flags = CELL_DETACHED,
                                      .info = "12 host label"},
                            .state = state,
                            .state_len = strlen(state)};
}

TEST(sql_record, comes_back_as_it_was_written)
{
    struct cell_bytes b = {.alloc = &hf__alloc_default};
    struct sql_row row = row_of("some\1bytes"), back;
    int64_t now_us = 0;
    CHECK_INT(hf__sql_record_write(&row, NOW, &b), HF_OK);
    CHECK_INT(hf__sql_record_read(b.at, b.len, &back, &now_us), HF_OK);
    CHECK_INT(now_us, NOW);
    CHECK_INT(back.is_there, 1);
    CHECK_INT(back.news, 7);
    CHECK(hf__rules_cell_is_same(&back.plain, &row.plain));
    CHECK_INT(back.state_len, row.state_len);
    CHECK(!memcmp(back.state, row.state, row.state_len));
    hf__rules_cell_free(&b);
}

TEST(sql_record, of_no_bytes_is_no_row)
{
    struct sql_row row;
    int64_t now_us;
    CHECK_INT(hf__sql_record_read(NULL, 0, &row, &now_us), HF_OK);
    CHECK_INT(row.is_there, 0);
}

/* Cut anywhere, or with a byte more. */
TEST(sql_record, that_is_not_whole_is_refused)
{
    struct cell_bytes b = {.alloc = &hf__alloc_default};
    struct sql_row row = row_of("state"), back;
    int64_t now_us;
    CHECK_INT(hf__sql_record_write(&row, NOW, &b), HF_OK);
    for (size_t len = 1; len < b.len; len++)
        CHECK_INT(hf__sql_record_read(b.at, len, &back, &now_us), HF_CONFLICT);
    hf__rules_pack_unsigned(&b, 0);
    CHECK_INT(hf__sql_record_read(b.at, b.len, &back, &now_us), HF_CONFLICT);
    hf__rules_cell_free(&b);
}
