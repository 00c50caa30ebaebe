/*
 * session.c: the session, and what is sure of it.
 *
 * Only the leader ends sessions.  It counts from what it last heard of one: by
 * what its own clients send, and from followers by a list that comes with each
 * ping, every half tick, which is a quarter of the shortest session at most.  A
 * follower that is cut off answers reads long after the session has ended; so
 * nothing is proved but by a write, which needs a quorum and a session that the
 * leader still has.
 *
 *      a        b        b + T/4   w                        a + T
 *      |--------|--- told to the leader |                        |
 *      sent     answered               write sent, carried out  may end
 *
 * One rule: when a write that was sent at w was carried out, the leader has
 * heard of every call of this link that was answered by w - T/4, for what a
 * follower tells goes the way of the write, and before it; and of the
 * attachment at once.  The session is sure from when the latest of these was
 * sent, for its time-out, and not from w.
 */
#include "backend/zookeeper/session.h"

#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/zookeeper.h"
#include "base/math.h"

#define TOLD_PART 4  /* of the time-out, until the leader has heard */
#define MARK_PART 20 /* between two marks */
#define BEAT_PART 10 /* between two heartbeats */
#define LEASE_PART 2 /* the longest lease */
#define FRESH_PART 8 /* of a lease, how old its proof may be: */
#define FRESH_US_MAX (500 * US_PER_MS)
#define CLOCKS_PPM DRIFT_PPM_DEFAULT
#define HOME "/.holdfast"

/* ---- what is sure ------------------------------------------------------- */

void hf__zookeeper_session_mark(struct backend_conn *c, int64_t sent_us)
{
    struct session *s = &c->session;
    int64_t now = c->env->now(c->env);
    int n = s->marks_len;
    if (n > 0 && now - s->marks[n - 1].answered_us < s->us / MARK_PART) return;
    if (n == SESSION_MARKS) {
        memmove(s->marks, s->marks + 1, sizeof s->marks - sizeof *s->marks);
        n--;
    }
    s->marks[n] = (struct session_mark){.sent_us = sent_us, .answered_us = now};
    s->marks_len = n + 1;
}

void hf__zookeeper_session_proved(struct backend_conn *c, int64_t sent_us)
{
    struct session *s = &c->session;
    int64_t heard_us = s->attached_us;
    for (int i = 0; i < s->marks_len; i++)
        if (s->marks[i].answered_us <= sent_us - s->us / TOLD_PART)
            heard_us = max64(heard_us, s->marks[i].sent_us);
    s->proof_us = max64(s->proof_us, heard_us);
    s->answered_us = max64(s->answered_us, sent_us);
}

int64_t hf__zookeeper_session_sure_us(const struct backend_conn *c)
{
    const struct session *s = &c->session;
    if (!s->id || !s->proof_us) return 0;
    return s->proof_us + s->us - part64(s->us, CLOCKS_PPM);
}

int64_t hf__zookeeper_session_lease_us(const struct backend_conn *c)
{
    return c->session.us / LEASE_PART / US_PER_MS * US_PER_MS;
}

int hf__zookeeper_session_carries(const struct backend_conn *c,
                                  const struct job *job)
{
    const struct request *req = job->req;
    int64_t fresh_us = min64(req->lease_us / FRESH_PART, FRESH_US_MAX);
    return req->sent_us + req->lease_us <= hf__zookeeper_session_sure_us(c)
           && c->session.answered_us >= req->sent_us - fresh_us;
}

/* ---- heartbeats --------------------------------------------------------- */

const char *hf__zookeeper_session_path(struct backend_conn *c)
{
    snprintf(c->path, sizeof c->path, "%s" HOME "/%016llx", c->root,
             (unsigned long long)c->session.id);
    return c->path;
}

static void beat_send(struct backend_conn *c);

/* Another client has deleted the node. */
static void made_anew(struct backend_conn *c, const struct call *call,
                      struct answer *a)
{
    c->session.is_beating = 0;
    if (a->err != ZK_OK) { /* a new link makes the parent, too */
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "heartbeat: error %d of the server", a->err);
        return;
    }
    hf__zookeeper_session_proved(c, call->sent_us);
    hf__zookeeper_jobs_prove(c);
}

/* A write to the heartbeat's node was carried out. */
static void proved_at(struct backend_conn *c, const struct call *call,
                      struct answer *a)
{
    struct jute_stat stat;
    hf__zookeeper_in_stat(&a->body, &stat);
    if (!a->body.is_bad)
        hf__zookeeper_clock_read(c, call->sent_us, stat.mtime_ms);
    hf__zookeeper_session_proved(c, call->sent_us);
}

