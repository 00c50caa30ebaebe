/*
 * session_end.c: giving locks back.  One rule: a hold whose lease has ended is
 * given back by its own client; a server knows of no lease of a session.
 */
#include <string.h>

#include "backend/postgres/job.h"
#include "backend/postgres/key.h"
#include "backend/postgres/params.h"
#include "backend/postgres/session.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"
#include "base/math.h"

void hf__session_name_put(struct params *p, const char *name, size_t len,
                          char key[KEY_TEXT_MAX])
{
    p->len = 0;
    hf__postgres_params_bytes(p, key, hf__postgres_key(name, len, key));
}

/* What a SESSION_UNLOCK is told; it borrows from here. */
struct unlock {
    struct params p;
    char key[KEY_TEXT_MAX], channel[CHANNEL_MAX], payload[PAYLOAD_MAX];
};

/* Waiters are told, if there are any, unless `is_hushed`. */
static void unlock_fill(struct unlock *u, const char *name, size_t len,
                        int is_hushed)
{
    hf__postgres_watch_channel(name, len, u->channel);
    hf__postgres_watch_name(name, len, u->payload);
    hf__session_name_put(&u->p, name, len, u->key);
    if (is_hushed)
        hf__postgres_params_null(&u->p);
    else
        hf__postgres_params_text(&u->p, u->channel);
    hf__postgres_params_text(&u->p, u->payload);
}

int hf__session_unlock_send(struct backend_conn *c, struct sql_job *job)
{
    struct unlock u;
    const struct request *req = job->req;
    unlock_fill(&u, req->name, req->name_len, (req->flags & REQ_HUSHED) != 0);
    return hf__postgres_job_send(c, job, STATEMENT_SESSION_UNLOCK, &u.p);
}

static void free_wake(struct backend_conn *c, const char *name, size_t len)
{
    struct sql_watch *w = hf__sql_watch_find(c->core, name, len);
    if (w && w->kinds) hf__sql_watch_wake(c->core, w);
}

int64_t hf__session_due_us(const struct backend_conn *c)
{
    const struct session *s = c->session;
    return s && s->ends_us != TIME_NEVER ? s->ends_us - s->base_us : TIME_NEVER;
}

static int row_expire(struct backend_conn *c, const struct session_row *row)
{
    struct unlock u;
    unlock_fill(&u, row->name, row->name_len, 0);
    if (hf__postgres_flight_send(&c->link, STATEMENT_SESSION_UNLOCK, &u.p) == 0
        && hf__postgres_flight_add(&c->link, FLIGHT_GREET, NULL, 0)) {
        free_wake(c, row->name, row->name_len);
        return 0;
    }
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "unlock: not sent");
    return -1;
}

int hf__session_expire(struct backend_conn *c)
{
    struct session *s = c->session;
    int64_t now_us = s ? hf__session_now_us(c) : 0;
    if (!s || now_us < s->ends_us) return 0;
    s->ends_us = TIME_NEVER;
    for (int i = 0; i < SESSION_BUCKETS; i++)
        for (struct session_row **at = &s->rows[i]; *at;) {
            if ((*at)->plain.ends_us > now_us) {
                s->ends_us = min64(s->ends_us, (*at)->plain.ends_us);
                at = &(*at)->next;
                continue;
            }
            if (row_expire(c, *at) != 0) return 1;
            hf__session_row_drop(c, at);
        }
    return 1;
}
