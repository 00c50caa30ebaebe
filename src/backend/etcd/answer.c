/*
 * answer.c: the server's answers: bytes become a message, which goes to the
 * function for its kind of call.  One rule: the link ends when a call that the
 * server may have carried out has no answer.
 */
#include <string.h>

#include "backend/etcd/etcd.h"

static void *pb_alloc(void *data, size_t size)
{
    return hf__alloc(data, size);
}

static void pb_free(void *data, void *ptr)
{
    hf__free(data, ptr);
}

static ProtobufCAllocator allocator_of(const struct allocator *a)
{
    return (ProtobufCAllocator){pb_alloc, pb_free, (void *)(uintptr_t)a};
}

static const ProtobufCMessageDescriptor *descriptor_of(enum call_kind kind)
{
    switch (kind) {
    case CALL_AUTH:
        return &pb__authenticate_response__descriptor;
    case CALL_GRANT:
    case CALL_ALIVE:
    case CALL_TTL:
    case CALL_ADOPT_LEFT:
    case CALL_CLOCK_LEFT:
    case CALL_CLOCK_GRANT:
    case CALL_CLOCK_END:
        return &pb__lease_response__descriptor;
    case CALL_GEN:
        return &pb__put_response__descriptor;
    case CALL_LIST:
    case CALL_FACTS:
        return &pb__range_response__descriptor;
    case CALL_WATCH:
        return &pb__watch_response__descriptor;
    default:
        return &pb__txn_response__descriptor;
    }
}

ProtobufCMessage *hf__etcd_message(const struct allocator *a,
                                   enum call_kind kind, const unsigned char *at,
                                   size_t len)
{
    ProtobufCAllocator pb = allocator_of(a);
    return protobuf_c_message_unpack(descriptor_of(kind), &pb, len, at);
}

void hf__etcd_message_free(const struct allocator *a, ProtobufCMessage *m)
{
    ProtobufCAllocator pb = allocator_of(a);
    if (m) protobuf_c_message_free_unpacked(m, &pb);
}

/* ---- what an answer proves ---- */

/* Does this status prove that the call changed nothing? */
static int is_refusal(int status)
{
    return status == GRPC_INVALID || status == GRPC_NOT_FOUND
           || status == GRPC_DENIED || status == GRPC_EXHAUSTED
           || status == GRPC_UNSUPPORTED || status == GRPC_OUT_OF_RANGE;
}

/* The header of an answer that a majority of the cluster has confirmed, else
 * NULL. */
static const Pb__Header *proof_of(const struct call *call,
                                  const ProtobufCMessage *m)
{
    switch (call->kind) {
    case CALL_GEN:
        return ((const Pb__PutResponse *)m)->header;
    case CALL_LIST:
    case CALL_FACTS:
        return ((const Pb__RangeResponse *)m)->header;
    case CALL_PROPOSE:
    case CALL_RENEW:
    case CALL_ATTACH:
    case CALL_TAKEN:
    case CALL_RELEASE:
    case CALL_INSPECT:
    case CALL_BREAK:
    case CALL_ADOPT:
    case CALL_ADOPT_END:
    case CALL_CLOCK_LOOK:
    case CALL_CLOCK_MAKE:
    case CALL_CELL_READ:
    case CALL_CELL_SWAP:
    case CALL_CELL_USE:
    case CALL_CELL_UNUSE:
        return ((const Pb__TxnResponse *)m)->header;
    default:
        return NULL;
    }
}

/* The answers to calls for cells, for their clock and for tickets. */
static void cell_tell(struct backend_conn *c, struct call *call, void *m)
{
    switch (call->kind) {
    case CALL_ADOPT:
        hf__etcd_adopt_answer(c, call, m);
        break;
    case CALL_ADOPT_LEFT:
        hf__etcd_adopt_left(c, call, m);
        break;
    case CALL_ADOPT_END:
        hf__etcd_adopt_end(c, call, m);
        break;
    case CALL_CLOCK_LOOK:
        hf__etcd_clock_looked(c, call, m);
        break;
    case CALL_CLOCK_LEFT:
        hf__etcd_clock_told(c, call, m);
        break;
    case CALL_CLOCK_GRANT:
        hf__etcd_clock_granted(c, call, m);
        break;
    case CALL_CLOCK_MAKE:
        hf__etcd_clock_made(c, call, m);
        break;
    case CALL_CELL_READ:
        hf__etcd_cell_read_answer(c, call, m);
        break;
    case CALL_CELL_SWAP:
        hf__etcd_cell_swap_answer(c, call, m);
        break;
    case CALL_CELL_USE:
        hf__etcd_use_answer(c, call, m);
        break;
    case CALL_CELL_UNUSE:
        hf__etcd_unuse_answer(c, call, m);
        break;
    default:
        break;
    }
}

