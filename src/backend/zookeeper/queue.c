/*
 * queue.c: looking at a queue.  Two rules.  A place is the first only by a list
 * that has its own node in it: a list that was read too early, or at a server
 * that lags behind, shows too many nodes before it, and never too few.  And
 * every other node with a lower number is before it, also that of another
 * program.
 */
#include "backend/zookeeper/queue.h"

#include <string.h>

#include "backend/zookeeper/job.h"
#include "backend/zookeeper/zookeeper.h"

/* ---- reading ------------------------------------------------------------ */

static void node_read(struct queue_view *v, const char *node, size_t len,
                      const char *prefix, int64_t own_seq)
{
    int64_t seq;
    size_t prefix_len = prefix ? strlen(prefix) : 0;
    v->len++;
    if (hf__zookeeper_name_seq(node, len, &seq) != 0) {
        v->strange = node;
        v->strange_len = len;
        return;
    }
    if (!v->first || seq < v->first_seq) {
        v->first = node;
        v->first_len = len;
        v->first_seq = seq;
    }
    if (prefix && len > prefix_len && !memcmp(node, prefix, prefix_len)) {
        v->has_own = 1;
        v->own = node;
        v->own_len = len;
        return;
    }
    if (seq > own_seq) return;
    v->lower++;
    if (v->before && seq < v->before_seq) return;
    v->before = node;
    v->before_len = len;
    v->before_seq = seq;
}

void hf__zookeeper_queue_read(struct jute_in *in, const char *prefix,
                              int64_t seq, struct queue_view *out)
{
    struct jute_stat stat;
    int32_t n = hf__zookeeper_in_int(in);
    *out = (struct queue_view){.len = 0};
    for (int32_t i = 0; i < n && !in->is_bad; i++) {
        size_t len;
        const char *node = hf__zookeeper_in_text(in, &len);
        if (node && len > 0) node_read(out, node, len, prefix, seq);
    }
    hf__zookeeper_in_stat(in, &stat);
    out->pzxid = stat.pzxid;
    out->is_bad = in->is_bad;
}

/* ---- waiting ------------------------------------------------------------ */

static void before_watched(struct backend_conn *c, const struct call *call,
                           struct answer *a)
{
    struct place *p = call->place;
    if (p->is_dropped || p->state != PLACE_WAITING) return;
    if (a->err == ZK_NO_NODE)
        hf__zookeeper_queue_look(c, p); /* it has just gone */
    else if (a->err != ZK_OK)
        hf__zookeeper_place_fail(c, p, a->err);
    else if (p->job)
        hf__zookeeper_place_busy(c, p);
}

static void wait_behind(struct backend_conn *c, struct place *p,
                        const struct queue_view *v)
{
    char *before = hf__alloc(c->env->alloc, v->before_len + 1);
    size_t at = strlen(p->parent);
    if (!before) {
        c->is_starved = 1;
        return;
    }
    memcpy(before, v->before, v->before_len);
    before[v->before_len] = '\0';
    hf__free(c->env->alloc, p->before);
    p->before = before;
    p->state = PLACE_WAITING;
    if (at + v->before_len + 2 > sizeof c->path) {
        hf__zookeeper_place_leave(c, p);
        return;
    }
    memcpy(c->path, p->parent, at);
    c->path[at] = '/';
    memcpy(c->path + at + 1, before, v->before_len + 1);
    hf__zookeeper_read(c, ZK_GET_DATA, c->path, 1, before_watched, NULL, p);
}

/* ---- what the list says ------------------------------------------------- */

static void strange(struct backend_conn *c, struct place *p,
                    const struct queue_view *v)
{
    struct job *job = p->job;
    p->job = NULL;
    hf__zookeeper_refuse(c, job, HF_CONFLICT,
                         "propose: the node %.*s under %.60s is of no queue: "
                         "another program uses the name",
                         (int)(v->strange_len < 60 ? v->strange_len : 60),
                         v->strange, p->parent);
    if (p->node[0] || p->state == PLACE_MAKING || p->state == PLACE_DOUBT)
        hf__zookeeper_place_leave(c, p);
    else
        hf__zookeeper_place_drop(c, p);
}

