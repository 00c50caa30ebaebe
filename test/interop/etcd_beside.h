/*
 * etcd_beside.h: another program that takes locks of etcd, and the server that
 * it shares with us: etcd's own library for Go, and `etcdctl lock`.  One rule:
 * every claim is made once, and tested with both.
 *
 *     ETCD_TEST(exclusion, what_it_holds_we_cannot_take)
 *     {
 *         CHECK_STR(peer_ask(&t->there, "lock a 60000"), "ok");
 *
 * becomes etcd_go_exclusion.what... and etcdctl_exclusion.what...
 */
#ifndef HF_TEST_ETCD_BESIDE_H
#define HF_TEST_ETCD_BESIDE_H

#include "lab/etcd.h"
#include "peer.h"

struct etcd_beside {
    struct lab_etcd server;
    struct peer there;
};

/* Start a server, and the service `language` on it ("etcd-go", "etcdctl");
 * clients of the rig use it.  Both end with the test. */
struct etcd_beside *etcd_beside_begin(const char *language);

/* The server alone; and a service on it, before the test opens a client. */
void etcd_beside_serve(struct lab_etcd *server);
void etcd_beside_start(struct peer *p, const struct lab_etcd *server,
                       const char *language);

#define ETCD_TEST(topic, claim)                                                \
    static void topic##_##claim(struct etcd_beside *t);                        \
    TEST(etcd_go_##topic, claim)                                               \
    {                                                                          \
        topic##_##claim(etcd_beside_begin("etcd-go"));                         \
    }                                                                          \
    TEST(etcdctl_##topic, claim)                                               \
    {                                                                          \
        topic##_##claim(etcd_beside_begin("etcdctl"));                         \
    }                                                                          \
    static void topic##_##claim(struct etcd_beside *t)

#endif
