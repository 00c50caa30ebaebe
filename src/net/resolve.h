/*
 * resolve.h: from a host's name to its addresses, without blocking.
 */
#ifndef HF_NET_RESOLVE_H
#define HF_NET_RESOLVE_H

#include <stddef.h>

#include "net/stream.h"

#define RESOLVE_ADDRS_MAX 8

/* What a name stands for, in the order in which to try. */
struct resolved {
    int code; /* 0, or getaddrinfo()'s: hf__resolve_text() */
    int count;
    struct stream_addr addrs[RESOLVE_ADDRS_MAX];
};

/* A numeric address, at once.  0, or -1: `host` is a name. */
int hf__resolve_numeric(const char *host, int port, struct resolved *out);

/* Begin to look a name up, or wait for a look-up of it that the process has
 * begun already.  Returns an fd, owned by the caller, that becomes readable
 * when the answer is there; closing it early is all it takes to give up.  -1
 * with errno. */
int hf__resolve_start(const char *host, int port);

/* Take the answer from the fd.  1 there it is, 0 not yet, -1 with errno. */
int hf__resolve_take(int fd, struct resolved *out);

/* What resolved.code means. */
const char *hf__resolve_text(int code);

#endif
