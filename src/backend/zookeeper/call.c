/*
 * call.c: calls out, answers in.  One rule: the server answers in the order in
 * which it was asked, and an answer that is out of turn ends the link.
 */
#include "backend/zookeeper/call.h"

#include <stdio.h>
#include <string.h>

#include "backend/zookeeper/zookeeper.h"

#define PERMS_ALL 31

/* ---- out ---------------------------------------------------------------- */

static int32_t xid_next(const struct backend_conn *c)
{
    return c->calls.xid == INT32_MAX ? 1 : c->calls.xid + 1;
}

struct jute_out *hf__zookeeper_call_begin(struct backend_conn *c, enum zk_op op)
{
    struct jute_out *o = &c->link.out;
    int32_t xid = op == ZK_PING   ? ZK_XID_PING
                  : op == ZK_AUTH ? ZK_XID_AUTH
                                  : xid_next(c);
    hf__zookeeper_out_begin(o);
    hf__zookeeper_out_int(o, xid);
    hf__zookeeper_out_int(o, (int32_t)op);
    return o;
}

static struct call *call_make(struct backend_conn *c)
{
    struct call *call = c->calls.spare;
    if (call)
        c->calls.spare = call->next;
    else
        call = hf__alloc(c->env->alloc, sizeof *call);
    return call;
}

static void call_add(struct backend_conn *c, const struct call *like)
{
    struct call *call = call_make(c);
    if (!call || hf__zookeeper_out_end(&c->link.out) != 0) {
        c->is_starved = 1;
        if (!call) c->link.out.len = c->link.out.frame;
        if (call) call->next = c->calls.spare, c->calls.spare = call;
        return;
    }
    *call = *like;
    call->next = NULL;
    call->sent_us = c->env->now(c->env);
    if (call->place) call->place->calls++;
    if (call->watch) call->watch->calls++;
    if (!c->calls.last) c->calls.last = &c->calls.first;
    *c->calls.last = call;
    c->calls.last = &call->next;
}

static int32_t xid_take(struct backend_conn *c)
{
    return c->calls.xid = xid_next(c);
}

void hf__zookeeper_call_end(struct backend_conn *c, answer_fn done,
                            struct job *job, struct place *place)
{
    call_add(c,
             &(struct call){
                 .xid = xid_take(c), .done = done, .job = job, .place = place});
}

void hf__zookeeper_call_end_for(struct backend_conn *c, answer_fn done,
                                struct sql_job *cell, struct cell_watch *watch)
{
    call_add(
        c, &(struct call){
               .xid = xid_take(c), .done = done, .cell = cell, .watch = watch});
}

/* A user that has logged in has all rights to the nodes, and no other has any;
 * without a login everybody has. */
void hf__zookeeper_acl_put(const struct backend_conn *c, struct jute_out *o)
{
    hf__zookeeper_out_int(o, 1);
    hf__zookeeper_out_int(o, PERMS_ALL);
    hf__zookeeper_out_text(o, c->user ? "auth" : "world");
    hf__zookeeper_out_text(o, c->user ? "" : "anyone");
}

void hf__zookeeper_create(struct backend_conn *c, enum zk_op op,
                          const char *path, const char *data, int flags,
                          answer_fn done, struct job *job, struct place *place)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, op);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_text(o, data);
    hf__zookeeper_acl_put(c, o);
    hf__zookeeper_out_int(o, flags);
    hf__zookeeper_call_end(c, done, job, place);
}

void hf__zookeeper_delete(struct backend_conn *c, const char *path,
                          answer_fn done, struct job *job, struct place *place)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, ZK_DELETE);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_int(o, -1); /* whatever its version */
    hf__zookeeper_call_end(c, done, job, place);
}

void hf__zookeeper_read(struct backend_conn *c, enum zk_op op, const char *path,
                        int watches, answer_fn done, struct job *job,
                        struct place *place)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, op);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_bool(o, watches);
    hf__zookeeper_call_end(c, done, job, place);
}

void hf__zookeeper_set(struct backend_conn *c, const char *path,
                       const char *data, answer_fn done, struct job *job,
                       struct place *place)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, ZK_SET_DATA);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_text(o, data);
    hf__zookeeper_out_int(o, -1);
    hf__zookeeper_call_end(c, done, job, place);
}

void hf__zookeeper_sync(struct backend_conn *c, const char *path,
                        answer_fn done, struct job *job)
{
    struct jute_out *o = hf__zookeeper_call_begin(c, ZK_SYNC);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_call_end(c, done, job, NULL);
}

void hf__zookeeper_auth(struct backend_conn *c, answer_fn done)
{
    char text[1024];
    struct jute_out *o = hf__zookeeper_call_begin(c, ZK_AUTH);
    snprintf(text, sizeof text, "%s:%s", c->user,
             c->password ? c->password : "");
    hf__zookeeper_out_int(o, 0);
    hf__zookeeper_out_text(o, "digest");
    hf__zookeeper_out_text(o, text);
    hf__wipe(text, sizeof text);
    call_add(c, &(struct call){.xid = ZK_XID_AUTH, .done = done});
}

