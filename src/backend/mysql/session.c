/*
 * session.c: see session.h.  Two rules: each answer tells by which connection
 * of the server it was given, and one of another connection is the end of the
 * link; and a statement that fails is, too, for the statements behind it were
 * not carried out, and the rows say that they were.
 */
#include "backend/mysql/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/mysql/statement.h"
#include "backend/mysql/watch.h"
#include "base/math.h"

#define PLAIN_MAX 60           /* characters of a name that is its own key */
#define HORIZON_S_MAX 31536000 /* what the server takes: a year */
#define HORIZON_MORE_S 30
#define FACTS_MAX 256

/* Columns of an answer. */
enum { SESSION_ID, SESSION_DONE, SESSION_HOST };

/* ---- names ---- */

static int is_plain(const char *name, size_t len)
{
    if (len > PLAIN_MAX || (len >= 3 && !memcmp(name, "hf:", 3))) return 0;
    for (size_t i = 0; i < len; i++)
        if (name[i] <= ' ' || name[i] > '~') return 0;
    return 1;
}

void hf__mysql_session_key(const char *name, size_t len,
                           char out[LOCK_NAME_MAX])
{
    if (is_plain(name, len)) {
        memcpy(out, name, len);
        out[len] = '\0';
        return;
    }
    /* Two names of one key would only exclude each other. */
    snprintf(out, LOCK_NAME_MAX, "hf:%016" PRIx64 "%016" PRIx64,
             hash64(name, len), hash64(name + 1, len - 1));
}

static void add(struct text *t, const char *words)
{
    hf__mysql_text_add(t, words);
}

/* `before`, and the key of a name. */
static void add_key(struct text *t, const char *before, const char *name,
                    size_t len)
{
    char key[LOCK_NAME_MAX];
    hf__mysql_session_key(name, len, key);
    hf__mysql_text_add(t, before);
    hf__mysql_text_string(t, key);
}

/* ---- the link ---- */

/* A lease that is longer than the server waits for a silent client. */
static void horizon_pack(struct backend_conn *c, int64_t lease_us)
{
    struct session *s = c->session;
    int64_t seconds = max64(lease_us / US_PER_S + 1, SESSION_HORIZON_S_MIN);
    seconds = min64(seconds, HORIZON_S_MAX - HORIZON_MORE_S);
    if (seconds <= s->horizon_s) return;
    s->horizon_s = (int)seconds;
    hf__mysql_packet_add(&c->link, ITEM_GREET, 1, NULL);
    add(&c->link.packet.text, "SET SESSION wait_timeout=");
    hf__mysql_text_number(&c->link.packet.text, seconds + HORIZON_MORE_S);
}

void hf__mysql_session_greet(struct link *l)
{
    l->c->session->horizon_s = 0;
    hf__mysql_packet_add(l, ITEM_GREET_SESSION, 1, NULL);
    add(&l->packet.text, "SELECT CONNECTION_ID()");
}

void hf__mysql_session_more(struct link *l)
{
    horizon_pack(l->c, 0);
    hf__mysql_packet_add(l, ITEM_GREET_SESSION, 1, NULL);
    add(&l->packet.text, "SELECT CONNECTION_ID()");
}

int hf__mysql_session_check(struct link *l, const struct fields *f)
{
    unsigned long told = mysql_thread_id(l->wire.my);
    int64_t id = hf__mysql_row_number(f, SESSION_ID);
    /* The handshake has room for 32 bits of it. */
    if ((uint32_t)id == (uint32_t)told) return 0;
    hf__mysql_link_fail(l, HF_UNSUPPORTED,
                        "session=on: a proxy or a pooler answers there, which "
                        "may give each statement another connection: connect "
                        "to the server itself, or leave out session=on");
    return -1;
}

/* ---- out ---- */

static void item_pack(struct backend_conn *c, struct sql_job *job)
{
    hf__mysql_packet_add(&c->link, ITEM_JOB, 1, job);
    add(&c->link.packet.text, "SELECT CONNECTION_ID(),");
}

static void swap_pack(struct backend_conn *c, struct sql_job *job)
{
    struct text *t = &c->link.packet.text;
    const struct request *req = job->req;
    unsigned asked = hf__sql_session_swap(c->session, job);
    if (asked == 0) return;
    if (asked & (SESSION_TRIES | SESSION_PROVES))
        horizon_pack(c, req->lease_us);
    item_pack(c, job);
    if (asked & SESSION_TRIES) {
        add_key(t, "GET_LOCK(", req->name, req->name_len);
        add(t, ",0)");
    } else if (asked & SESSION_PROVES) {
        add_key(t, "IS_USED_LOCK(", req->name, req->name_len);
        add(t, ")=CONNECTION_ID()");
    } else {
        add_key(t, "RELEASE_LOCK(", req->name, req->name_len);
        add(t, ")");
    }
}

static void look_pack(struct backend_conn *c, struct sql_job *job)
{
    struct text *t = &c->link.packet.text;
    const struct request *req = job->req;
    item_pack(c, job);
    add_key(t, "IS_USED_LOCK(", req->name, req->name_len);
    add_key(t,
            "),(SELECT HOST FROM information_schema.PROCESSLIST WHERE ID="
            "IS_USED_LOCK(",
            req->name, req->name_len);
    add(t, "))");
}

