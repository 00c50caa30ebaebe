/*
 * watch.c: LISTEN, NOTIFY, and the mark that says that somebody waits.
 *
 * NOTIFY is dear: it takes a lock that all notifying transactions of the server
 * share.  So a change is only told if the row has a mark (waits_us) that is
 * younger than SQL_WAITS_LAPSE_US.  One rule: a waiter listens first, then
 * marks the row, then looks; and it looks again if its mark had lapsed.
 */
#include "backend/postgres/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/postgres/error.h"
#include "backend/postgres/job.h"
#include "backend/postgres/params.h"
#include "backend/postgres/session.h"
#include "backend/postgres/statement.h"
#include "base/math.h"

#define SQL_MAX 64
#define LOOK_AGAIN 1 /* sql_watch.news: wake its waiters behind the next mark */
#define MARK_PAUSE_US US_PER_S /* between two marks of one name */

void hf__postgres_watch_channel(const char *name, size_t name_len,
                                char out[CHANNEL_MAX])
{
    snprintf(out, CHANNEL_MAX, "hf_%016" PRIx64, hash64(name, name_len));
}

/* ---- what is said ---- */

static size_t hex_write(char *to, const char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        *to++ = digits[(unsigned char)bytes[i] >> 4];
        *to++ = digits[(unsigned char)bytes[i] & 15];
    }
    *to = '\0';
    return len * 2;
}

/* Bytes read, 0 if the text is no name. */
static size_t hex_read(const char *from, size_t digits, char out[NAME_LEN_MAX])
{
    if (digits % 2 || digits > NAME_LEN_MAX * 2) return 0;
    for (size_t i = 0; i < digits; i += 2) {
        unsigned byte;
        if (sscanf(from + i, "%2x", &byte) != 1) return 0;
        out[i / 2] = (char)byte;
    }
    return digits / 2;
}

void hf__postgres_watch_name(const char *name, size_t name_len,
                             char out[PAYLOAD_MAX])
{
    hex_write(out, name, name_len);
}

void hf__postgres_watch_payload(const struct sql_job *job,
                                char out[PAYLOAD_MAX])
{
    const struct cell_plain *p = &job->next.plain;
    size_t len = hex_write(out, job->req->name, job->req->name_len);
    if (job->tell != SQL_TELL_HANDOFF || !p->owner[0]) return;
    snprintf(out + len, PAYLOAD_MAX - len,
             " %s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
             p->owner, p->attempt, p->ballot, p->fence, p->since_us,
             p->ends_us);
}

static int plain_parse(const char *text, struct cell_plain *p)
{
    *p = (struct cell_plain){.holds = 1, .flags = CELL_MARKED};
    return sscanf(text,
                  " %63s %" SCNu64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                  " %" SCNd64,
                  p->owner, &p->attempt, &p->ballot, &p->fence, &p->since_us,
                  &p->ends_us)
           == 6;
}

static void notification_tell(struct backend_conn *c, const char *said)
{
    char name[NAME_LEN_MAX];
    struct cell_plain plain;
    size_t digits = strcspn(said, " ");
    size_t len = hex_read(said, digits, name);
    struct sql_watch *w =
        len > 0 ? hf__sql_watch_find(c->core, name, len) : NULL;
    if (!w) return;
    if (said[digits] && plain_parse(said + digits, &plain))
        hf__sql_watch_news(c->core, w, &plain, plain.since_us);
    else
        hf__sql_watch_wake(c->core, w);
}

int hf__postgres_watch_notified(struct backend_conn *c)
{
    unsigned life = c->link.life;
    int done = 0;
    PGnotify *n;
    while (c->link.life == life && (n = PQnotifies(c->link.pg)) != NULL) {
        notification_tell(c, n->extra);
        PQfreemem(n);
        done = 1;
    }
    return done;
}

/* ---- listening ---- */

/* "LISTEN" or "UNLISTEN", for a job or for none. */
static int listen_say(struct backend_conn *c, const char *verb,
                      const char *name, size_t name_len, struct sql_job *job)
{
    char sql[SQL_MAX], channel[CHANNEL_MAX];
    hf__postgres_watch_channel(name, name_len, channel);
    snprintf(sql, sizeof sql, "%s %s", verb, channel);
    if (hf__postgres_flight_say(&c->link, sql) == 0
        && hf__postgres_flight_add(&c->link, job ? FLIGHT_JOB : FLIGHT_LISTEN,
                                   &job, job ? 1 : 0))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "watch: not sent");
    return -1;
}

