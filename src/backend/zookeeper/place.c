/*
 * place.c: an attempt at a lock, from its first request to its node's end.
 *
 *   NEW -> MAKING -> MADE <-> WAITING
 *    |       |  \      \        |
 *    |       |   DOUBT  \     FIRST
 *    v       v     |     v      |
 *   (gone) LEAVING <-----+------+
 *
 * Two rules.  A place is told as granted only while it is the first of the
 * queue and the session is sure for the whole lease.  And a node that was made,
 * or may have been, is forgotten only when the server says that it is gone, or
 * when the session is.
 */
#include "backend/zookeeper/place.h"

#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/queue.h"
#include "backend/zookeeper/zookeeper.h"
#include "base/math.h"

#define TRIES_MAX 3

/* ---- what is told ------------------------------------------------------- */

static int64_t now_us(const struct backend_conn *c)
{
    return c->env->now(c->env);
}

static struct job *job_take(struct job **at)
{
    struct job *job = *at;
    *at = NULL;
    return job;
}

void hf__zookeeper_place_busy(struct backend_conn *c, struct place *p)
{
    hf__zookeeper_tell(c, job_take(&p->job), V_BUSY);
}

/* A wait goes on by asking again; the place, if there is one, is kept. */
static void granted(struct backend_conn *c, struct place *p, struct job *job)
{
    const struct request *req = job->req;
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = hf__zookeeper_clock_us(c),
                        .fence = p->czxid,
                        .ttl_us = -1,
                        .waiters = -1};
    int64_t ends_us = now_us(c) + req->lease_us;
    if (req->verb == VERB_RENEW) rep.ttl_us = max64(p->ends_us - now_us(c), 0);
    if (!p->ends_us) {
        c->places.held++;
        p->since_ms = rep.node_us / US_PER_MS;
    }
    p->ends_us = ends_us;
    p->count = req->count;
    c->places.ends_us = min64(c->places.ends_us, ends_us);
    hf__zookeeper_reply(c, job, &rep);
}

void hf__zookeeper_place_proved(struct backend_conn *c, struct job *job)
{
    struct place *p = hf__zookeeper_place_find(c, job->req);
    if (!p || p->leaves || p->state != PLACE_FIRST)
        hf__zookeeper_tell(c, job, V_ABSENT);
    else
        granted(c, p, job);
}

static void prove(struct backend_conn *c, struct job *job)
{
    if (hf__zookeeper_session_carries(c, job))
        hf__zookeeper_place_proved(c, job);
    else
        hf__zookeeper_session_prove(c, job);
}

/* It is the first of its queue. */
void hf__zookeeper_place_first(struct backend_conn *c, struct place *p)
{
    struct handoff h = {.name = p->name,
                        .name_len = p->name_len,
                        .kind = KIND_PLAIN,
                        .owner = p->owner,
                        .attempt = p->attempt,
                        .ballot = p->ballot,
                        .fence = p->czxid};
    p->state = PLACE_FIRST;
    hf__free(c->env->alloc, p->before);
    p->before = NULL;
    if (p->job)
        prove(c, job_take(&p->job));
    else if (!p->ends_us)
        c->env->handed(c->env, &h); /* whose owner asks for its lease now */
}

/* The node is gone, and it was not deleted by us. */
void hf__zookeeper_place_lost(struct backend_conn *c, struct place *p)
{
    struct job *job = job_take(&p->job), *leaver = job_take(&p->leaver);
    char name[NAME_LEN_MAX + 1];
    size_t len = p->name_len;
    int waits = !p->ends_us && !job && !leaver;
    memcpy(name, p->name, len);
    if (p->ends_us) c->places.is_lost = 1;
    hf__zookeeper_place_drop(c, p);
    hf__zookeeper_tell(c, job, V_ABSENT);
    hf__zookeeper_tell(c, leaver, V_ABSENT);
    if (waits) c->env->wake(c->env, name, len);
}