static void tell(struct backend_conn *c, struct call *call, void *m)
{
    struct link *l = &c->link;
    switch (call->kind) {
    case CALL_AUTH:
        hf__etcd_greet_auth(l, call, m);
        break;
    case CALL_GRANT:
        hf__etcd_lease_granted(c, call, m);
        if (call->lease == c->leases.session)
            hf__etcd_greet_granted(l, call, call->lease->state == LEASE_ALIVE);
        break;
    case CALL_ALIVE:
        hf__etcd_lease_kept(c, call, m);
        break;
    case CALL_GEN:
        hf__etcd_greet_gen(l, call, m);
        break;
    case CALL_PROPOSE:
        hf__etcd_propose_answer(c, call, m);
        break;
    case CALL_RENEW:
        hf__etcd_renew_answer(c, call, m);
        break;
    case CALL_ATTACH:
        hf__etcd_attach_answer(c, call, m);
        break;
    case CALL_TAKEN:
        hf__etcd_taken_answer(c, call, m);
        break;
    case CALL_RELEASE:
        hf__etcd_release_answer(c, call, m);
        break;
    case CALL_INSPECT:
        hf__etcd_inspect_answer(c, call, m);
        break;
    case CALL_TTL:
        hf__etcd_ttl_answer(c, call, m);
        break;
    case CALL_BREAK:
        hf__etcd_break_answer(c, call, m);
        break;
    case CALL_LIST:
        hf__etcd_list_answer(c, call, m);
        break;
    case CALL_FACTS:
        hf__etcd_facts_answer(c, call, m);
        break;
    default:
        cell_tell(c, call, m);
        break;
    }
}

/* The server may have carried out the call: end the link, and the call with
 * it. */
static void broken(struct link *l, struct call *call)
{
    char why[sizeof call->message];
    memcpy(why, call->message, sizeof why);
    if (l->state == LINK_GREETING) {
        hf__etcd_greet_refused(l, call);
        hf__etcd_call_free(l, call);
        return;
    }
    call->next = l->calls;
    if (!l->calls) l->calls_end = &call->next;
    l->calls = call;
    hf__etcd_link_fail(l, HF_UNAVAILABLE, "%s",
                       why[0] ? why : "a call was ended without an answer");
}

/* The cluster's users have changed since it gave this token: a new connection
 * gets a new token. */
static int is_token_old(const struct call *call)
{
    return call->status == GRPC_INVALID
           && strstr(call->message, "revision of auth store is old");
}

static void over(struct link *l, struct call *call)
{
    struct backend_conn *c = l->c;
    ProtobufCMessage *m = NULL;
    const unsigned char *at;
    size_t len;
    if (is_token_old(call)) call->status = CALL_BROKEN;
    if (call->status == GRPC_OK) {
        if (hf__etcd_frames_next(&call->in, &at, &len) == 1)
            m = hf__etcd_message(c->env->alloc, call->kind, at, len);
        if (!m) call->status = CALL_BROKEN;
    }
    if (call->kind == CALL_WATCH
        || (!m && call->status != GRPC_OK && !is_refusal(call->status))) {
        broken(l, call);
        return;
    }
    if (m) hf__etcd_leases_proved(c, call->seq, proof_of(call, m));
    tell(c, call, m);
    hf__etcd_message_free(c->env->alloc, m);
    hf__etcd_call_free(l, call);
}

/* 0, or -1 if the link has failed. */
static int watch_read(struct link *l)
{
    unsigned life = l->life;
    const unsigned char *at;
    size_t len;
    int rc = 0;
    while (l->watch
           && (rc = hf__etcd_frames_next(&l->watch->in, &at, &len)) == 1) {
        const struct allocator *a = l->c->env->alloc;
        ProtobufCMessage *m = hf__etcd_message(a, CALL_WATCH, at, len);
        if (m) hf__etcd_watched(l->c, (const Pb__WatchResponse *)m);
        hf__etcd_message_free(a, m);
        if (l->life != life) return -1;
        if (!m) rc = -1;
        if (rc < 0) break;
    }
    if (rc >= 0) return 0;
    hf__etcd_link_fail(l, HF_UNAVAILABLE,
                       "watch: the server's answer cannot be read");
    return -1;
}

int hf__etcd_answers(struct link *l)
{
    unsigned life = l->life;
    struct call *call;
    int done = 0;
    size_t before = l->watch ? l->watch->in.done : 0;
    if (watch_read(l) != 0) return 1;
    if (l->watch && l->watch->in.done != before) done = 1;
    while (l->life == life && (call = hf__etcd_call_over(l)) != NULL) {
        over(l, call);
        done = 1;
    }
    return done;
}
