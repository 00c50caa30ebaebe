/*
 * holdfast/quorum.h: make servers the members of a quorum, and replace a
 * member.
 *
 *     struct hf_quorum_options options = HF_QUORUM_OPTIONS_INIT;
 *     options.max_lease_ms = 10000;
 *     if (hf_quorum_init("redlock://db1,db2,db3", &options, NULL, NULL, &err)
 *         != HF_OK)
 *         puts(err.text);
 *
 * A quorum (redlock://h1,h2,h3 or quorum:URL|URL|URL) does not trust a node
 * that may have forgotten what it granted.  A node that the quorum meets for
 * the first time may vote only after every lease must have ended.  With
 * hf_quorum_init() the operator declares that the nodes are new, and the first
 * lock does not have to wait for that.
 *
 * Both calls are meant for tools: they ask one node after the other, and block.
 */
#ifndef HOLDFAST_QUORUM_H
#define HOLDFAST_QUORUM_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_QUORUM_NODES_MAX 16 /* members of a quorum */

/* Take over nodes that are members of other quorums, with their markers or
 * locks. */
#define HF_QUORUM_FORCE 1u
/* The operator declares that a restart of these nodes loses nothing. */
#define HF_QUORUM_DURABLE 2u

/* How to set up a quorum.  Zero is every field's default. */
struct hf_quorum_options {
    uint32_t struct_size;      /* set by HF_QUORUM_OPTIONS_INIT */
    uint32_t flags;            /* HF_QUORUM_* */
    int64_t max_lease_ms;      /* longest lease that clients may ask for, and
                                * so the time for which a restarted node does
                                * not vote; 0: 30 s, or the value in use */
    int64_t timeout_ms;        /* longest wait for one node; 0: 2 s */
    const char *user;          /* borrowed; as in struct hf_client_options */
    const char *password;      /* borrowed */
    const char *password_file; /* borrowed */
};
#define HF_QUORUM_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_quorum_options), 0, 0, 0, 0, 0, 0                     \
    }
static inline void hf_quorum_options_init(struct hf_quorum_options *options)
{
    const struct hf_quorum_options init = HF_QUORUM_OPTIONS_INIT;
    *options = init;
}

/* The result for one member. */
struct hf_quorum_node {
    /* Set by the library. */
    uint32_t struct_size;
    char url[256];                /* without its password */
    int status;                   /* HF_OK, or why it is not a member */
    int changed;                  /* 1 if this call wrote to the node */
    int durable;                  /* 1 if a restart is known to lose nothing */
    int64_t left_ms;              /* time until it may vote; 0: it may now */
    int64_t max_lease_ms;         /* longest lease; 0 if unknown */
    char identity[96];            /* identifies its run since its last start;
                                   * "" if unknown */
    char text[HF_ERROR_TEXT_MAX]; /* the reason for `status`, without the URL in
                                   * front; "" for HF_OK */
};

/* Receives the result for one member.  `node` is borrowed for the call. */
typedef void (*hf_quorum_fn)(const struct hf_quorum_node *node, void *user);

/**
 * Make new nodes the members of a quorum.  Checks all nodes first: if a node
 * cannot be reached, is a member already, or stores locks, none is changed.
 *
 * @param url      URL of the quorum; borrowed
 * @param options  borrowed; NULL means all defaults
 * @param fn       called on this thread, once for each member, in the order of
 *                 the URL, also when this fails; not if the URL or an option is
 *                 not valid; may be NULL
 * @param user     passed to `fn` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the quorum can be used at once
 *         HF_INVALID      the URL or an option is not valid, the URL names a
 *                         server twice, or a server is a replica
 *         HF_CONFLICT     a node has a marker or locks; `fn` is told which
 *         HF_UNAVAILABLE  a node did not answer; `fn` is told which
 *         HF_DENIED       a node refuses the requests; `fn` is told which
 *         HF_UNSUPPORTED  a URL names a store that cannot be a member
 *         HF_NOMEM        out of memory
 *
 * Threads: any; blocks.
 */
HF_API int hf_quorum_init(const char *url,
                          const struct hf_quorum_options *options,
                          hf_quorum_fn fn, void *user, struct hf_error *err);

/**
 * Replace a dead member by a new node.  The other members store the new set of
 * members; the new node may vote after every lease must have ended.  Clients
 * must be opened again with the new URL: with the old URL they are refused.
 *
 * With HF_QUORUM_FORCE, members that do not answer are left unchanged, if a
 * majority answers.
 *
 * @param url      URL of the quorum, with either the old member or the new one
 *                 in it; borrowed
 * @param old_url  the dead member: a URL, or host[:port] as redlock:// has it;
 *                 borrowed
 * @param new_url  the new member, in the same form; borrowed
 * @param options  borrowed; NULL means all defaults
 * @param fn       as for hf_quorum_init(), for the members of the new set; not
 *                 if the old member answers
 * @param user     passed to `fn` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           replaced
 *         HF_INVALID      a URL or an option is not valid, or `url` names
 *                         neither the old member nor the new one
 *         HF_CONFLICT     without HF_QUORUM_FORCE: the old member answers, a
 *                         node belongs to another quorum or has no marker, or
 *                         the new node stores locks; nothing was changed
 *         HF_UNAVAILABLE  a node did not answer; `fn` is told which
 *         HF_DENIED       a node refuses the requests; `fn` is told which
 *         HF_UNSUPPORTED  a URL names a store that cannot be a member
 *         HF_NOMEM        out of memory
 *
 * Threads: any; blocks.
 */
HF_API int hf_quorum_replace(const char *url, const char *old_url,
                             const char *new_url,
                             const struct hf_quorum_options *options,
                             hf_quorum_fn fn, void *user, struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