void hf__zookeeper_places_tell(struct backend_conn *c)
{
    if (!c->places.is_lost) return;
    c->places.is_lost = 0;
    if (c->link.state == LINK_UP)
        c->env->link(c->env, LINK_IS_OTHER, hf__zookeeper_clock_us(c), NULL);
}

/* ---- making the node ---------------------------------------------------- */

static void create_send(struct backend_conn *c, struct place *p,
                        int with_parent);

void hf__zookeeper_place_fail(struct backend_conn *c, struct place *p,
                              int32_t err)
{
    hf__zookeeper_refuse_error(c, job_take(&p->job), err);
    if (p->node[0]) {
        hf__zookeeper_place_leave(c, p);
        return;
    }
    struct job *leaver = job_take(&p->leaver);
    if (p->state == PLACE_DOUBT) { /* its node may be there: asked again */
        hf__zookeeper_refuse_error(c, leaver, err);
        return;
    }
    hf__zookeeper_place_drop(c, p);
    hf__zookeeper_tell(c, leaver, V_ABSENT);
}

static void parent_made(struct backend_conn *c, const struct call *call,
                        struct answer *a)
{
    struct place *p = call->place;
    (void)c;
    if (p->is_dropped || a->err == ZK_OK || a->err == ZK_NODE_EXISTS) return;
    p->err = a->err; /* created() tells it, if that failed, too */
}

/* The numbers of the lock's node are used up.  It is made anew as soon as
 * nobody is in its queue: a node with children cannot be deleted. */
static void numbers_end(struct backend_conn *c, struct place *p)
{
    hf__zookeeper_refuse(c, job_take(&p->job), HF_UNAVAILABLE,
                         "propose: the sequence numbers of %.100s are used up: "
                         "it is made anew when its queue is empty",
                         p->parent);
    hf__zookeeper_place_leave(c, p);
    hf__zookeeper_delete(c, p->parent, NULL, NULL, NULL);
}

static void name_take(struct place *p, const char *path, size_t len)
{
    size_t at = len;
    while (at > 0 && path[at - 1] != '/') at--;
    snprintf(p->node, sizeof p->node, "%.*s", (int)(len - at), path + at);
    if (hf__zookeeper_name_seq(p->node, strlen(p->node), &p->seq) != 0)
        p->seq = -1;
}

static void created(struct backend_conn *c, const struct call *call,
                    struct answer *a)
{
    struct place *p = call->place;
    struct jute_stat stat;
    size_t len;
    if (p->is_dropped) return;
    if (a->err == ZK_NO_NODE && p->leaves) {
        hf__zookeeper_place_lost(c, p); /* nothing was made */
        return;
    }
    if (a->err == ZK_NO_NODE && !p->err && p->tries++ < TRIES_MAX) {
        create_send(c, p, 1);
        return;
    }
    if (a->err != ZK_OK) {
        hf__zookeeper_place_fail(c, p, p->err ? p->err : a->err);
        return;
    }
    const char *path = hf__zookeeper_in_text(&a->body, &len);
    hf__zookeeper_in_stat(&a->body, &stat);
    if (a->body.is_bad || !path) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "create: a strange answer");
        return;
    }
    hf__zookeeper_session_proved(c, call->sent_us);
    name_take(p, path, len);
    p->czxid = stat.czxid;
    p->state = PLACE_MADE;
    if (p->leaves)
        hf__zookeeper_place_leave(c, p);
    else if (p->seq < 0 || p->seq >= NODE_SEQ_END || p->czxid > BALLOT_MAX)
        numbers_end(c, p);
}

/* What others see of it: lent until the next call. */
static const char *data_of(struct backend_conn *c, const struct place *p,
                           int32_t count)
{
    snprintf(c->text, sizeof c->text, "holdfast %s %d %s", p->owner, count,
             p->info);
    return c->text;
}

/* Create the node and look at the queue, in one write, also where the lock's
 * node is to be made first: the first to ask is then the first.  The look is of
 * use only if the node could be made. */
