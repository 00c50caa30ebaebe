/*
 * net.h: a network of hosts, each a namespace of its own, that can be cut in
 * two.  One rule: a cut drops what is sent across it and tells nobody; servers
 * and clients hear nothing, as in life.
 *
 *     static struct lab_net n;
 *     net_begin(&n, 3);
 *     r.at = &n.hosts[0];                 a server of rig_redis.h lives there
 *     redis_begin(&r, NULL);
 *     net_go(&n, 2);                      and so does who calls this
 *     hf_client *c = rig_client_at(r.url, NULL);
 *     net_cut(&n, NET_HOST(0));           from all the others
 *     net_heal(&n);
 *
 * A thread is on one host at a time, and threads and processes begin where the
 * one that starts them is.  A client is on the host where it was opened, as
 * long as only threads of that host call it.  The machine's own network is
 * left alone: the test's process leaves it for good.
 */
#ifndef HF_TEST_NET_H
#define HF_TEST_NET_H

#define NET_HOSTS_MAX 8
#define NET_HOST(i) (1u << (i))

struct lab_host {
    char ip[16]; /* "10.9.0.1" is the first one's */
    int fd;      /* of its namespace */
};

struct lab_net {
    int len;
    struct lab_host hosts[NET_HOSTS_MAX];
    struct lab_host hub; /* where the cables end; it has no address */
};

/* Make so many hosts, all connected; gone when the test ends.  `n` static. */
void net_begin(struct lab_net *n, int hosts);

/* The calling thread moves to this host. */
void net_go(const struct lab_net *n, int host);

/* The same for a moment: returns what net_leave() needs to go back.  Without a
 * host (NULL) both do nothing. */
int net_enter(const struct lab_host *host);
void net_leave(int back);

/* Cut a group of hosts, NET_HOST(0) | NET_HOST(1), from the others; another cut
 * before is mended. */
void net_cut(struct lab_net *n, unsigned group);
void net_heal(struct lab_net *n);

#endif
