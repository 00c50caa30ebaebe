/*
 * session.c: what the server is told of a session, and its end.  One rule: the
 * server waits longer for a silent client than its longest lease lasts.
 */
#include "backend/postgres/session.h"

#include <stdio.h>

#define SQL_MAX 256
#define KEEPALIVE_S_MAX 32767 /* what Linux takes */

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
    return horizon_say(l, SESSION_HORIZON_S_MIN);
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
