/*
 * nodes.c: see nodes.h.
 */
#include "lib/nodes.h"

#include <stddef.h>

struct taken {
    struct hf_node *nodes;
    struct hf_quorum_node *members;
    int max, len;
};

static void node_take(const struct hf_node *node, void *user)
{
    struct taken *t = user;
    if (t->len < t->max) t->nodes[t->len] = *node;
    t->len++;
}

static void member_take(const struct hf_quorum_node *node, void *user)
{
    struct taken *t = user;
    if (t->len < t->max) t->members[t->len] = *node;
    t->len++;
}

int nodes_of(hf_client *client, struct hf_node *out, int max)
{
    struct taken t = {.nodes = out, .max = max};
    return hf_client_nodes(client, node_take, &t);
}

int nodes_init(const char *url, const struct hf_quorum_options *options,
               struct hf_quorum_node *nodes, int max, int *len,
               struct hf_error *err)
{
    struct taken t = {.members = nodes, .max = max};
    int status = hf_quorum_init(url, options, member_take, &t, err);
    if (t.len > 0) *len = t.len;
    return status;
}

int nodes_replace(const char *url, const char *old_url, const char *new_url,
                  const struct hf_quorum_options *options,
                  struct hf_quorum_node *nodes, int max, int *len,
                  struct hf_error *err)
{
    struct taken t = {.members = nodes, .max = max};
    int status =
        hf_quorum_replace(url, old_url, new_url, options, member_take, &t, err);
    if (t.len > 0) *len = t.len;
    return status;
}
