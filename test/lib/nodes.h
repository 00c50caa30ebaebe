/*
 * nodes.h: what is told of each server, in an array.
 */
#ifndef HF_TEST_NODES_H
#define HF_TEST_NODES_H

#include "holdfast/holdfast.h"

/* The servers behind a client, up to `max`; how many there are. */
int nodes_of(hf_client *client, struct hf_node *out, int max);

/* hf_quorum_init() and hf_quorum_replace(): what they tell of each member, up
 * to `max`, and of how many; `len` stays if they tell nothing. */
int nodes_init(const char *url, const struct hf_quorum_options *options,
               struct hf_quorum_node *nodes, int max, int *len,
               struct hf_error *err);
int nodes_replace(const char *url, const char *old_url, const char *new_url,
                  const struct hf_quorum_options *options,
                  struct hf_quorum_node *nodes, int max, int *len,
                  struct hf_error *err);

#endif
