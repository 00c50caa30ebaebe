/*
 * greet.c: the first words on a link: the password, the session's lease, and
 * the generation.  One rule: a transaction that makes a key takes effect only
 * in the generation in which it was sent.
 *
 * The generation is a key of this connection that is written again after every
 * connect.  Each proposal compares its revision; so a proposal that the server
 * read from an old connection, and carries out late, is refused.
 */
#include "backend/etcd/etcd.h"

static void gen_put(struct link *l, const struct lease *session)
{
    struct backend_conn *c = l->c;
    struct key *k = &c->scratch->keys[0];
    Pb__PutRequest put = PB__PUT_REQUEST__INIT;
    hf__etcd_key_gen(k, c->prefix, c->gen_id);
    put.key.data = (uint8_t *)k->at;
    put.key.len = k->len;
    put.lease = session->id;
    int64_t due = hf__etcd_now(c) + c->env->conf->timeout_us;
    /* Without memory no answer comes, and the time limit ends the greeting. */
    (void)hf__etcd_call(l, CALL_GEN, &put.base, NULL, due);
}

static void greet_next(struct link *l)
{
    struct lease *session = hf__etcd_lease_session(l->c);
    if (session) gen_put(l, session);
}

void hf__etcd_greet(struct link *l)
{
    struct backend_conn *c = l->c;
    Pb__AuthenticateRequest ask = PB__AUTHENTICATE_REQUEST__INIT;
    if (!c->server.user) {
        greet_next(l);
        return;
    }
    ask.name = c->server.user;
    ask.password = c->server.password ? c->server.password : ask.password;
    (void)hf__etcd_call(l, CALL_AUTH, &ask.base, NULL, TIME_NEVER);
}

void hf__etcd_greet_again(struct link *l)
{
    struct lease *session = l->c->leases.session;
    if (!l->gen) return; /* a new one is under way */
    l->gen = 0;
    /* The generation's key is gone; its lease may have ended, too. */
    if (session && session->state == LEASE_ALIVE) session->state = LEASE_GONE;
    greet_next(l);
}

void hf__etcd_greet_auth(struct link *l, struct call *call,
                         const Pb__AuthenticateResponse *auth)
{
    if (call->status == GRPC_OK && auth)
        l->token = hf__strdup(l->c->env->alloc, auth->token);
    if (l->token)
        greet_next(l);
    else
        hf__etcd_greet_refused(l, call);
}

void hf__etcd_greet_granted(struct link *l, struct call *call, int is_granted)
{
    if (is_granted)
        greet_next(l);
    else
        hf__etcd_greet_refused(l, call);
}

/* With several endpoints, one that belongs to another cluster is a mistake in
 * the URL: it has other locks.  A single server may have been made anew. */
static int is_stray(const struct backend_conn *c, const Pb__Header *h)
{
    return c->cluster != 0 && c->cluster != h->cluster_id
           && c->endpoints_len > 1;
}

/* Is this another cluster, or one that was restored from a backup?  Then
 * all holds are checked. */
static int is_other(struct backend_conn *c, const Pb__Header *h)
{
    int other = c->cluster != 0
                && (c->cluster != h->cluster_id || h->revision < c->revision);
    c->cluster = h->cluster_id;
    c->revision = h->revision;
    return other;
}

void hf__etcd_greet_gen(struct link *l, struct call *call,
                        const Pb__PutResponse *put)
{
    struct backend_conn *c = l->c;
    if (call->status == GRPC_NOT_FOUND && c->leases.session) {
        c->leases.session->state = LEASE_GONE;
        greet_next(l);
        return;
    }
    if (call->status != GRPC_OK || !put || !put->header) {
        hf__etcd_greet_refused(l, call);
        return;
    }
    if (is_stray(c, put->header)) {
        hf__etcd_greet_stray(l);
        return;
    }
    l->gen = put->header->revision;
    c->stirred = 1;
    if (l->state == LINK_GREETING)
        hf__etcd_link_up(l, is_other(c, put->header));
}
