/*
 * holdfast/quorum.h: making servers members of a quorum, and replacing one.
 *
 * A quorum (redlock://h1,h2,h3 or quorum:URL|URL|URL) trusts no node that may
 * have forgotten what it granted: one that it meets for the first time votes
 * only when every lease must have ended.  hf_quorum_init() is the operator's
 * word that the nodes are new, so that the first lock need not wait for that.
 * Both calls are for tools: they ask one node after the other, and block.
 */
#ifndef HOLDFAST_QUORUM_H
#define HOLDFAST_QUORUM_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_QUORUM_NODES_MAX 16 /* members of a quorum */

/* Members of other quorums, with their markers or locks, are taken over. */
#define HF_QUORUM_FORCE 1u
/* The operator's word that a restart of these nodes loses nothing. */
#define HF_QUORUM_DURABLE 2u

/* How to do it.  Zero is every field's default. */
struct hf_quorum_options {
    uint32_t struct_size;      /* set by HF_QUORUM_OPTIONS_INIT */
    uint32_t flags;            /* HF_QUORUM_* */
    int64_t max_lease_ms;      /* longest lease that clients may ask for, and so
                            * the time that a node which was restarted does
                            * not vote; 0: 30 s, or as it was */
    int64_t timeout_ms;        /* longest wait for one node; 0: 2 s */
    const char *user;          /* borrowed; as in struct hf_client_options */
    const char *password;      /* borrowed */
    const char *password_file; /* borrowed */
};
#define HF_QUORUM_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_quorum_options), 0, 0, 0, 0, 0, 0                     \
    }

/* What became of one member. */
struct hf_quorum_node {
    char url[256];                /* without its password */
    int status;                   /* HF_OK, or why it is no member */
    int changed;                  /* it was written to */
    int durable;                  /* a restart is known to lose nothing */
    int64_t left_ms;              /* it does not vote for so long; 0: it does */
    int64_t max_lease_ms;         /* 0 unknown */
    char identity[96];            /* of its present life; "" unknown */
    char text[HF_ERROR_TEXT_MAX]; /* the sentence, without its URL in front;
                                   * "" for HF_OK */
};

/**
 * Make new nodes the members of a quorum.  All are looked at first: if one
 * cannot be reached, is a member already, or has locks stored, none is changed.
 *
 * @param url      of the quorum; borrowed
 * @param options  borrowed; NULL means all defaults
 * @param nodes    owned by the caller; filled, in the order of the URL
 * @param max      places in `nodes`, at least the number of members
 * @param len      the number of members; untouched if the URL is bad
 * @param err      filled on failure; may be NULL
 *
 * @return HF_OK           the quorum can be used at once
 *         HF_INVALID      a bad URL or option; the same server twice; a replica
 *         HF_CONFLICT     a member has a marker or locks; see `nodes`
 *         HF_UNAVAILABLE  a member did not answer; see `nodes`
 *         HF_DENIED, HF_UNSUPPORTED, HF_NOMEM
 *
 * Threads: any; blocks.
 */
HF_API int hf_quorum_init(const char *url,
                          const struct hf_quorum_options *options,
                          struct hf_quorum_node *nodes, int max, int *len,
                          struct hf_error *err);

/**
 * Put a new node in the place of a dead one.  The others learn the new set of
 * members; the new one votes when every lease must have ended.  Clients must
 * be opened again with the new URL: with the old one, they are refused.
 *
 * @param url      of the quorum, with the old member in it or already with the
 *                 new one; borrowed
 * @param old_url  the member that is dead, by its URL, or by host[:port] as
 *                 redlock:// names it; borrowed.  If it answers, nothing is
 *                 done (HF_CONFLICT) without HF_QUORUM_FORCE
 * @param new_url  who takes its place, likewise
 *
 * The rest is as in hf_quorum_init(); `nodes` are the members of the new set.
 * With HF_QUORUM_FORCE, members that do not answer are left as they are, if a
 * majority does.
 *
 * Threads: any; blocks.
 */
HF_API int hf_quorum_replace(const char *url, const char *old_url,
                             const char *new_url,
                             const struct hf_quorum_options *options,
                             struct hf_quorum_node *nodes, int max, int *len,
                             struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
