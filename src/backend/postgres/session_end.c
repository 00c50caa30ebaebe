/*
 * session_end.c: giving locks back.  One rule: a hold whose lease has ended is
 * given back by its own client; a server knows of no lease of a session.
 */
#include "backend/postgres/job.h"
#include "backend/postgres/key.h"
#include "backend/postgres/params.h"
#include "backend/postgres/session.h"
#include "backend/postgres/statement.h"
#include "backend/postgres/watch.h"

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

int hf__session_row_unlock(struct backend_conn *c,
                           const struct session_row *row)
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
    struct session_row *row;
    int done = 0, rc = 0;
    while (rc == 0 && c->session
           && (row = hf__sql_session_expired(c->session)) != NULL) {
        rc = hf__session_row_unlock(c, row);
        hf__free(c->env->alloc, row);
        done = 1;
    }
    return done;
}
