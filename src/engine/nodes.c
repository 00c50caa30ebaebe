/*
 * nodes.c: what the engine lends to its backends, and what comes back.
 *
 * The rule: every request is answered once; a release whose answer leaves room
 * for doubt is repeated until the lease it is about must have ended.
 */
#include "engine/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "core/mutation.h"
#include "engine/again.h"
#include "engine/clocks.h"
#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/guards.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/voter.h"
#include "engine/voter_text.h"
#include "engine/op.h"
#include "engine/recheck.h"
#include "engine/values.h"

#define CLOCK_STEP_US 50
#define TOLD_MAX 1000000

struct request *hf__request_new(struct engine *e)
{
    struct request *r = e->spare;
    if (r) {
        e->spare = r->next;
    } else {
        r = hf__alloc(e->alloc, sizeof *r);
        if (!r) return NULL;
        e->requests_len++;
    }
    memset(r, 0, sizeof *r);
    return r;
}

/* Have more requests than there are holds, so that every hold can be released
 * even without memory. */
int hf__request_reserve(struct engine *e)
{
    if (e->requests_len > e->seats_len) return 0;
    struct request *r = hf__alloc(e->alloc, sizeof *r);
    if (!r) return -1;
    e->requests_len++;
    hf__request_free(e, r);
    return 0;
}

void hf__request_free(struct engine *e, struct request *r)
{
    r->next = e->spare;
    e->spare = r;
}

/* Is its answer of use even if no operation waits for it? */
static int is_pressing(const struct request *r)
{
    return r->verb != VERB_PROPOSE && r->verb != VERB_RELEASE;
}

struct node *hf__node_next(struct engine *e, const struct node *n)
{
    struct node *host = e->host && e->host->is_open ? &e->host->node : NULL;
    if (n && n == host) return NULL;
    ptrdiff_t next = n ? n - e->nodes + 1 : 0; /* some may not be open */
    return next < e->conf.nodes ? &e->nodes[next] : host;
}

void hf__request_send(struct engine *e, struct node *n, struct request *r)
{
    r->node = (uint16_t)n->index;
    r->sent_us = e->sent_us = e->now_us;
    r->flags &= ~REQ_SPOKEN;
    r->next = NULL;
    e->inflight++;
    e->pressing += (size_t)is_pressing(r);
    n->releases += r->verb == VERB_RELEASE;
    n->dirty = 1;
    n->backend->submit(n->conn, r);
}

int hf__nodes_are_ready(const struct engine *e, const struct lock_entry *entry)
{
    if (entry->is_host) return e->host->node.clock_known;
    if (e->conf.nodes > 1) return hf__voters_are_decided(e);
    return e->nodes[0].clock_known;
}

/* Only operations and releases count, and only nodes that have ever answered:
 * no other answer is of use to a client that closes. */
enum owed hf__nodes_owe(const struct engine *e)
{
    int owing = 0, through = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        const struct node *n = &e->nodes[i];
        if (n->releases > 0 && n->clock_known)
            owing++;
        else
            through += n->up;
    }
    if (e->ops_len > 0) return OWED_BY_MOST;
    if (owing == 0) return OWED_NOTHING;
    return through >= e->conf.quorum ? OWED_BY_FEW : OWED_BY_MOST;
}

enum hf_link hf__node_link(const struct engine *e, const struct node *n)
{
    int is_alone = e->conf.nodes == 1;
    if (!n->up && !n->tried) return HF_LINK_CONNECTING;
    if (!n->up)
        return hf_status_advice(n->last_error.status) == HF_ADVICE_FIX
                   ? HF_LINK_REFUSED
                   : HF_LINK_DOWN;
    if (is_alone) return HF_LINK_UP;
    if (n->stand == STAND_REFUSED) return HF_LINK_REFUSED;
    if (hf__voter_is_ahead(e, n)) return HF_LINK_CLOCK;
    if (hf__voter_is_left_blank(e, n)) return HF_LINK_BLANK;
    if (n->stand == STAND_QUARANTINED) return HF_LINK_QUARANTINED;
    return n->stand == STAND_SETTLED ? HF_LINK_UP : HF_LINK_ASKING;
}

/* ---- what comes back ------------------------------------------------- */

/* Why it does not do what it is asked for. */
void hf__node_failed(struct node *n, int status, const char *text)
{
    hf__error_set(&n->last_error, status, "%s", text);
    n->last_error.node = n->index;
}

/* Does an operation or a step wait for the answer?  Otherwise it may have lain
 * unread for a while, and its delay says nothing of the node. */
