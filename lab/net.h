/*
 * net.h: a network of hosts, each a namespace of its own, that can be cut in
 * two.  One rule: a cut drops what is sent across it and tells nobody; servers
 * and clients hear nothing, as in life.
 *
 *     static struct lab_net n;
 *     lab_net_start(&n, 3);
 *     s.at = &n.hosts[0];                     a server of server.h lives there
 *     lab_server_start(&s, NULL);
 *     lab_net_go(&n, 2);                      and this thread on another host
 *     lab_net_cut(&n, LAB_NET_HOST(0));       from all the others
 *     lab_net_heal(&n);
 *
 * A thread is on one host at a time, and threads and processes begin where the
 * thread is that starts them.  The machine's own network is left alone: the
 * calling process leaves it for good.  Needs root or user namespaces, and
 * ip(8); LAB_ABSENT where they are missing.
 */
#ifndef LAB_NET_H
#define LAB_NET_H

#define LAB_NET_HOSTS_MAX 8
#define LAB_NET_HOST(i) (1u << (i))

struct lab_host {
    char ip[16]; /* "10.9.0.1" is the first one's */
    int fd;      /* of its namespace */
};

struct lab_net {
    int len;
    struct lab_host hosts[LAB_NET_HOSTS_MAX];
    struct lab_host hub; /* where the cables end; it has no address */
};

/* Make `hosts` of them, all connected; the calling thread is on the first.
 * `n` must stay until it is stopped. */
int lab_net_start(struct lab_net *n, int hosts);
void lab_net_stop(struct lab_net *n);

/* The calling thread moves to this host. */
int lab_net_go(const struct lab_net *n, int host);

/* The same for a moment: writes what lab_net_leave() needs to go back.  Without
 * a host (NULL) both do nothing. */
int lab_net_enter(const struct lab_host *host, int *back);
int lab_net_leave(int back);

/* lab_port_reserve() on this host; without one (NULL), where the thread is. */
int lab_net_port(const struct lab_host *host, int *port);

/* Cut a group of hosts, LAB_NET_HOST(0) | LAB_NET_HOST(1), from the others; an
 * earlier cut is mended. */
int lab_net_cut(struct lab_net *n, unsigned group);
int lab_net_heal(struct lab_net *n);

#endif
