/*
 * quorum.h: what hf_quorum_init() and hf_quorum_replace() share.
 */
#ifndef HF_API_QUORUM_H
#define HF_API_QUORUM_H

#include "api/quorum/members.h"
#include "holdfast/quorum.h"

/* One call under way: a client for each member, and what each said. */
struct gathering {
    struct hf_quorum_options options;
    const struct allocator *alloc;
    struct members members;
    hf_client *clients[NODES_MAX];
    struct boot boots[NODES_MAX]; /* the last answer of each */
    struct hf_quorum_node *nodes; /* what is told of each */
    int is_open;                  /* the clients are open */
    const char *from;             /* group that is left; NULL: none */
    struct hold_conf conf;        /* drift and window, for quarantines */
    int64_t lease_us;
    struct hf_error err; /* why the whole call fails */
};

/* Copy the options; HF_OK or HF_INVALID with g->err. */
int hf__gathering_begin(struct gathering *g,
                        const struct hf_quorum_options *options,
                        struct hf_quorum_node *nodes);

/* Fill `m` from a quorum's URL, and the drift from its options; HF_OK, or a
 * status and g->err.  Free `m` either way. */
int hf__gathering_read(struct gathering *g, const char *url, struct members *m);

/* Open a client for each of g->members. */
int hf__gathering_open(struct gathering *g);

/* Ask member `i` to VERB_BOOT with `flags`; fills g->boots and g->nodes. */
int hf__gathering_ask(struct gathering *g, int i, unsigned flags);

/* Look at all of them, without changing anything.  HF_OK if all answered and
 * no two are the same; else the status of the first, and g->err. */
int hf__gathering_look(struct gathering *g);

/* Refuse the whole call because of member `i`. */
int hf__gathering_refuse(struct gathering *g, int i, int status,
                         const char *why);

/* Tell of each member, once they were opened. */
void hf__gathering_tell(const struct gathering *g, hf_quorum_fn fn, void *user);

/* Close everything; copy g->err; return the status. */
int hf__gathering_end(struct gathering *g, int status, struct hf_error *err);

#endif