void hf__zookeeper_ping(struct backend_conn *c)
{
    (void)hf__zookeeper_call_begin(c, ZK_PING);
    call_add(c, &(struct call){.xid = ZK_XID_PING});
}

void hf__zookeeper_close(struct backend_conn *c)
{
    (void)hf__zookeeper_call_begin(c, ZK_CLOSE);
    hf__zookeeper_call_end(c, NULL, NULL, NULL);
}

/* ---- in ----------------------------------------------------------------- */

static struct call *call_find(struct backend_conn *c, int32_t xid)
{
    struct call **at = &c->calls.first;
    /* Pings are answered out of turn. */
    if (xid == ZK_XID_PING)
        while (*at && (*at)->xid != xid) at = &(*at)->next;
    else
        while (*at && (*at)->xid == ZK_XID_PING) at = &(*at)->next;
    struct call *call = *at;
    if (!call || call->xid != xid) return NULL;
    *at = call->next;
    if (!*at) c->calls.last = at;
    return call;
}

static void call_give_back(struct backend_conn *c, struct call *call)
{
    call->next = c->calls.spare;
    c->calls.spare = call;
}

static int event_take(struct backend_conn *c, struct jute_in *in)
{
    size_t len;
    int32_t type = hf__zookeeper_in_int(in);
    (void)hf__zookeeper_in_int(in); /* the state of the session */
    const char *path = hf__zookeeper_in_text(in, &len);
    if (in->is_bad) return -1;
    if (path && !hf__zookeeper_cells_event(c, path, len))
        hf__zookeeper_place_event(c, type, path, len);
    return 0;
}

static void answer_take(struct backend_conn *c, const struct call *call,
                        struct answer *a)
{
    if (a->err == ZK_SESSION_EXPIRED || a->err == ZK_SESSION_MOVED)
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "the session %s",
                                a->err == ZK_SESSION_MOVED
                                    ? "is at another server now"
                                    : "has ended");
    else if (call->done)
        call->done(c, call, a);
}

int hf__zookeeper_frame_take(struct backend_conn *c, struct jute_in in)
{
    struct answer a;
    int32_t xid = hf__zookeeper_in_int(&in);
    int64_t zxid = hf__zookeeper_in_long(&in);
    a.err = hf__zookeeper_in_int(&in);
    if (in.is_bad) return -1;
    if (zxid > c->session.zxid) c->session.zxid = zxid;
    if (xid == ZK_XID_WATCH) return event_take(c, &in);
    struct call *call = call_find(c, xid), copy;
    if (!call) return -1;
    a.body = in;
    copy = *call;
    call_give_back(c, call);
    hf__zookeeper_session_mark(c, copy.sent_us);
    answer_take(c, &copy, &a);
    /* It stays until its call was answered. */
    if (copy.place) hf__zookeeper_place_unref(c, copy.place);
    if (copy.watch) hf__zookeeper_watch_unref(c, copy.watch);
    return 0;
}

void hf__zookeeper_calls_drop(struct backend_conn *c)
{
    struct call *call;
    while ((call = c->calls.first) != NULL) {
        c->calls.first = call->next;
        if (call->place) hf__zookeeper_place_unref(c, call->place);
        if (call->watch) hf__zookeeper_watch_unref(c, call->watch);
        call_give_back(c, call);
    }
    c->calls.last = &c->calls.first;
}

void hf__zookeeper_calls_free(struct backend_conn *c)
{
    struct call *call;
    hf__zookeeper_calls_drop(c);
    while ((call = c->calls.spare) != NULL) {
        c->calls.spare = call->next;
        hf__free(c->env->alloc, call);
    }
}

int hf__zookeeper_error(int32_t err, const char **text)
{
    switch (err) {
    case ZK_NO_NODE:
        *text = "a node is missing";
        return HF_CONFLICT;
    case ZK_NO_AUTH:
        *text = "the server does not permit it: the node has another ACL";
        return HF_DENIED;
    case ZK_NO_CHILDREN:
        *text = "an ephemeral node of that name is in the way";
        return HF_CONFLICT;
    case ZK_INVALID_ACL:
    case ZK_AUTH_FAILED:
        *text = "wrong user or password, or the server knows no digest";
        return HF_DENIED;
    case ZK_QUOTA:
        *text = "the quota of the node is used up";
        return HF_UNAVAILABLE;
    case ZK_THROTTLED:
        *text = "the server has too much to do";
        return HF_UNAVAILABLE;
    default:
        *text = "the server refuses it";
        return HF_UNAVAILABLE;
    }
}
