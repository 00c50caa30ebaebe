/*
 * library.h: a lock library of another language that keeps its locks in plain
 * strings, and the Redis that it shares with us.  One rule: every claim is made
 * once, and tested with each of them.
 *
 *     LIBRARY_TEST(exclusion, what_it_holds_we_cannot_take)
 *     {
 *         CHECK_STR(peer_ask(&t->there, "lock a 60000"), "ok");
 *
 * becomes redsync_exclusion.what..., bsm_redislock_exclusion.what...,
 * redis_py_exclusion.what... and node_redlock_exclusion.what...
 */
#ifndef HF_TEST_LIBRARY_H
#define HF_TEST_LIBRARY_H

#include "peer.h"

struct library {
    struct lab_server server;
    struct peer there;
};

/* Start a server, and the library's service on it; clients of the rig share its
 * format.  Both end with the test. */
struct library *library_begin(const char *language);

/* The server alone. */
void library_serve(struct lab_server *r);

/* A further client of ours: the format, and `options` ("&fence=off"). */
hf_client *library_client(struct library *t, const char *options);

#define LIBRARY_TEST(topic, claim)                                             \
    static void topic##_##claim(struct library *t);                            \
    TEST(redsync_##topic, claim)                                               \
    {                                                                          \
        topic##_##claim(library_begin("go"));                                  \
    }                                                                          \
    TEST(bsm_redislock_##topic, claim)                                         \
    {                                                                          \
        topic##_##claim(library_begin("redislock"));                           \
    }                                                                          \
    TEST(redis_py_##topic, claim)                                              \
    {                                                                          \
        topic##_##claim(library_begin("py"));                                  \
    }                                                                          \
    TEST(node_redlock_##topic, claim)                                          \
    {                                                                          \
        topic##_##claim(library_begin("node"));                                \
    }                                                                          \
    static void topic##_##claim(struct library *t)

#endif