static void create_send(struct backend_conn *c, struct place *p,
                        int with_parent)
{
    char data[HF_ERROR_TEXT_MAX];
    if (!p->job) { /* nobody asks any more */
        hf__zookeeper_place_lost(c, p);
        return;
    }
    p->state = PLACE_MAKING;
    p->job->may_have_changed = 1;
    if (with_parent)
        hf__zookeeper_create(c, ZK_CREATE_CONTAINER, p->parent, "",
                             ZK_CONTAINER, parent_made, NULL, p);
    snprintf(data, sizeof data, "%s", data_of(c, p, 1));
    snprintf(c->path, sizeof c->path, "%s/%s", p->parent, p->prefix);
    hf__zookeeper_create(c, ZK_CREATE_2, c->path, data, ZK_EPHEMERAL_SEQUENTIAL,
                         created, NULL, p);
    hf__zookeeper_cell_bars(c, p);
    hf__zookeeper_queue_look(c, p);
}

void hf__zookeeper_place_create(struct backend_conn *c, struct place *p,
                                int with_parent)
{
    create_send(c, p, with_parent);
}

/* ---- requests ----------------------------------------------------------- */

static int is_too_long(struct backend_conn *c, struct job *job)
{
    int64_t most_us = hf__zookeeper_session_lease_us(c);
    struct reply rep = {.verdict = V_UNSENT,
                        .status = HF_UNAVAILABLE,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = c->text};
    if (job->req->lease_us <= most_us) return 0;
    snprintf(c->text, sizeof c->text,
             "%.120s: the longest lease is %lld ms, half of the session's "
             "time-out: ask for less, or for a longer session=",
             c->endpoint, (long long)(most_us / US_PER_MS));
    /* A proposal that asks for no lease of its own comes again with less. */
    if (job->req->verb != VERB_PROPOSE) {
        rep.verdict = V_ERROR;
        rep.status = HF_INVALID;
        job->req->flags |= REQ_SPOKEN;
    }
    hf__zookeeper_reply(c, job, &rep);
    return 1;
}

static void place_new(struct backend_conn *c, struct job *job)
{
    const struct request *req = job->req;
    struct place *p = hf__zookeeper_place_make(c, req);
    if (!p) {
        hf__zookeeper_refuse(c, job, HF_NOMEM, "propose: out of memory");
        return;
    }
    p->job = job;
    p->ballot = req->ballot;
    p->queues = (req->flags & REQ_QUEUE) != 0;
    if (p->queues)
        create_send(c, p, 0);
    else
        hf__zookeeper_queue_look(c, p);
}

void hf__zookeeper_place_propose(struct backend_conn *c, struct job *job)
{
    struct place *p = hf__zookeeper_place_find(c, job->req);
    if (is_too_long(c, job)) return;
    if (!p) {
        place_new(c, job);
        return;
    }
    if (p->leaves) {
        hf__zookeeper_tell(c, job, V_STALE);
        return;
    }
    hf__zookeeper_tell(c, job_take(&p->job), V_BUSY); /* an older round's */
    p->ballot = job->req->ballot;
    p->job = job;
    if (p->state == PLACE_FIRST)
        prove(c, job_take(&p->job));
    else if (p->state == PLACE_WAITING && !p->is_looking)
        hf__zookeeper_place_busy(c, p);
}

/* It has no place any more: has another client the lock? */
static void gone_listed(struct backend_conn *c, const struct call *call,
                        struct answer *a)
{
    struct queue_view v = {.len = 0};
    if (a->err == ZK_OK)
        hf__zookeeper_queue_read(&a->body, NULL, INT64_MAX, &v);
    hf__zookeeper_tell(c, call->job, v.len > 0 ? V_OTHER : V_ABSENT);
}

static void gone_look(struct backend_conn *c, struct job *job)
{
    const struct request *req = job->req;
    hf__zookeeper_read(c, ZK_GET_CHILDREN,
                       hf__zookeeper_path(c, req->name, req->name_len), 0,
                       gone_listed, job, NULL);
}

