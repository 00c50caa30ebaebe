/*
 * session/nodes.h: the members of a quorum.
 */
#ifndef HOLDFAST_CLI_SESSION_NODES_H
#define HOLDFAST_CLI_SESSION_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "common/json.h"
#include "session/session.h"

#define NODE_WHY_MAX (5 * HF_ERROR_TEXT_MAX)

struct nodes {
    struct hf_node at[HF_QUORUM_NODES_MAX];
    int len;         /* 0: one server, and nothing to tell */
    int up;          /* can be reached */
    int voting;      /* may vote */
    int needed;      /* a majority */
    int64_t wait_ms; /* until `needed` nodes may vote; 0 now, -1 unknown */
};

/* Fill `out`, after a short wait for each node to say whether it may vote.
 * Returns out->len. */
int nodes_look(const struct session *s, struct nodes *out);
/* Why a node does not vote, with its URL, into `out`; NULL if it votes. */
const char *node_why(const struct hf_node *n, char *out, size_t size);
/* A line on stderr for each node that does not vote. */
void nodes_say(const struct session *s);
/* The same on stdout, and when a lock can be had. */
void nodes_print(const struct nodes *ns);
void nodes_json(struct json *j, const struct hf_info *info,
                const struct nodes *ns);

#endif
