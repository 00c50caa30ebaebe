/*
 * page.c: a page of locks.  One rule: a row that cannot be read is left out,
 * and the list goes on behind it.
 */
#include <string.h>

#include "backend/sql/core.h"

struct sql_page {
    const struct sql_job *job; /* the LIST that it belongs to */
    size_t seen;               /* rows that came */
    size_t len;
    int64_t last_id;
    struct list_row rows[SQL_PAGE_ROWS];
    char names[SQL_PAGE_ROWS][NAME_LEN_MAX + 1];
};

void hf__sql_page_free(struct sql_core *core)
{
    hf__free(core->env->alloc, core->page);
    core->page = NULL;
}

void hf__sql_page_begin(struct sql_core *core)
{
    if (core->page) core->page->job = NULL;
}

/* The page of this job, emptied if it belonged to another one; NULL without
 * memory. */
static struct sql_page *page_of(struct sql_core *core,
                                const struct sql_job *job)
{
    if (!core->page)
        core->page = hf__alloc_zero(core->env->alloc, sizeof *core->page);
    struct sql_page *page = core->page;
    if (!page || page->job == job) return page;
    page->job = job;
    page->seen = page->len = 0;
    page->last_id = 0;
    return page;
}

static void page_add(struct sql_page *page, const struct list_row *row)
{
    struct list_row *to = &page->rows[page->len];
    char *name = page->names[page->len++];
    memcpy(name, row->name, row->name_len);
    name[row->name_len] = '\0';
    *to = *row;
    to->name = name;
}

void hf__sql_list_row(struct sql_job *job, const struct sql_row *row,
                      int64_t now_us)
{
    struct sql_core *core = job->core;
    struct sql_page *page = page_of(core, job);
    struct request like = *job->req;
    struct reply rep;
    if (!page) return;
    page->seen++;
    page->last_id = row->id;
    if (page->len == SQL_PAGE_ROWS || row->name_len > NAME_LEN_MAX) return;
    if (hf__rules_cell_load(core->store, row->name, row->name_len, &row->plain,
                            row->state, row->state_len)
        != HF_OK)
        return;
    like.cursor = 0;
    hf__rules_store_apply(core->store, now_us, &like, &rep);
    if (rep.verdict != V_GRANTED || rep.rows_len != 1) return;
    hf__sql_row_tell(row, &rep.rows[0].info);
    page_add(page, &rep.rows[0]);
}

void hf__sql_answer_list(struct sql_job *job, int64_t now_us)
{
    struct sql_page *page = page_of(job->core, job);
    struct reply rep = {
        .verdict = V_GRANTED, .node_us = now_us, .ttl_us = -1, .waiters = -1};
    if (!page) {
        hf__sql_refuse(job, HF_NOMEM, "list: out of memory");
        return;
    }
    rep.rows = page->rows;
    rep.rows_len = page->len;
    if (page->seen >= SQL_PAGE_ROWS) rep.cursor = (uint64_t)page->last_id;
    page->job = NULL;
    hf__sql_job_finish(job, &rep);
}