static int is_waited_for(const struct request *r)
{
    const struct seat *s = r->user;
    if (r->user_kind != USER_SEAT) return 1;
    if (r->verb == VERB_RELEASE) return s->hold.state == HOLD_RELEASING;
    return s->hold.round_open && r->round == s->hold.round;
}

/* Never more than it is: a number ahead of the node's clock would be the token,
 * and a node that then forgets everything would give a lower one. */
static void offset_learn(const struct engine *e, struct node *n,
                         int64_t node_us)
{
    n->offset_us = node_us - hf__engine_heard_us(e);
    n->clock_known = 1;
}

static void learn(struct engine *e, struct node *n, const struct request *r,
                  const struct reply *rep)
{
    if (hf__is_member(n)) hf__clocks_heard(e, n, r, rep);
    if (rep->node_us) {
        offset_learn(e, n, rep->node_us);
    } else if (rep->fence && rep->fence == r->ballot) {
        /* The number was ahead of the node's clock, so the offset is too
         * large.  Lower it a little, so that the next answer tells the
         * clock. */
        n->offset_us -= CLOCK_STEP_US;
    }
    if (rep->text && rep->verdict >= V_ERROR) {
        /* A request that was not sent failed for the link's reason. */
        int sys_errno = rep->verdict == V_UNSENT ? n->last_error.sys_errno : 0;
        hf__node_failed(n, rep->status, rep->text);
        n->last_error.sys_errno = sys_errno;
    }
    if (rep->verdict > V_ERROR) return;
    struct hold_conf *conf = n->is_host ? &e->host->conf : &e->conf;
    if (!n->is_host) e->answered_us = e->now_us;
    if (!is_waited_for(r)) return;
    int64_t rtt = e->now_us - r->sent_us;
    if (rtt > conf->rtt_us)
        conf->rtt_us = rtt;
    else
        conf->rtt_us -= (conf->rtt_us - rtt) / 64;
}

static int is_to_be_repeated(const struct engine *e, const struct node *n,
                             const struct request *r, const struct reply *rep)
{
    if (!hf__release_is_open(rep) || e->closing) return 0;
    if (hf_status_advice(rep->status) == HF_ADVICE_FIX) return 0;
    if (e->now_us + AGAIN_US_MIN >= r->until_us) return 0;
    if (r->user_kind == USER_OP && hf__is_member(n)) return 0; /* others do */
    if (r->verb == VERB_RELEASE) return !MUTATED(RELEASE_ONCE);
    if (r->verb == VERB_INSPECT && r->user_kind == USER_SEAT) return 1;
    if (r->user_kind != USER_OP || rep->verdict == V_ERROR) return 0;
    return rep->verdict == V_UNSENT || r->verb == VERB_INSPECT
           || r->verb == VERB_LIST
           || r->verb
                  == VERB_TALLY /* the store knows it by owner and attempt */
           || r->verb == VERB_STOCK || hf__values_is_repeatable(r)
           || hf__guards_is_repeatable(r);
}

/* The status that the sentence of a reply explains. */
static int status_of(const struct reply *rep)
{
    if (rep->verdict == V_ABSENT) return HF_EXPIRED;
    return rep->verdict == V_OTHER ? HF_LOST : rep->status;
}

/* Note whether the node answers, whatever it says. */
static void op_hear(struct op *op, const struct request *r,
                    const struct reply *rep)
{
    uint32_t node = UINT32_C(1) << r->node;
    if (r->verb != VERB_PROPOSE && r->verb != VERB_INSPECT) return;
    if (rep->verdict <= V_OTHER || r->flags & REQ_SPOKEN)
        op->spoken |= node;
    else
        op->spoken &= ~node;
}

static void seat_answered(struct engine *e, struct seat *s,
                          const struct request *r, const struct reply *rep)
{
    struct hold_event ev = {.type = EV_REPLY};
    if (r->verb == VERB_INSPECT) {
        hf__recheck_answered(e, s, r, rep);
        return;
    }
    if (rep->verdict == V_BUSY) s->seen = rep->seen;
    if (rep->counter) hf__ballot_saw(&s->entry->ballot, rep->counter);
    if (rep->fence) {
        int64_t reserved = r->verb == VERB_PROPOSE ? r->block : 0;
        hf__ballot_saw(&s->entry->ballot, rep->fence + reserved);
    }
    int is_counted = rep->waiters >= 0 || !(r->flags & REQ_HUSHED);
    if (r->verb == VERB_RELEASE && rep->verdict == V_GRANTED && is_counted) {
        int is_heard = s->entry->watch == WATCH_ON && rep->waiters > 0;
        int64_t told = min64(rep->waiters - is_heard, TOLD_MAX);
        s->entry->told = (int32_t)told;
    }
    hf__seat_heard(e, s, r, rep);
    if (s->op) op_hear(s->op, r, rep);
    if (s->op && (rep->text || rep->verdict == V_BUSY))
        hf__error_set(&s->op->err, status_of(rep), "%s",
                      rep->text ? rep->text : "");
    if (s->op && rep->verdict == V_GRANTED && s->hold.conf->nodes == 1)
        s->op->grant.replicas = rep->replicas;
    ev.verb = r->verb;
    ev.round = r->round;
    ev.node = r->node;
    ev.reply = rep;
    ev.repeated = (r->flags & REQ_REPEATED) != 0;
    hf__seat_step(e, s, &ev);
}

