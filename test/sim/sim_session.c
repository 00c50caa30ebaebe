/*
 * sim_session.c: the node of a world whose store has sessions.  A session ends
 * when nothing was heard of it for its time-out, and all its keys with it; a
 * lock is the first key's in its line, in the order in which keys were made.
 *
 * The rules, as ZooKeeper and etcd (with a key of its generation) have them: a
 * session is attached to one connection, and what comes on an older one is not
 * carried out; another leader loses nothing and begins all time-outs anew; a
 * reply tells nothing of a lease.  What is drawn here has dice of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define TICK_US (5 * MS)
#define FAULTS_OF_SESSIONS                                                     \
    ((unsigned)(FAULT_BREAK | FAULT_LATE | FAULT_SPIKE | FAULT_PARTITION       \
                | FAULT_PAUSE | FAULT_CRASH | FAULT_RESTART | FAULT_DRIFT      \
                | FAULT_ONEWAY | FAULT_FREEZE))

/* In one of eight seeds with one node, of plain locks. */
void session_draw(struct sim *s, unsigned allowed)
{
    static const int64_t times_us[] = {400 * MS, 1000 * MS, 4000 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_SESSION) || k->nodes > 1 || s->nodes_wanted
        || sim_shares(s) || sim_dice(&s->session_random, 8))
        return;
    s->is_session = 1;
    s->deeds[DEED_SESSIONS]++;
    k->session_us = times_us[sim_dice(&s->session_random, 3)];
    if (k->session_us < 40 * k->delay_max_us)
        k->session_us = 40 * k->delay_max_us;
    k->handover = 0; /* as api/client/client.c has it where all are in order */
}

/* Once all has been drawn. */
void session_limit(struct sim *s)
{
    if (!s->is_session) return;
    s->faults &= FAULTS_OF_SESSIONS;
    s->k.falls = 0;
}

int session_open(struct sim *s, struct sim_node *n)
{
    if (!s->is_session) return 0;
    n->sessions = calloc(1, sizeof *n->sessions);
    return n->sessions ? 0 : -1;
}

/* ---- keys ---------------------------------------------------------------- */

static int key_find(const struct session_line *line, const struct request *req)
{
    for (int i = 0; i < line->len; i++)
        if (line->keys[i].attempt == req->attempt
            && !strcmp(line->keys[i].owner, req->owner))
            return i;
    return -1;
}

static void key_drop(struct sim *s, struct sim_node *n, int name, int at)
{
    struct session_line *line = &n->sessions->lines[name];
    struct reply rep = {0};
    sim_trace(s, "n%d key %lld of %s is deleted", n->index,
              (long long)line->keys[at].fence, sim_names[name]);
    line->len--;
    memmove(&line->keys[at], &line->keys[at + 1],
            (size_t)(line->len - at) * sizeof *line->keys);
    n->free_since_us[name] = line->len ? -1 : s->now_us;
    if (at == 0) node_tell(s, n, name, &rep);
}

static struct session_key *key_make(struct sim_node *n, int name,
                                    const struct request *req,
                                    struct session *session)
{
    struct session_line *line = &n->sessions->lines[name];
    if (line->len == SESSION_KEYS_MAX) return NULL;
    struct session_key *key = &line->keys[line->len++];
    *key = (struct session_key){.attempt = req->attempt,
                                .fence = ++n->sessions->last,
                                .count = 1,
                                .session = session};
    memcpy(key->owner, req->owner, sizeof key->owner);
    n->free_since_us[name] = -1;
    return key;
}

/* ---- sessions ------------------------------------------------------------ */

static struct session *session_of(struct sim *s, struct sim_node *n,
                                  const struct life *l)
{
    for (int i = 0; i < SESSIONS_MAX; i++) {
        struct session *x = &n->sessions->sessions[i];
        if (x->is_alive && x->client == l->client
            && x->serial == s->clients[l->client].serial)
            return x;
    }
    return NULL;
}

static void session_end(struct sim *s, struct sim_node *n, struct session *x)
{
    sim_trace(s, "n%d the session of c%d ends", n->index, x->client);
    x->is_alive = 0;
    s->deeds[DEED_EXPIRED]++;
    for (int name = 0; name < s->k.names; name++) {
        struct session_line *line = &n->sessions->lines[name];
        for (int i = line->len - 1; i >= 0; i--)
            if (line->keys[i].session == x) key_drop(s, n, name, i);
    }
}

static void sessions_expire(struct sim *s, struct sim_node *n)
{
    for (int i = 0; i < SESSIONS_MAX; i++) {
        struct session *x = &n->sessions->sessions[i];
        if (x->is_alive && node_clock(s, n) > x->expires_us)
            session_end(s, n, x);
    }
}

static void session_tick(struct sim *s, void *arg, uint64_t tag)
{
    struct sim_node *n = &s->nodes[0];
    (void)arg;
    (void)tag;
    if (n->up && n->frozen_until_us <= s->now_us) sessions_expire(s, n);
    if (s->ended) return;
    sim_at(s, s->now_us + TICK_US, session_tick, NULL, 0);
}

