/*
 * net.h: lab/net.h in a test: a network of hosts that can be cut in two.  One
 * rule: the test is skipped where the machine permits no namespaces.
 *
 *     static struct lab_net n;
 *     net_begin(&n, 3);
 *     r.at = &n.hosts[0];                 a server of rig_redis.h lives there
 *     redis_begin(&r, NULL);
 *     net_go(&n, 2);                      the calling thread, on another host
 *     hf_client *c = rig_client_at(r.url, NULL);
 *     net_cut(&n, NET_HOST(0));           from all the others
 *     net_heal(&n);
 *
 * A client is on the host where it was opened, as long as only threads of that
 * host call it.
 */
#ifndef HF_TEST_NET_H
#define HF_TEST_NET_H

#include "lab/net.h"

#define NET_HOST(i) LAB_NET_HOST(i)

/* Make `hosts` of them, all connected; gone when the test ends.  `n` static. */
void net_begin(struct lab_net *n, int hosts);

/* The others of lab/net.h, which must succeed. */
void net_go(const struct lab_net *n, int host);
void net_cut(struct lab_net *n, unsigned group);
void net_heal(struct lab_net *n);

#endif
