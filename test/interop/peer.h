/*
 * peer.h: a service in another language on the real library, and the Redis that
 * it shares with us.  One rule: what it is asked, it answers with one line (the
 * words are in README.md).  Here is the Java one; library.h has the others.
 *
 *     static struct lab_server r;
 *     static struct peer java;
 *     peer_begin(&java, &r, 30000);
 *     CHECK_STR(peer_ask(&java, "lock a 60000"), "ok");
 */
#ifndef HF_TEST_PEER_H
#define HF_TEST_PEER_H

#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define PEER_LEASE_MS 60000 /* a lease that must not be what ends a wait */
#define PEER_SOON_MS 10000  /* well before it */
#define PEER_START_MS 30000 /* until a virtual machine runs and has connected */

struct peer {
    struct lab_proc proc;
    char line[PROC_LINE_MAX]; /* its last answer */
    const char *language;     /* its command is the argument LANGUAGE=; java */
    int port;
    int64_t watchdog_ms; /* Redisson's lockWatchdogTimeout */
    int is_cluster;      /* Java: the server is a node of a cluster */
};

/* Start a server and the peer of it; both end with the test.  Static. */
void peer_begin(struct peer *p, struct lab_server *r, int64_t watchdog_ms);

/* A further one, before the test opens a client; in p->language, or Java. */
void peer_start(struct peer *p, const struct lab_server *r,
                int64_t watchdog_ms);

/* Tell it something, and hear the answer later: NULL if none came in time. */
void peer_say(struct peer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *peer_hear(struct peer *p, int64_t timeout_ms);

/* Does it still wait?  It was told something, and has not answered for a while.
 */
int peer_waits(struct peer *p);

/* Both at once.  The test fails if no answer comes. */
const char *peer_ask(struct peer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, for an answer that is a number. */
int64_t peer_number(struct peer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Kill it with -9, and wait until it is gone. */
void peer_kill(struct peer *p);

/* How many processes listen for the release of the lock. */
int64_t peer_waiters(struct lab_server *r, const char *name);

/* Wait until `wanted` of them do. */
int peer_until_waiters(struct lab_server *r, const char *name, int wanted);

/* A thread of ours that waits for a lock and then has it; rig_join() ends it.
 * Static. */
struct waiter {
    hf_lock *lock;
    hf_hold *hold;   /* what it got */
    int32_t backoff; /* enum hf_backoff */
    int status;
    int64_t ended_ms; /* 0: it still waits */
};

/* Start it, and come back when it sleeps. */
void waiter_start(struct waiter *w, struct lab_server *r, hf_lock *lock);

/* Start it where it listens to nobody, and come back a little later. */
void waiter_start_polling(struct waiter *w, hf_lock *lock, int32_t backoff);

/* Where waiters of both sides stand in one queue: wait until there are `wanted`
 * of them; and start one, and come back when it is the last of `wanted`. */
int lock_until_queued(hf_lock *lock, int wanted);
void waiter_start_queued(struct waiter *w, hf_lock *lock, int wanted);

#endif