static void beaten(struct backend_conn *c, const struct call *call,
                   struct answer *a)
{
    struct session *s = &c->session;
    s->is_beating = 0;
    if (a->err == ZK_NO_NODE) {
        s->is_beating = 1;
        hf__zookeeper_create(c, ZK_CREATE, hf__zookeeper_session_path(c), "",
                             ZK_EPHEMERAL, made_anew, NULL, NULL);
        return;
    }
    if (a->err != ZK_OK) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "heartbeat: error %d of the server", a->err);
        return;
    }
    proved_at(c, call, a);
    hf__zookeeper_jobs_prove(c);
}

static void beat_send(struct backend_conn *c)
{
    struct session *s = &c->session;
    int64_t now = c->env->now(c->env);
    if (s->is_beating || c->link.state != LINK_UP) return;
    s->is_beating = 1;
    s->beat_us = now;
    s->beat_due_us = now + s->us / BEAT_PART;
    hf__zookeeper_set(c, hf__zookeeper_session_path(c), "", beaten, NULL, NULL);
}

/* A heartbeat that was sent after the request must be enough; if not, too
 * little was sent on this link lately, and attaching again is. */
void hf__zookeeper_session_prove(struct backend_conn *c, struct job *job)
{
    struct session *s = &c->session;
    job->next_waiting = c->proving;
    c->proving = job;
    if (!s->is_beating && s->answered_us >= job->req->sent_us
        && s->answered_us > s->attached_us)
        s->beat_due_us = 0; /* hf__zookeeper_session_timer() attaches */
    else
        beat_send(c);
}

int64_t hf__zookeeper_session_due_us(const struct backend_conn *c)
{
    const struct session *s = &c->session;
    int64_t due = c->link.state == LINK_UP ? s->beat_due_us : TIME_NEVER;
    if (c->calls.first && c->link.state >= LINK_GREETING) {
        int64_t limit = min64(s->us / TOLD_PART, c->env->conf->timeout_us);
        due = min64(due, c->calls.first->sent_us + limit);
    }
    return due;
}

/* Is there a job that a heartbeat sent after it did not prove? */
static int is_stale(const struct backend_conn *c)
{
    const struct session *s = &c->session;
    for (const struct job *job = c->proving; job; job = job->next_waiting)
        if (s->answered_us >= job->req->sent_us
            && !hf__zookeeper_session_carries(c, job))
            return 1;
    return 0;
}

static int is_silent(const struct backend_conn *c, int64_t now)
{
    int64_t limit = min64(c->session.us / TOLD_PART, c->env->conf->timeout_us);
    return c->calls.first && c->link.state >= LINK_GREETING
           && now >= c->calls.first->sent_us + limit;
}

int hf__zookeeper_session_timer(struct backend_conn *c, int64_t now)
{
    unsigned life = c->link.life;
    if (now < hf__zookeeper_session_due_us(c)) return 0;
    /* Answers may have arrived, and not been read. */
    (void)hf__zookeeper_link_ready(c, AWAIT_READ);
    if (c->link.life != life || now < hf__zookeeper_session_due_us(c)) return 1;
    if (is_silent(c, now)) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "no answer in time; the connection was given "
                                "up");
    } else if (is_stale(c)) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "the session was silent for too long: it is "
                                "attached again");
        c->link.due_us = now;
    } else if (c->places.held > 0 || c->proving) {
        beat_send(c);
        if (c->session.is_beating)
            c->session.beat_due_us = now + c->session.us / BEAT_PART;
    } else {
        c->session.beat_due_us = now + c->session.us / BEAT_PART;
        hf__zookeeper_ping(c);
    }
    return 1;
}

/* ---- attaching ---------------------------------------------------------- */

/* Has its time been over for long enough that the server has ended it, or has
 * forgotten everything?  Asking for it again would be in vain for ever. */
static int is_over(const struct backend_conn *c)
{
    const struct session *s = &c->session;
    return c->env->now(c->env)
           > max64(s->proof_us, s->heard_us) + s->us + s->us / TOLD_PART;
}

static void session_end(struct backend_conn *c)
{
    struct session *s = &c->session;
    if (!s->id) return;
    s->id = s->zxid = s->proof_us = 0;
    s->is_other = 1;
    hf__wipe(s->password, sizeof s->password);
    s->password_len = 0;
    hf__zookeeper_places_end(c);
}