/* The first renewal sets a watch on the node, which tells of its end. */
static void watched(struct backend_conn *c, const struct call *call,
                    struct answer *a)
{
    struct place *p = call->place;
    struct job *job = call->job;
    if (!p->is_dropped && a->err == ZK_NO_NODE)
        hf__zookeeper_place_lost(c, p);
    else if (!p->is_dropped && a->err != ZK_OK)
        p->is_watched = 0; /* no right to read it: it is found out by nobody */
    if (job) prove(c, job);
}

void hf__zookeeper_place_watch(struct backend_conn *c, struct place *p,
                               struct job *job)
{
    p->is_watched = 1;
    hf__zookeeper_read(c, ZK_GET_DATA, hf__zookeeper_place_path(c, p), 1,
                       watched, job, p);
}

/* Entered again, or left once: others see that by the node. */
static void counted(struct backend_conn *c, const struct call *call,
                    struct answer *a)
{
    struct place *p = call->place;
    if (!p->is_dropped && a->err == ZK_NO_NODE)
        hf__zookeeper_place_lost(c, p);
    else if (a->err == ZK_OK)
        hf__zookeeper_session_proved(c, call->sent_us);
    prove(c, call->job);
}

static void count_send(struct backend_conn *c, struct place *p, struct job *job)
{
    job->may_have_changed = 1;
    p->count = job->req->count;
    hf__zookeeper_set(c, hf__zookeeper_place_path(c, p),
                      data_of(c, p, p->count), counted, job, p);
}

void hf__zookeeper_place_renew(struct backend_conn *c, struct job *job)
{
    const struct request *req = job->req;
    struct place *p = hf__zookeeper_place_find(c, req);
    if (!p)
        gone_look(c, job);
    else if (p->leaves || p->state != PLACE_FIRST || !p->ends_us
             || p->ends_us <= now_us(c)) /* it is just being given back */
        hf__zookeeper_tell(c, job, V_ABSENT);
    else if (req->fence && req->fence != p->czxid)
        hf__zookeeper_tell(c, job, V_OTHER);
    else if (is_too_long(c, job))
        return;
    else if (req->count != p->count)
        count_send(c, p, job);
    else if (!p->is_watched)
        hf__zookeeper_place_watch(c, p, job);
    else
        prove(c, job);
}

static void left(struct backend_conn *c, const struct call *call,
                 struct answer *a)
{
    struct place *p = call->place;
    if (p->is_dropped) return;
    struct job *leaver = job_take(&p->leaver), *job = job_take(&p->job);
    int is_gone = a->err == ZK_OK || a->err == ZK_NO_NODE;
    if (is_gone)
        hf__zookeeper_place_drop(c, p);
    else
        p->state = PLACE_MADE; /* the next RELEASE or link tries again */
    hf__zookeeper_tell(c, job, V_BUSY); /* a try that was not the first */
    if (is_gone)
        hf__zookeeper_tell(c, leaver, a->err == ZK_OK ? V_GRANTED : V_ABSENT);
    else
        hf__zookeeper_refuse_error(c, leaver, a->err);
}

void hf__zookeeper_place_leave(struct backend_conn *c, struct place *p)
{
    p->leaves = 1;
    if (p->state == PLACE_LEAVING || c->link.state != LINK_UP) return;
    if (!p->node[0]) return; /* created() or found() goes on */
    p->state = PLACE_LEAVING;
    if (p->leaver) p->leaver->may_have_changed = 1;
    hf__zookeeper_delete(c, hf__zookeeper_place_path(c, p), left, NULL, p);
}

void hf__zookeeper_place_release(struct backend_conn *c, struct job *job)
{
    struct place *p = hf__zookeeper_place_find(c, job->req);
    if (!p) {
        gone_look(c, job);
        return;
    }
    hf__zookeeper_tell(c, job_take(&p->leaver), V_UNKNOWN);
    hf__zookeeper_tell(c, job_take(&p->job), V_ABSENT);
    p->leaver = job;
    job->may_have_changed = 1;
    hf__zookeeper_place_leave(c, p);
}

/* ---- time, and the link ------------------------------------------------- */