static void env_reply(struct backend_env *env, struct request *r,
                      const struct reply *rep)
{
    struct node *n = (struct node *)env;
    struct engine *e = n->engine;
    assert(e->inflight > 0);
    e->inflight--;
    e->pressing -= (size_t)is_pressing(r);
    n->releases -= r->verb == VERB_RELEASE;
    learn(e, n, r, rep);
    if (is_to_be_repeated(e, n, r, rep)) {
        if (rep->verdict == V_UNKNOWN) r->flags |= REQ_REPEATED;
        hf__again_add(e, n, r);
        return;
    }
    hf__node_answer(e, n, r, rep);
}

/* Must the member be asked anew?  It has no marker any more; or it refuses what
 * it did before: it is loading its data, or was made a replica, and may have
 * lost locks when it answers again. */
static int is_changed(const struct request *r, const struct reply *rep)
{
    if (rep->verdict == V_UNSETTLED) return 1;
    return rep->verdict == V_ERROR && rep->status == HF_UNAVAILABLE
           && r->user_kind != USER_NODE;
}

void hf__node_answer(struct engine *e, struct node *n, struct request *r,
                     const struct reply *rep)
{
    if (hf__is_member(n) && is_changed(r, rep)) hf__voter_unsettle(e, n, 0);
    switch (r->user_kind) {
    case USER_OP:
        op_hear(r->user, r, rep);
        hf__direct_answered(e, r->user, r, rep);
        break;
    case USER_ENTRY:
        if (r->verb == VERB_WATCH) hf__watch_answer(e, r->user, r, rep);
        hf__entry_unref(e, r->user);
        break;
    case USER_NODE:
        hf__voter_answered(e, n, r, rep);
        break;
    default: {
        struct seat *s = r->user;
        seat_answered(e, s, r, rep);
        s->requests--;
        hf__seat_let_go(e, s);
        break;
    }
    }
    hf__request_free(e, r);
}

static void env_watch(struct backend_env *env, int fd, unsigned events)
{
    struct node *n = (struct node *)env;
    struct engine *e = n->engine;
    int i = 0;
    while (i < e->fds_len && e->fds[i].fd != fd) i++;
    if (i == e->fds_len && !events) return;
    if (i < e->fds_len && e->fds[i].events == events) return;
    e->fds_version++;
    if (!events) {
        e->fds[i] = e->fds[--e->fds_len];
    } else {
        assert(i < FDS_MAX);
        if (i == e->fds_len) e->fds_len++;
        e->fds[i].fd = fd;
        e->fds[i].events = events;
        e->fds[i].node = n;
    }
    if (e->fd_changed) e->fd_changed(e, fd, events);
}

static void env_timer(struct backend_env *env, int64_t due_us)
{
    ((struct node *)env)->timer_us = due_us;
}

static void env_wake(struct backend_env *env, const char *name, size_t name_len)
{
    const struct node *n = (struct node *)env;
    struct engine *e = n->engine;
    for (int kind = 0; kind < KINDS_LEN; kind++) {
        struct lock_entry *entry = hf__entry_find_at(
            e, n->is_host, (enum lock_kind)kind, name, name_len);
        if (entry) hf__watch_wake(e, entry);
    }
}

static void env_handed(struct backend_env *env, const struct handoff *h)
{
    const struct node *n = (struct node *)env;
    struct engine *e = n->engine;
    struct hold_event ev = {.type = EV_HANDED,
                            .attempt = h->attempt,
                            .number = h->ballot,
                            .fence = h->fence,
                            .lease_us = h->lease_us};
    char owner[OWNER_LEN_MAX];
    struct lock_entry *entry =
        hf__entry_find_at(e, n->is_host, h->kind, h->name, h->name_len);
    struct seat *s = entry ? entry->seats : NULL;
    for (; s; s = s->next) {
        hf__seat_owner(e, s, owner);
        if (strcmp(owner, h->owner) == 0) break;
    }
    if (s) hf__seat_step(e, s, &ev);
}

