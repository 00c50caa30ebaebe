/*
 * bounds.h: to which hosts a server may redirect a client, and with it the
 * password: redirect=.
 *
 * A Sentinel names the primary, a node of a cluster names the others.  What
 * they name is used if the URL's hosts are of the same network (the default),
 * if the URL lists it, or whatever it is.
 */
#ifndef HF_REDIS_BOUNDS_H
#define HF_REDIS_BOUNDS_H

#include "base/url.h"
#include "net/stream.h"
#include "sys/alloc.h"

#define BOUNDS_OPTIONS "redirect redirect_hosts"

enum bounds_rule {
    BOUNDS_NETWORK, /* redirect=same-network */
    BOUNDS_LISTED,  /* redirect=listed */
    BOUNDS_ANY      /* redirect=any */
};

/* Kinds of networks, as bits. */
#define NETWORK_LOOPBACK 1u /* this host */
#define NETWORK_PRIVATE 2u  /* addresses that mean nothing elsewhere */
#define NETWORK_PUBLIC 4u   /* all others */

struct bounds {
    enum bounds_rule rule;
    unsigned networks; /* in which hosts of the URL were reached */
    char *hosts;       /* the URL's and redirect_hosts=, in lower case,
                        * separated by spaces */
};

/* Read the options of `url`.  HF_OK, or HF_INVALID or HF_NOMEM with err. */
int hf__redis_bounds_read(struct bounds *b, const struct allocator *a,
                          const struct url *url, struct hf_error *err);
void hf__redis_bounds_free(struct bounds *b, const struct allocator *a);

/* `host` is one of the URL's.  0, or -1: no memory. */
int hf__redis_bounds_list(struct bounds *b, const struct allocator *a,
                          const char *host);

/* `host` was reached at this address: if it is listed, its network is one of
 * the URL's. */
void hf__redis_bounds_learn(struct bounds *b, const char *host,
                            const struct stream_addr *addr);

/* 1 if `host` at `addr` may be connected to.  `addr` is NULL if the address is
 * not known yet: then 1 means that it may still decide. */
int hf__redis_bounds_allow(const struct bounds *b, const char *host,
                           const struct stream_addr *addr);

/* The same, with the address in `host`, if it is one. */
int hf__redis_bounds_allow_text(const struct bounds *b, const char *host);

/* Why not, for an error's text behind the name of the host. */
const char *hf__redis_bounds_text(const struct bounds *b);

unsigned hf__redis_network_of(const struct stream_addr *addr);

#endif