static void job_pack(struct backend_conn *c, struct sql_job *job)
{
    switch (job->step) {
    case SQL_SWAP:
        swap_pack(c, job);
        break;
    case SQL_READ:
        if (hf__sql_session_is_foreign(c->session, job->req))
            look_pack(c, job);
        else
            hf__sql_session_read(c->session, job);
        break;
    case SQL_WATCH:
        hf__mysql_watch_soon(c);
        hf__sql_answer_done(job, hf__sql_session_now_us(c->session));
        break;
    case SQL_FACTS:
        item_pack(c, job);
        add(&c->link.packet.text, "VERSION(),DATABASE()");
        break;
    default:
        hf__sql_answer_done(job, 0);
        break;
    }
}

static void wake(struct backend_conn *c, const struct session_row *row)
{
    struct sql_watch *w = hf__sql_watch_find(c->core, row->name, row->name_len);
    if (w && w->kinds) hf__sql_watch_wake(c->core, w);
}

static void ended_pack(struct backend_conn *c)
{
    struct session_row *row;
    while (hf__mysql_packet_has_room(&c->link)
           && (row = hf__sql_session_expired(c->session)) != NULL) {
        hf__mysql_packet_add(&c->link, ITEM_GREET, 1, NULL);
        add_key(&c->link.packet.text, "SELECT RELEASE_LOCK(", row->name,
                row->name_len);
        add(&c->link.packet.text, ")");
        wake(c, row);
        hf__free(c->env->alloc, row);
    }
}

/* Room for a job is room for its horizon, too. */
static int has_room(const struct link *l)
{
    return l->packet.len + 1 < PACKET_ITEMS_MAX && hf__mysql_packet_has_room(l);
}

void hf__mysql_session_pack(struct backend_conn *c)
{
    ended_pack(c);
    c->session->is_sending = 1;
    while (c->queue.first && has_room(&c->link))
        job_pack(c, hf__sql_queue_take(&c->queue));
    c->session->is_sending = 0;
}

/* ---- in ---- */

static void facts_answer(struct backend_conn *c, struct sql_job *job,
                         const struct fields *f)
{
    const char *version = hf__mysql_row_text(f, 1);
    const char *database = hf__mysql_row_text(f, 2);
    char lines[FACTS_MAX];
    snprintf(lines, sizeof lines,
             "engine:mysql\nserver_version:%.60s\ndatabase:%.60s\n"
             "session:on\ngalera:off\n",
             version ? version : "", database ? database : "");
    hf__sql_answer_facts(job, lines, hf__sql_session_now_us(c->session));
}

static void look_answer(struct backend_conn *c, struct sql_job *job,
                        const struct fields *f)
{
    char holder[64], host[HF_HOST_MAX];
    const char *id = hf__mysql_row_text(f, SESSION_DONE);
    const char *from = hf__mysql_row_text(f, SESSION_HOST);
    snprintf(holder, sizeof holder, "server connection %.20s", id ? id : "");
    snprintf(host, sizeof host, "%s", from ? from : "");
    char *port = strrchr(host, ':');
    if (port) *port = '\0';
    hf__sql_session_looked(c->session, job, id ? holder : NULL, host,
                           "user lock", 0);
}

void hf__mysql_session_answer(struct backend_conn *c, struct sql_job *job,
                              MYSQL_RES *result)
{
    struct fields f;
    if (!hf__mysql_row_next(result, &f)) {
        hf__mysql_link_fail(&c->link, HF_INTERNAL, "an answer without a row");
        return;
    }
    if (hf__mysql_session_check(&c->link, &f) != 0) return;
    if (job->step == SQL_SWAP)
        hf__sql_session_swapped(c->session, job,
                                hf__mysql_row_number(&f, SESSION_DONE) == 1);
    else if (job->step == SQL_READ)
        look_answer(c, job, &f);
    else
        facts_answer(c, job, &f);
}

/* ---- waiting ---- */

unsigned hf__mysql_session_write_look(struct text *t,
                                      const struct sql_core *core)
{
    const char *before = "SELECT ";
    unsigned names = 0;
    const struct sql_watch *w = hf__sql_watch_first(core);
    for (; w; w = w->next) {
        if (!w->is_on || !w->kinds) continue;
        add(t, before);
        hf__mysql_text_bytes(t, w->name, w->name_len);
        add_key(t, ",IS_FREE_LOCK(", w->name, w->name_len);
        add(t, ")");
        before = " UNION ALL SELECT ";
        names++;
    }
    return names > 0 ? 1 : 0;
}

int hf__mysql_session_looked(struct backend_conn *c, MYSQL_RES *result)
{
    struct fields f;
    unsigned life = c->link.life;
    int is_news = 0;
    while (c->link.life == life && hf__mysql_row_next(result, &f)) {
        if (f.len < 2 || !f.at[0] || hf__mysql_row_number(&f, 1) != 1) continue;
        struct sql_watch *w =
            hf__sql_watch_find(c->core, f.at[0], f.lengths[0]);
        if (!w || !w->is_on || !w->kinds) continue;
        hf__sql_watch_wake(c->core, w);
        is_news = 1;
    }
    return is_news;
}

/* ---- the driver ---- */

static void session_start(struct backend_conn *c, struct sql_job *job)
{
    if (hf__sql_session_start(c->session, &c->queue, job,
                              c->link.state == LINK_UP))
        c->flush_wanted = 1;
}

const struct sql_driver hf__mysql_session_driver = {
    .engine = "mysql", .flags = SQL_NO_FENCE, .start = session_start};
