/*
 * watch.c: the server tells nobody, so the rows of watched names are looked at,
 * all by one statement: soon after there was news, and less and less often
 * while there is none.  A waiter marks its row every few seconds (waits_us), so
 * that a release tells whether others may wait.  One rule: `news` of the row
 * decides; it is read before a watch is answered.
 */
#include "backend/mysql/watch.h"

#include "backend/mysql/session.h"
#include "backend/mysql/statement.h"
#include "base/math.h"

#define MARKS_MAX 16 /* in one packet */
#define LOOK_US_MIN US_PER_MS
#define LOOK_US_MAX (32 * US_PER_MS) /* below GRACE_LOOK_US_MAX */
/* A session is told no news: a look has to meet the moment in which a lock
 * is free, and that is as short as others leave it (GRACE_LOOK_US_MIN). */
#define SESSION_LOOK_US_MAX (2 * US_PER_MS)

void hf__mysql_watch_soon(struct backend_conn *c)
{
    c->look_pause_us = LOOK_US_MIN;
    c->look_us = c->env->now(c->env) + LOOK_US_MIN;
}

void hf__mysql_watch_begun(struct backend_conn *c, struct sql_job *job,
                           const struct fields *f)
{
    job->watch->news = hf__mysql_row_number(f, COLUMN_NEWS);
    job->watch->due_us = c->env->now(c->env) + SQL_WAITS_RENEW_US;
    hf__mysql_watch_soon(c);
    hf__sql_answer_done(job, hf__mysql_row_number(f, COLUMN_CLOCK));
}

int hf__mysql_watch_is_due(const struct backend_conn *c, int64_t now_us)
{
    return c->look_us <= now_us;
}

static void marks_pack(struct backend_conn *c)
{
    struct link *l = &c->link;
    int64_t now_us = c->env->now(c->env);
    struct sql_watch *w = hf__sql_watch_first(c->core);
    for (; w && l->packet.len < MARKS_MAX; w = w->next) {
        if (!w->is_on || !w->kinds || now_us < w->due_us) continue;
        w->due_us = now_us + SQL_WAITS_RENEW_US;
        hf__mysql_packet_add(l, ITEM_MARK, 1, NULL);
        (void)hf__mysql_write_mark(&l->packet.text, w);
    }
}

void hf__mysql_watch_pack(struct backend_conn *c)
{
    struct link *l = &c->link;
    c->look_us = TIME_NEVER; /* until it is answered */
    if (!c->session) marks_pack(c);
    if (!hf__sql_watch_first(c->core) || !hf__mysql_packet_has_room(l)) return;
    size_t len = l->packet.text.len;
    hf__mysql_packet_add(l, ITEM_LOOK, 1, NULL);
    if ((c->session ? hf__mysql_session_write_look
                    : hf__mysql_write_look)(&l->packet.text, c->core)
        > 0)
        return;
    l->packet.len--;
    l->packet.text.len = len;
}

/* Returns whether it is news. */
static int row_compare(struct backend_conn *c, const struct fields *f)
{
    struct sql_row row;
    if (hf__mysql_row_read(f, &row) != 0 || !row.is_there) return 0;
    struct sql_watch *w = hf__sql_watch_find(c->core, row.name, row.name_len);
    if (!w || !w->is_on || !w->kinds || w->news == row.news) return 0;
    w->news = row.news;
    hf__sql_watch_news(c->core, w, &row.plain,
                       hf__mysql_row_number(f, COLUMN_CLOCK));
    return 1;
}

void hf__mysql_watch_looked(struct backend_conn *c, MYSQL_RES *result)
{
    struct fields f;
    unsigned life = c->link.life;
    int is_news = 0;
    if (c->session) is_news = hf__mysql_session_looked(c, result);
    while (!c->session && c->link.life == life
           && hf__mysql_row_next(result, &f))
        is_news |= row_compare(c, &f);
    if (c->link.life != life || !hf__sql_watch_first(c->core)) return;
    if (is_news) {
        hf__mysql_watch_soon(c);
        return;
    }
    int64_t most_us = c->session ? SESSION_LOOK_US_MAX : LOOK_US_MAX;
    c->look_pause_us = min64(c->look_pause_us * 2, most_us);
    c->look_us = c->env->now(c->env) + c->look_pause_us;
}

void hf__mysql_watch_up(struct backend_conn *c)
{
    if (!hf__sql_watch_first(c->core)) return;
    hf__mysql_watch_soon(c);
    hf__sql_watch_wake_all(c->core);
}
