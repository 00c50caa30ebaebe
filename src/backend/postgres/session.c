/*
 * session.c: the rows of a session, and what the server is told of it.  One
 * rule: when the connection is lost, every row is.
 */
#include "backend/postgres/session.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "sys/clock.h"

#define SQL_MAX 256

/* The server must not end a silent connection before its holds have ended. */
#define HORIZON_S_MIN 60
#define KEEPALIVE_S_MAX 32767 /* what Linux takes */

/* ---- rows ---- */

struct session_row **hf__session_row(struct session *s, const char *name,
                                     size_t len)
{
    struct session_row **at = &s->rows[hash64(name, len) % SESSION_BUCKETS];
    while (*at && ((*at)->name_len != len || memcmp((*at)->name, name, len)))
        at = &(*at)->next;
    return at;
}

struct session_row *hf__session_row_make(struct backend_conn *c,
                                         const char *name, size_t len)
{
    struct session_row **at = hf__session_row(c->session, name, len);
    if (*at) return *at;
    struct session_row *row =
        hf__alloc_zero(c->env->alloc, sizeof *row + len + 1);
    if (!row) return NULL;
    row->name_len = len;
    memcpy(row->name, name, len);
    *at = row;
    return row;
}

/* A row that is free has nothing to tell: numbers are the connection's. */
void hf__session_row_drop(struct backend_conn *c, struct session_row **at)
{
    struct session_row *row = *at;
    *at = row->next;
    hf__free(c->env->alloc, row);
}

static void row_show(const struct session_row *row, struct sql_row *out)
{
    *out = (struct sql_row){.is_there = 0};
    if (!row) return;
    out->is_there = 1;
    out->version = row->version;
    out->plain = row->plain;
}

int64_t hf__session_now_us(const struct backend_conn *c)
{
    return hf__clock_us() + c->session->base_us;
}

void hf__session_row_answer(struct backend_conn *c, struct sql_job *job)
{
    struct sql_row row;
    const struct request *req = job->req;
    row_show(*hf__session_row(c->session, req->name, req->name_len), &row);
    hf__sql_answer_row(job, &row, hf__session_now_us(c), NULL);
}

/* ---- life ---- */

int hf__session_open(struct backend_conn *c)
{
    c->session = hf__alloc_zero(c->env->alloc, sizeof *c->session);
    if (!c->session) return -1;
    c->session->base_us = hf__clock_wall_us() - hf__clock_us();
    c->session->ends_us = TIME_NEVER;
    return 0;
}

int hf__session_forget(struct backend_conn *c)
{
    int held = 0;
    for (int i = 0; i < SESSION_BUCKETS; i++)
        for (struct session_row **at = &c->session->rows[i]; *at;) {
            held |= (*at)->is_locked;
            hf__session_row_drop(c, at);
        }
    c->session->ends_us = TIME_NEVER;
    return held;
}

void hf__session_free(struct backend_conn *c)
{
    if (!c->session) return;
    hf__session_forget(c);
    hf__free(c->env->alloc, c->session);
}

static int horizon_say(struct link *l, int seconds)
{
    char sql[SQL_MAX];
    int is_long = seconds > KEEPALIVE_S_MAX;
    snprintf(sql, sizeof sql,
             "SELECT set_config('tcp_keepalives_idle', '%d', false),"
             " set_config('tcp_keepalives_interval', '%d', false),"
             " set_config('tcp_keepalives_count', '3', false),"
             " set_config('tcp_user_timeout', '%ds', false)",
             is_long ? KEEPALIVE_S_MAX : seconds,
             is_long ? KEEPALIVE_S_MAX : 10, seconds + 30);
    l->c->session->horizon_s = seconds;
    return hf__postgres_flight_say(l, sql) == 0
                   && hf__postgres_flight_add(l, FLIGHT_GREET, NULL, 0)
               ? 0
               : -1;
}

int hf__session_greet(struct link *l)
{
    if (PQserverVersion(l->pg) >= 140000
        && (hf__postgres_flight_say(l, "SET idle_session_timeout = 0") != 0
            || !hf__postgres_flight_add(l, FLIGHT_GREET, NULL, 0)))
        return -1;
    return horizon_say(l, HORIZON_S_MIN);
}

/* A lease that is longer than the server waits for a silent client. */
int hf__session_horizon_reach(struct backend_conn *c, const struct request *req)
{
    int64_t seconds = req->lease_us / US_PER_S + 1;
    if (seconds <= c->session->horizon_s) return 0;
    if (horizon_say(&c->link, (int)seconds) == 0) return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "keep-alive: not sent");
    return -1;
}
