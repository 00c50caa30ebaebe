/*
 * stock_walk_test.c: the way of one reservation, step by step, where what the
 * segments say changes between two steps.
 */
#include "core/stock_walk.h"

#include "test.h"

static struct stock_walk w;

/* All jobs of the step are answered: `says`, and `avail` of each segment. */
static void answer(enum stock_says says, const int64_t *avail)
{
    struct stock_job job;
    uint32_t len = hf__stock_walk_jobs(&w);
    for (uint32_t i = 0; i < len; i++) {
        hf__stock_walk_ask(&w, i, &job);
        job.told = (struct stock_told){.says = says};
        if (avail) job.told.avail = avail[i];
        hf__stock_walk_told(&w, &job);
    }
    hf__stock_walk_next(&w);
}

/* Units came back while the others were looked at: none need be fetched, and
 * "sold out" would be wrong. */
TEST(stock_walk, asks_at_home_again_when_enough_came_back_there)
{
    const int64_t none[] = {0, 3, 0};
    hf__stock_walk_begin(&w, 1, 3, 3);
    answer(STOCK_DRY, NULL);
    CHECK_INT(w.phase, WALK_LOOK);
    answer(STOCK_DONE, none);
    CHECK_INT(w.phase, WALK_RESERVE);
    answer(STOCK_RESERVED, NULL);
    CHECK_INT(w.phase, WALK_OVER);
    CHECK_INT(w.says, STOCK_RESERVED);
}

TEST(stock_walk, is_sold_out_where_too_few_are_left)
{
    const int64_t too_few[] = {0, 2, 0};
    hf__stock_walk_begin(&w, 1, 3, 3);
    answer(STOCK_DRY, NULL);
    answer(STOCK_DONE, too_few);
    CHECK_INT(w.phase, WALK_GONE);
    answer(STOCK_DONE, NULL);
    CHECK_INT(w.phase, WALK_OVER);
    CHECK_INT(w.says, STOCK_SOLD_OUT);
}

TEST(stock_walk, ends_when_units_always_leave_before_it_comes)
{
    const int64_t back[] = {5, 3, 5};
    int steps = 0;
    hf__stock_walk_begin(&w, 1, 3, 3);
    while (w.phase != WALK_OVER && steps++ < 1000)
        answer(w.phase == WALK_RESERVE ? STOCK_DRY : STOCK_DONE, back);
    CHECK_INT(w.phase, WALK_OVER);
    CHECK_INT(w.says, STOCK_BUSY);
}
