/*
 * watch.c: watches on cells, for waiting clients.  One rule: the server's watch
 * is set by the same read that tells what is there, so nothing that comes later
 * is missed; and it fires once, so it is set again by the next read.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/record.h"
#include "backend/zookeeper/zookeeper.h"

static void arm(struct backend_conn *c, struct cell_watch *cw);

void hf__zookeeper_watch_unref(struct backend_conn *c, struct cell_watch *cw)
{
    cw->calls--;
    if (!cw->w && cw->calls == 0) hf__free(c->env->alloc, cw);
}

static void watch_drop(struct backend_conn *c, struct cell_watch **at)
{
    struct cell_watch *cw = *at;
    *at = cw->next;
    cw->w = NULL;
    cw->job = NULL;
    if (cw->calls == 0) hf__free(c->env->alloc, cw);
}

void hf__zookeeper_watches_free(struct backend_conn *c)
{
    while (c->cells.watches) watch_drop(c, &c->cells.watches);
}

/* ---- reading the cell ---- */

static void armed(struct backend_conn *c, struct cell_watch *cw, int64_t news)
{
    struct sql_job *job = cw->job;
    int is_news = cw->is_missed || cw->news != news;
    cw->is_arming = cw->is_missed = 0;
    cw->news = news;
    cw->job = NULL;
    if (job)
        hf__sql_answer_done(job, hf__zookeeper_clock_us(c));
    else if (is_news)
        hf__sql_watch_wake(c->cells.core, cw->w);
}

static void refused(struct backend_conn *c, struct cell_watch *cw, int32_t err)
{
    struct cell_watch **at = &c->cells.watches;
    struct sql_job *job = cw->job;
    if (!job) { /* waiters ask again from time to time */
        cw->is_arming = 0;
        return;
    }
    while (*at != cw) at = &(*at)->next;
    watch_drop(c, at);
    hf__zookeeper_cell_refuse(job, "watch", err);
}

static void missing_told(struct backend_conn *c, const struct call *call,
                         struct answer *a)
{
    struct cell_watch *cw = call->watch;
    if (!cw->w) return;
    if (a->err == ZK_OK)
        arm(c, cw); /* it was made meanwhile */
    else if (a->err == ZK_NO_NODE)
        armed(c, cw, -1);
    else
        refused(c, cw, a->err);
}

static void read_put(struct backend_conn *c, enum zk_op op, answer_fn done,
                     struct cell_watch *cw)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, op);
    hf__zookeeper_out_text(o, cw->path);
    hf__zookeeper_out_bool(o, 1);
    hf__zookeeper_call_end_for(c, done, NULL, cw);
}

static void told(struct backend_conn *c, const struct call *call,
                 struct answer *a)
{
    struct cell_watch *cw = call->watch;
    struct sql_row row;
    int64_t now_us;
    size_t len;
    if (!cw->w) return;
    if (a->err == ZK_NO_NODE) {
        read_put(c, ZK_EXISTS, missing_told, cw);
        return;
    }
    if (a->err != ZK_OK) {
        refused(c, cw, a->err);
        return;
    }
    const char *data = hf__zookeeper_in_text(&a->body, &len);
    /* A record that cannot be read is reported to the next request. */
    if (hf__sql_record_read(data, len, &row, &now_us) != HF_OK)
        cw->is_missed = 1;
    armed(c, cw, row.news);
}

static void arm(struct backend_conn *c, struct cell_watch *cw)
{
    cw->is_arming = 1;
    read_put(c, ZK_GET_DATA, told, cw);
}

/* ---- requests ---- */

void hf__zookeeper_watch_begin(struct backend_conn *c, struct sql_job *job)
{
    const struct request *req = job->req;
    const char *path = hf__zookeeper_cell_path(c, req->name, req->name_len);
    size_t len = strlen(path);
    struct cell_watch *cw = hf__alloc_zero(c->env->alloc, sizeof *cw + len + 1);
    if (!cw) {
        hf__sql_refuse(job, HF_NOMEM, "watch: out of memory");
        return;
    }
    memcpy(cw->path, path, len + 1);
    cw->w = job->watch;
    cw->job = job;
    cw->next = c->cells.watches;
    c->cells.watches = cw;
    arm(c, cw);
}

void hf__zookeeper_watch_end(struct backend_conn *c, struct sql_job *job)
{
    struct cell_watch **at = &c->cells.watches;
    while (*at)
        if ((*at)->w == job->watch)
            watch_drop(c, at);
        else
            at = &(*at)->next;
    hf__sql_answer_done(job, hf__zookeeper_clock_us(c));
}

/* ---- events, and the link ---- */

int hf__zookeeper_cells_event(struct backend_conn *c, const char *path,
                              size_t len)
{
    size_t root = strlen(c->root), node = strlen(CELLS_NODE);
    if (len < root + node || memcmp(path, c->root, root) != 0
        || memcmp(path + root, CELLS_NODE, node) != 0)
        return 0;
    for (struct cell_watch *cw = c->cells.watches; cw; cw = cw->next)
        if (!cw->is_arming && strlen(cw->path) == len
            && !memcmp(cw->path, path, len))
            arm(c, cw);
    return 1;
}

/* Watches that were not answered yet fail with their jobs. */
void hf__zookeeper_watches_cut(struct backend_conn *c)
{
    struct cell_watch **at = &c->cells.watches;
    while (*at) {
        if ((*at)->job) {
            watch_drop(c, at);
            continue;
        }
        (*at)->is_arming = 0;
        (*at)->is_missed = 1;
        at = &(*at)->next;
    }
}

void hf__zookeeper_watches_up(struct backend_conn *c)
{
    for (struct cell_watch *cw = c->cells.watches; cw; cw = cw->next)
        arm(c, cw);
}