static void new_listed(struct backend_conn *c, struct place *p,
                       const struct queue_view *v)
{
    if (p->leaves) {
        hf__zookeeper_place_lost(c, p);
        return;
    }
    if (v->len == 0) {
        hf__zookeeper_place_create(c, p, v->is_missing);
        return;
    }
    struct job *job = p->job;
    hf__zookeeper_place_drop(c, p);
    hf__zookeeper_tell(c, job, V_BUSY);
}

static void made_listed(struct backend_conn *c, struct place *p,
                        const struct queue_view *v)
{
    if (!v->has_own)
        hf__zookeeper_place_lost(c, p);
    else if (!v->before)
        hf__zookeeper_place_first(c, p);
    else if (p->queues)
        wait_behind(c, p, v);
    else
        hf__zookeeper_place_leave(c, p); /* a try, and others were faster */
}

/* The node that was found by its name: is it of this session? */
static void found(struct backend_conn *c, const struct call *call,
                  struct answer *a)
{
    struct place *p = call->place;
    struct jute_stat stat = {0};
    size_t len;
    if (p->is_dropped) return;
    if (a->err == ZK_OK) {
        (void)hf__zookeeper_in_text(&a->body, &len);
        hf__zookeeper_in_stat(&a->body, &stat);
    }
    if (a->err != ZK_OK && a->err != ZK_NO_NODE) {
        hf__zookeeper_place_fail(c, p, a->err);
        return;
    }
    if (a->err != ZK_OK || a->body.is_bad || stat.owner != c->session.id) {
        hf__zookeeper_place_lost(c, p);
        return;
    }
    p->czxid = stat.czxid;
    p->state = PLACE_MADE;
    if (p->leaves)
        hf__zookeeper_place_leave(c, p);
    else
        hf__zookeeper_queue_look(c, p);
}

/* The link was lost while the node was made.  What was not made by now will
 * never be: the session is at this link, and takes nothing from an older. */
static void doubt_listed(struct backend_conn *c, struct place *p,
                         const struct queue_view *v)
{
    if (!v->has_own && p->job && !p->leaves) {
        p->state = PLACE_NEW;
        hf__zookeeper_place_create(c, p, v->is_missing);
        return;
    }
    if (!v->has_own || v->own_len >= sizeof p->node) {
        hf__zookeeper_place_lost(c, p);
        return;
    }
    memcpy(p->node, v->own, v->own_len);
    p->node[v->own_len] = '\0';
    if (hf__zookeeper_name_seq(p->node, v->own_len, &p->seq) != 0) p->seq = -1;
    p->is_watched = 1;
    hf__zookeeper_read(c, ZK_GET_DATA, hf__zookeeper_place_path(c, p), 1, found,
                       NULL, p);
}

static void listed(struct backend_conn *c, const struct call *call,
                   struct answer *a)
{
    struct place *p = call->place;
    struct queue_view v = {.len = 0};
    if (p->is_dropped) return;
    p->is_looking = 0;
    if (p->state == PLACE_MAKING || p->state == PLACE_LEAVING) return;
    if (p->look_again) {
        p->look_again = 0;
        hf__zookeeper_queue_look(c, p);
        return;
    }
    if (a->err == ZK_OK)
        hf__zookeeper_queue_read(&a->body, p->prefix,
                                 p->node[0] ? p->seq : INT64_MAX, &v);
    v.is_missing = a->err == ZK_NO_NODE;
    if (v.is_bad || (a->err != ZK_OK && a->err != ZK_NO_NODE)) {
        if (v.is_bad)
            hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "a strange answer");
        else
            hf__zookeeper_place_fail(c, p, a->err);
        return;
    }
    if (v.strange && p->state != PLACE_DOUBT)
        strange(c, p, &v);
    else if (p->state == PLACE_NEW)
        new_listed(c, p, &v);
    else if (p->state == PLACE_DOUBT)
        doubt_listed(c, p, &v);
    else
        made_listed(c, p, &v);
}

void hf__zookeeper_queue_look(struct backend_conn *c, struct place *p)
{
    if (p->is_looking && p->state != PLACE_MAKING) {
        p->look_again = 1;
        return;
    }
    p->is_looking = 1;
    hf__zookeeper_read(c, ZK_GET_CHILDREN, p->parent, 0, listed, NULL, p);
}