/* The name, as the statement that marks it takes it. */
static void mark_params(const struct backend_conn *c, struct params *p,
                        const char *name, size_t name_len,
                        char key[KEY_TEXT_MAX])
{
    p->len = 0;
    if (c->session)
        hf__session_name_put(p, name, name_len, key);
    else
        hf__postgres_params_bytes(p, name, name_len);
}

static int mark_of(const struct backend_conn *c)
{
    return c->session ? STATEMENT_SESSION_WATCH : STATEMENT_MARK;
}

/* For a waiter that is to look again then. */
static int mark_say(struct backend_conn *c, const char *name, size_t name_len)
{
    struct params p;
    char key[KEY_TEXT_MAX];
    mark_params(c, &p, name, name_len, key);
    if (hf__postgres_flight_send(&c->link, mark_of(c), &p) == 0
        && hf__postgres_flight_add_named(&c->link, FLIGHT_MARK, name, name_len))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "watch: not sent");
    return -1;
}

static int unmark_say(struct backend_conn *c, const struct request *req)
{
    struct params p;
    char key[KEY_TEXT_MAX];
    mark_params(c, &p, req->name, req->name_len, key);
    if (hf__postgres_flight_send(&c->link, STATEMENT_SESSION_UNWATCH, &p) == 0
        && hf__postgres_flight_add(&c->link, FLIGHT_GREET, NULL, 0))
        return 0;
    hf__postgres_link_fail(&c->link, HF_UNAVAILABLE, "watch: not sent");
    return -1;
}

int hf__postgres_watch_send(struct backend_conn *c, struct sql_job *job)
{
    struct params p;
    char key[KEY_TEXT_MAX];
    const struct request *req = job->req;
    if (job->step == SQL_UNWATCH && c->session && unmark_say(c, req) != 0)
        return -1;
    /* Two names of one channel, which will not be met, would poll then. */
    if (job->step == SQL_UNWATCH)
        return listen_say(c, "UNLISTEN", req->name, req->name_len, job);
    if (listen_say(c, "LISTEN", req->name, req->name_len, NULL) != 0) return -1;
    mark_params(c, &p, req->name, req->name_len, key);
    return hf__postgres_job_send(c, job, mark_of(c), &p);
}

void hf__postgres_watch_up(struct backend_conn *c)
{
    for (struct sql_watch *w = hf__sql_watch_first(c->core); w; w = w->next) {
        if (!w->kinds) continue;
        w->news = LOOK_AGAIN;
        if (listen_say(c, "LISTEN", w->name, w->name_len, NULL) != 0) return;
        if (mark_say(c, w->name, w->name_len) != 0) return;
    }
}

/* ---- marks ---- */

int hf__postgres_watch_seen(struct backend_conn *c, const struct request *req,
                            int64_t waits_us, int64_t clock_us)
{
    int64_t now_us = c->env->now(c->env);
    if (clock_us - waits_us < SQL_WAITS_RENEW_US) return 0;
    struct sql_watch *w = hf__sql_watch_find(c->core, req->name, req->name_len);
    if (!w || !w->kinds || !w->is_on || now_us < w->due_us) return 0;
    w->due_us = now_us + MARK_PAUSE_US;
    /* It may have missed something. */
    if (clock_us - waits_us >= SQL_WAITS_LAPSE_US) w->news = LOOK_AGAIN;
    return mark_say(c, w->name, w->name_len);
}

void hf__postgres_watch_answer(struct backend_conn *c, const struct flight *f,
                               int is_error)
{
    char text[HF_ERROR_TEXT_MAX], line[HF_ERROR_TEXT_MAX * 2];
    if (is_error) {
        hf__postgres_error(f->result, text);
        snprintf(line, sizeof line, "%s: watch: %s; waiting polls instead",
                 c->server.endpoint, text);
        c->env->log(c->env, HF_LOG_WARN, line);
        return;
    }
    struct sql_watch *w =
        f->kind == FLIGHT_MARK
            ? hf__sql_watch_find(c->core, f->name, f->name_len)
            : NULL;
    if (!w || !w->kinds || w->news != LOOK_AGAIN) return;
    w->news = 0;
    hf__sql_watch_wake(c->core, w);
}