int hf__zookeeper_session_ask(struct backend_conn *c)
{
    static const char none[16];
    struct session *s = &c->session;
    struct jute_out *o = &c->link.out;
    if (s->id && is_over(c)) session_end(c);
    s->marks_len = 0;
    s->is_beating = 0;
    s->beat_us = s->answered_us = 0;
    s->attached_us = c->env->now(c->env);
    hf__zookeeper_out_begin(o);
    hf__zookeeper_out_int(o, 0); /* version of the protocol */
    hf__zookeeper_out_long(o, s->zxid);
    hf__zookeeper_out_int(o, (int32_t)(s->asked_us / US_PER_MS));
    hf__zookeeper_out_long(o, s->id);
    hf__zookeeper_out_bytes(o, s->id ? s->password : none,
                            s->id ? s->password_len : sizeof none);
    hf__zookeeper_out_bool(o, 0); /* a server that only reads will not do */
    return hf__zookeeper_out_end(o);
}

/* ---- the greeting ------------------------------------------------------- */

static void refused(struct backend_conn *c, int32_t err, const char *what)
{
    const char *why;
    int status = hf__zookeeper_error(err, &why);
    hf__zookeeper_link_fail(c, status, "%s: %s", what, why);
}

static void authenticated(struct backend_conn *c, const struct call *call,
                          struct answer *a)
{
    (void)call;
    if (a->err != ZK_OK) refused(c, a->err, "login");
}

static void root_seen(struct backend_conn *c, const struct call *call,
                      struct answer *a)
{
    (void)call;
    if (a->err == ZK_NO_NODE)
        hf__zookeeper_link_fail(c, HF_INVALID,
                                "the node %.100s is missing: make it, or open "
                                "the URL once with chroot=create",
                                c->root);
    else if (a->err != ZK_OK)
        refused(c, a->err, c->root);
}

static void made(struct backend_conn *c, const struct call *call,
                 struct answer *a)
{
    (void)call;
    if (a->err != ZK_OK && a->err != ZK_NODE_EXISTS) refused(c, a->err, "open");
}

/* The heartbeat's node is there, and is changed: that tells the time. */
static void greeted(struct backend_conn *c, const struct call *call,
                    struct answer *a)
{
    if (a->err != ZK_OK) {
        refused(c, a->err, "open");
        return;
    }
    proved_at(c, call, a);
    c->session.beat_due_us = call->sent_us + c->session.us / BEAT_PART;
    hf__zookeeper_link_is_up(c);
}

static void node_make(struct backend_conn *c, const char *path)
{
    hf__zookeeper_create(c, ZK_CREATE, path, "", ZK_PERSISTENT, made, NULL,
                         NULL);
}

static void root_make(struct backend_conn *c)
{
    char path[ZOOKEEPER_PATH_MAX];
    for (size_t i = 1; c->root[0] && i <= strlen(c->root); i++) {
        if (c->root[i] != '/' && c->root[i] != '\0') continue;
        snprintf(path, sizeof path, "%.*s", (int)i, c->root);
        node_make(c, path);
    }
}

static void greet(struct backend_conn *c)
{
    char path[ZOOKEEPER_PATH_MAX];
    c->link.state = LINK_GREETING;
    if (c->user) hf__zookeeper_auth(c, authenticated);
    if (c->creates)
        root_make(c);
    else if (c->root[0])
        hf__zookeeper_read(c, ZK_EXISTS, c->root, 0, root_seen, NULL, NULL);
    snprintf(path, sizeof path, "%s" HOME, c->root);
    node_make(c, path);
    snprintf(path, sizeof path, "%s" CELLS_NODE, c->root);
    node_make(c, path);
    hf__zookeeper_create(c, ZK_CREATE, hf__zookeeper_session_path(c), "",
                         ZK_EPHEMERAL, made, NULL, NULL);
    hf__zookeeper_set(c, hf__zookeeper_session_path(c), "", greeted, NULL,
                      NULL);
}

int hf__zookeeper_session_answer(struct backend_conn *c, struct jute_in in)
{
    struct session *s = &c->session;
    size_t len;
    (void)hf__zookeeper_in_int(&in); /* version of the protocol */
    int64_t ms = hf__zookeeper_in_int(&in);
    int64_t id = hf__zookeeper_in_long(&in);
    const char *password = hf__zookeeper_in_text(&in, &len);
    if (in.is_bad || len > sizeof s->password) return -1;
    if (id == 0 || ms <= 0) {
        int had_one = s->id != 0;
        session_end(c);
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "the session has ended");
        if (had_one) c->link.due_us = c->env->now(c->env);
        return 0;
    }
    if (s->id && s->id != id) session_end(c);
    if (s->id && ms * US_PER_MS < s->us) { /* sooner than holders count on */
        session_end(c);
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE,
                                "this server ends sessions sooner: give all "
                                "servers the same bounds");
        return 0;
    }
    s->id = id;
    s->heard_us = s->attached_us;
    s->us = ms * US_PER_MS;
    if (len > 0) memcpy(s->password, password, len);
    s->password_len = len;
    greet(c);
    return 0;
}