/* Fail operations that wait for the node's clock: there will be none. */
static void blind_fail(struct engine *e, const struct node *n, int status)
{
    for (struct op *op = e->all, *next; op; op = next) {
        next = op->all_next;
        if (op->seat && op->seat->hold.state == HOLD_IN_LINE
            && op->seat->in_line && op->seat->entry->is_host == n->is_host
            && !hf__nodes_are_ready(e, op->seat->entry)) {
            struct hold_event ev = {.type = EV_FAIL, .status = status};
            hf__seat_step(e, op->seat, &ev);
        }
    }
}

static void env_link(struct backend_env *env, int up, int64_t node_us,
                     const struct hf_error *err)
{
    struct node *n = (struct node *)env;
    struct engine *e = n->engine;
    if (!n->is_host) {
        e->stats.connects += up && !n->up;
        e->stats.disconnects += !up && n->up;
    }
    n->up = up != LINK_IS_DOWN;
    if (up || err) n->tried = 1;
    if (!up && err) {
        n->last_error = *err;
        n->last_error.node = n->index;
    }
    if (hf__is_member(n)) hf__voter_link(e, n, up);
    if (up) {
        offset_learn(e, n, node_us);
        hf__turn_pass_all(e);
        hf__again_send(e, n);
        if (up == LINK_IS_OTHER) hf__recheck_all(e);
        return;
    }
    if (!err) return;
    if (hf_status_advice(err->status) == HF_ADVICE_FIX && !hf__is_member(n))
        blind_fail(e, n, err->status);
}

/* The members of a quorum have their group's longest lease instead. */
static void env_bound(struct backend_env *env, int64_t lease_us)
{
    const struct node *n = (struct node *)env;
    if (!hf__is_member(n) && !n->is_host && !MUTATED(BOUND_IGNORED))
        n->engine->conf.lease_max_us = lease_us;
}

static int64_t env_now(struct backend_env *env)
{
    return ((struct node *)env)->engine->now_us;
}

static uint64_t env_random(struct backend_env *env)
{
    return hf__engine_random(((struct node *)env)->engine);
}

static void env_log(struct backend_env *env, int level, const char *line)
{
    struct engine *e = ((struct node *)env)->engine;
    if (e->log) e->log(e, level, line);
}

/* The error that is told while nothing else is known of the node; without its
 * password. */
static void silence_explain(struct hf_error *err, const struct url *url)
{
    char port[8] = "";
    const char *host = url->host ? url->host : "";
    if (url->port) snprintf(port, sizeof port, ":%d", url->port);
    snprintf(err->text, sizeof err->text, "%.30s%s%.160s%s: no answer",
             url->scheme, *host ? "://" : "", host, port);
}

int hf__node_open(struct engine *e, struct node *n, int index,
                  const struct backend *backend, const struct url *url,
                  struct hf_error *err)
{
    n->engine = e;
    n->index = index;
    n->backend = backend;
    n->timer_us = n->again_us = n->boot_us = TIME_NEVER;
    n->last_error.status = HF_UNAVAILABLE;
    n->last_error.node = index;
    silence_explain(&n->last_error, url);
    n->env = (struct backend_env){
        .alloc = e->alloc,
        .conf = n->conf ? n->conf : &e->backend_conf,
        .reply = env_reply,
        .await_fd = env_watch,
        .timer = env_timer,
        .wake = env_wake,
        .handed = env_handed,
        .link = env_link,
        .bound = env_bound,
        .now = env_now,
        .random = env_random,
        .log = env_log,
    };
    return backend->open(&n->env, url, &n->conn, err);
}

void hf__nodes_close(struct engine *e)
{
    for (struct node *n = NULL; (n = hf__node_next(e, n));) {
        if (!n->conn) continue;
        n->backend->close(n->conn);
        n->conn = NULL;
    }
}

void hf__nodes_tick(struct engine *e)
{
    for (struct node *n = NULL; (n = hf__node_next(e, n));) {
        if (n->timer_us <= e->now_us) {
            n->timer_us = TIME_NEVER;
            n->backend->process(n->conn, -1, 0);
        }
        if (n->again_us <= e->now_us) hf__again_tick(e, n);
    }
    if (e->conf.nodes > 1) hf__voters_tick(e);
}

int64_t hf__nodes_next_us(const struct engine *e)
{
    int64_t next = TIME_NEVER;
    const struct node *n = NULL;
    while ((n = hf__node_next((struct engine *)e, n))) {
        if (n->timer_us < next) next = n->timer_us;
        if (n->again_us < next) next = n->again_us;
    }
    return e->conf.nodes > 1 ? min64(next, hf__voters_next_us(e)) : next;
}

void hf__nodes_shut(struct engine *e)
{
    for (struct node *n = NULL; (n = hf__node_next(e, n));)
        hf__again_shut(e, n);
}
