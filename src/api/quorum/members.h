/*
 * members.h: from the URL of a quorum to its members.
 */
#ifndef HF_API_MEMBERS_H
#define HF_API_MEMBERS_H

#include "api/client/client.h"

/* The members that a URL names, in its order. */
struct members {
    int len;
    char *texts[NODES_MAX]; /* URL of each, with its password; secrets */
    char *keys[NODES_MAX];  /* its endpoint alone: equal for one server */
    char *options;          /* the client's own: "quorum:?key=value&..." */
    char group[GROUP_MAX];  /* of this very set of members, in any order */
};

/* 1 if the URL is of a quorum. */
int hf__members_are_in(const char *url);

/* Fill `m` from redlock://h1,h2,h3 or quorum:URL|URL|URL.  HF_OK, HF_INVALID or
 * HF_NOMEM with `err` filled; free it either way. */
int hf__members_parse(struct members *m, const struct allocator *a,
                      const char *url, struct hf_error *err);
void hf__members_free(struct members *m, const struct allocator *a);

/* Options of a URL that are the client's, not a backend's. */
extern const char hf__common_options[];

/* The URL without passwords, to be freed; NULL: no memory. */
char *hf__members_shown(const struct members *m, const struct allocator *a,
                        const char *url);

/* Open every member's connection for `c`, whose options have been read. */
int hf__members_open(hf_client *c, const struct members *m,
                     const struct hf_client_options *o, struct hf_error *err);
void hf__members_close(hf_client *c); /* free what connections borrowed */

/* Copy a sentence about the node with this URL, without the URL in front. */
void hf__members_node_text(const char *url, const char *text,
                           char out[HF_ERROR_TEXT_MAX]);

#endif