void session_start(struct sim *s)
{
    if (s->is_session) session_tick(s, NULL, 0);
}

static void session_touch(struct sim *s, struct sim_node *n, struct session *x)
{
    int64_t us = s->k.session_us;
    if (s->mutation && mutants[s->mutation].model == MODEL_MUT_SESSION_SHORT)
        us /= 3;
    x->expires_us = node_clock(s, n) + us;
}

/* It asks for its session, or for a new one. */
void session_attach(struct sim *s, struct sim_node *n, struct packet *p)
{
    sessions_expire(s, n);
    struct session *x = session_of(s, n, p->life);
    p->is_other = x == NULL;
    for (int i = 0; !x && i < SESSIONS_MAX; i++)
        if (!n->sessions->sessions[i].is_alive) x = &n->sessions->sessions[i];
    if (!x) {
        sim_fail(s, "simulator: too many sessions");
        return;
    }
    if (p->is_other)
        *x = (struct session){.is_alive = 1,
                              .client = p->life->client,
                              .serial = s->clients[p->life->client].serial};
    sim_trace(s, "n%d c%d %s a session", n->index, p->life->client,
              p->is_other ? "gets" : "attaches");
    x->life = p->life;
    session_touch(s, n, x);
}

/* Only what comes on the connection that it is attached to. */
static struct session *session_serving(struct sim *s, struct sim_node *n,
                                       const struct packet *p)
{
    int is_any =
        s->mutation && mutants[s->mutation].model == MODEL_MUT_SESSION_MOVED;
    sessions_expire(s, n);
    struct session *x = session_of(s, n, p->life);
    return x && (x->life == p->life || is_any) ? x : NULL;
}

void session_heard(struct sim *s, struct sim_node *n, const struct packet *p)
{
    struct session *x = session_serving(s, n, p);
    if (x) session_touch(s, n, x);
}

/* Another leader: nothing is lost, and all time-outs begin anew. */
void session_restart(struct sim *s, struct sim_node *n)
{
    for (int i = 0; i < SESSIONS_MAX; i++)
        if (n->sessions->sessions[i].is_alive)
            session_touch(s, n, &n->sessions->sessions[i]);
}

/* ---- requests ------------------------------------------------------------ */

static void propose(struct sim *s, struct sim_node *n, struct packet *p,
                    struct session *x)
{
    struct session_line *line = &n->sessions->lines[p->name];
    int at = key_find(line, &p->req);
    p->rep.verdict = V_BUSY;
    p->rep.poll_us = p->req.flags & REQ_QUEUE ? s->k.session_us / 4 : 0;
    if (at < 0 && line->len > 0 && !(p->req.flags & REQ_QUEUE)) return;
    if (at < 0 && !key_make(n, p->name, &p->req, x)) return;
    if (at < 0) at = line->len - 1;
    if (at > 0) return;
    p->rep.verdict = V_GRANTED;
    p->rep.fence = line->keys[0].fence;
}

static void change(struct sim *s, struct sim_node *n, struct packet *p)
{
    struct session_line *line = &n->sessions->lines[p->name];
    int at = key_find(line, &p->req);
    int is_held = at == 0 || (at > 0 && p->req.verb == VERB_RELEASE);
    p->rep.verdict = is_held ? V_GRANTED : line->len ? V_OTHER : V_ABSENT;
    if (p->req.verb == VERB_RELEASE && at >= 0) key_drop(s, n, p->name, at);
    if (p->req.verb != VERB_RENEW || !is_held) return;
    line->keys[0].count = p->req.count;
    check_claims(&s->clients[p->life->client]);
}

/* 1: carried out; 0: it is not, and the connection is over. */
int session_request(struct sim *s, struct sim_node *n, struct packet *p)
{
    struct session *x = session_serving(s, n, p);
    if (!x) {
        s->deeds[DEED_MOVED]++;
        net_break(s, p->life, NEWS_SOON);
        return 0;
    }
    check_session_served(s, x, p);
    session_touch(s, n, x);
    p->rep = (struct reply){
        .node_us = node_clock(s, n), .ttl_us = -1, .waiters = -1};
    if (p->req.verb == VERB_PROPOSE)
        propose(s, n, p, x);
    else
        change(s, n, p);
    sim_trace(s, "n%d c%d op %d attempt %llu -> verdict %d fence %lld",
              n->index, p->life->client, (int)p->req.verb,
              (unsigned long long)p->req.attempt, (int)p->rep.verdict,
              (long long)p->rep.fence);
    return 1;
}

/* What the owner has of the name. */
int session_look(const struct sim *s, const struct sim_node *n,
                 const struct request *req, struct store_view *out)
{
    const struct session_line *line =
        &n->sessions->lines[name_index(req->name)];
    const struct session_key *key = &line->keys[0];
    *out = (struct store_view){.name = req->name, .owner = ""};
    (void)s;
    if (line->len == 0) return 0;
    out->locked = 1;
    out->owner = key->owner;
    out->attempt = key->attempt;
    out->fence = key->fence;
    out->count = key->count;
    out->expires_us = key->session->expires_us;
    return 1;
}
