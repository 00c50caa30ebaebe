/*
 * stock_events.c: a page of the events of a segment.
 *
 * One rule: an entry that the scripts did not write makes the answer a bad one.
 */
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/stock.h"
#include "backend/redis/redis.h"
#include "base/stock_page.h"

static void build_events(struct backend_conn *c, const struct request *req)
{
    const struct stock_job *job = req->stock;
    hf__redis_stock_keys(c, req);
    hf__redis_cmd_text(&c->cmd, job->id);
    hf__redis_cmd_number(&c->cmd, STOCK_PAGE_EVENTS);
    hf__redis_cmd_text(&c->cmd, job->cut);
}

static int read_events(struct backend_conn *c, const struct request *req,
                       const struct resp *v, struct reply *reply)
{
    (void)c;
    struct stock_page *page = req->stock->page;
    int head = hf__redis_stock_head(v, &req->stock->told, reply);
    if (head) return head < 0 ? -1 : 0;
    page->is_told = 1;
    page->len = page->text_len = 0;
    for (size_t i = 4; i < v->len; i += 2) {
        const struct resp *id = hf__redis_resp_at(v, i);
        const struct resp *text = hf__redis_resp_at(v, i + 1);
        if (!id || !text || id->type != RESP_STRING
            || text->type != RESP_STRING)
            return -1;
        int added =
            hf__entries_add(page, id->text, id->len, text->text, text->len);
        if (added < 0) return -1;
        if (added == 0) break;
    }
    return 0;
}

REDIS_CALL(stock_events, build_events, read_events, 0);
