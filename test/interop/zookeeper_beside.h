/*
 * zookeeper_beside.h: another program that takes locks of ZooKeeper, and the
 * server that it shares with us: Curator, and go-zookeeper.  One rule: every
 * claim is made once, and tested with both programs, and with our plain and our
 * fair lock.
 *
 *     ZOOKEEPER_TEST(exclusion, what_it_holds_we_cannot_take)
 *     {
 *         CHECK_STR(peer_ask(&t->there, "lock %s 60000", t->name), "ok");
 *
 * becomes curator_exclusion.what... and gozk_exclusion.what...
 */
#ifndef HF_TEST_ZOOKEEPER_BESIDE_H
#define HF_TEST_ZOOKEEPER_BESIDE_H

#include "lab/zookeeper.h"
#include "peer.h"

struct zookeeper_beside {
    struct lab_zookeeper server;
    struct peer there;
    char url[160];
    hf_client *client;
    hf_lock *lock; /* of our client, as `order` says */
    int32_t order;
    const char *name;
};

typedef void (*zookeeper_claim)(struct zookeeper_beside *t);

/* Start a server, and the service `language` on it ("curator", "gozk"); clients
 * of the rig use it, in the sessions that `options` ask for ("session=20s").
 * Both end with the test. */
struct zookeeper_beside *zookeeper_beside_begin(const char *language,
                                                const char *options);

/* The server alone; and a service on it, before the test opens a client. */
void zookeeper_beside_serve(struct zookeeper_beside *t, const char *options);
void zookeeper_beside_start(struct zookeeper_beside *t, struct peer *p,
                            const char *language);

/* Open our client; from then on no process may be started. */
void zookeeper_beside_open(struct zookeeper_beside *t);

/* A lock of that name and order, of another client of ours. */
hf_lock *zookeeper_beside_another(const struct zookeeper_beside *t);

/* The claim, with a plain lock and with a fair one. */
void zookeeper_beside_claim(const char *language, zookeeper_claim claim);

#define ZOOKEEPER_TEST(topic, claim)                                           \
    static void topic##_##claim(struct zookeeper_beside *t);                   \
    TEST(curator_##topic, claim)                                               \
    {                                                                          \
        zookeeper_beside_claim("curator", topic##_##claim);                    \
    }                                                                          \
    TEST(gozk_##topic, claim)                                                  \
    {                                                                          \
        zookeeper_beside_claim("gozk", topic##_##claim);                       \
    }                                                                          \
    static void topic##_##claim(struct zookeeper_beside *t)

#endif