int64_t hf__zookeeper_places_due_us(const struct backend_conn *c)
{
    return c->places.ends_us;
}

int hf__zookeeper_places_expire(struct backend_conn *c, int64_t now)
{
    size_t bucket = 0;
    if (now < c->places.ends_us) return 0;
    c->places.ends_us = TIME_NEVER;
    struct place *p = hf__zookeeper_places_next(c, &bucket, NULL), *next;
    for (; p; p = next) {
        next = hf__zookeeper_places_next(c, &bucket, p->next);
        if (!p->ends_us || p->leaves) continue;
        if (p->ends_us > now)
            c->places.ends_us = min64(c->places.ends_us, p->ends_us);
        else
            hf__zookeeper_place_leave(c, p);
    }
    return 1;
}

void hf__zookeeper_places_doubt(struct backend_conn *c)
{
    size_t bucket = 0;
    struct place *p = hf__zookeeper_places_next(c, &bucket, NULL), *next;
    for (; p; p = next) {
        next = hf__zookeeper_places_next(c, &bucket, p->next);
        p->job = p->leaver = NULL; /* which fail with the link */
        p->is_looking = p->look_again = p->is_watched = 0;
        if (p->state == PLACE_MAKING) p->state = PLACE_DOUBT;
        if (p->state == PLACE_NEW) hf__zookeeper_place_drop(c, p);
    }
}

void hf__zookeeper_places_look(struct backend_conn *c)
{
    size_t bucket = 0;
    struct place *p = hf__zookeeper_places_next(c, &bucket, NULL), *next;
    for (; p; p = next) {
        next = hf__zookeeper_places_next(c, &bucket, p->next);
        if (p->node[0] && p->leaves) {
            p->state = PLACE_MADE;
            hf__zookeeper_place_leave(c, p);
        } else if (p->state == PLACE_FIRST) {
            hf__zookeeper_place_watch(c, p, NULL);
        } else {
            /* The line may have ended between the answers about the node and
             * about the cell. */
            if (p->state == PLACE_DOUBT || p->state == PLACE_MADE)
                hf__zookeeper_cell_bars(c, p);
            hf__zookeeper_queue_look(c, p);
        }
    }
}

/* Every node is gone, or will be without us. */
void hf__zookeeper_places_end(struct backend_conn *c)
{
    size_t bucket = 0;
    struct place *p = hf__zookeeper_places_next(c, &bucket, NULL), *next;
    for (; p; p = next) {
        next = hf__zookeeper_places_next(c, &bucket, p->next);
        hf__zookeeper_place_lost(c, p);
    }
    c->places.ends_us = TIME_NEVER;
    if (!c->places.is_lost) return;
    c->places.is_lost = 0;
    c->env->link(c->env, LINK_IS_OTHER, hf__zookeeper_clock_us(c), NULL);
    c->env->link(c->env, LINK_IS_DOWN, 0, &c->link.err);
}

/* What the server says may have any bytes. */
static int is_text(const char *text, const char *bytes, size_t len)
{
    return strlen(text) == len && memcmp(text, bytes, len) == 0;
}

void hf__zookeeper_place_event(struct backend_conn *c, int32_t type,
                               const char *path, size_t len)
{
    size_t at = len;
    while (at > 0 && path[at - 1] != '/') at--;
    if (at == 0 || at == len) return;
    const char *node = path + at;
    size_t node_len = len - at, parent_len = at - 1;
    struct place *p = hf__zookeeper_places_of(c, path, parent_len), *next;
    for (; p; p = next) {
        next = p->next;
        if (!is_text(p->parent, path, parent_len)) continue;
        if (p->before && is_text(p->before, node, node_len))
            hf__zookeeper_queue_look(c, p);
        if (!is_text(p->node, node, node_len)) continue;
        p->is_watched = 0;
        if (p->state == PLACE_LEAVING) continue;
        if (type == ZK_NODE_DELETED)
            hf__zookeeper_place_lost(c, p);
        else
            hf__zookeeper_place_watch(c, p, NULL);
    }
}
