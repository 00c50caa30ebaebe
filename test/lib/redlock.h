/*
 * redlock.h: a quorum over the servers of five.h, and what is stored on each of
 * them.  One rule: whether a lock is there is asked of the server itself, past
 * its proxy, never of a client.
 *
 *     static struct redlock r;
 *     redlock_begin(&r, 5000);
 *     hf_lock *l = rig_lock(redlock_client(&r, NULL), "a");
 *     five_kill(&r.five, 2);
 */
#ifndef HF_TEST_REDLOCK_H
#define HF_TEST_REDLOCK_H

#include "lib/five.h"
#include "lib/rig.h"

#define REDLOCK_NODES 5

struct redlock {
    struct lab_masters five;
    char url[32 * FIVE_MAX + 16]; /* redlock:// over the proxies */
    int64_t max_lease_ms;
};

/* Start five servers, with the word that they are new members; no lease may be
 * longer than `max_lease_ms`, and a quarantine takes about as long (but not
 * less than 2.5 s).  `r` static. */
void redlock_begin(struct redlock *r, int64_t max_lease_ms);

/* A client of it, with leases of `lease_ms` (0: the longest) and whatever else
 * `options` say (may be NULL); it is as patient as a test. */
hf_client *redlock_newcomer(struct redlock *r, int64_t lease_ms,
                            const struct hf_client_options *options);

/* The same, once it knows all five, each of which may vote. */
hf_client *redlock_client(struct redlock *r, int64_t lease_ms,
                          const struct hf_client_options *options);

/* How a node looks to a client, once the client has talked to its nodes: an
 * idle client does not read what they say. */
struct hf_node redlock_node(hf_client *c, int node);

/* How many may vote, as the client sees it; and wait until it is so. */
int redlock_voters(hf_client *c);
int redlock_until_voters(hf_client *c, int wanted);

/* Wait until this node is known to wait for its quarantine. */
int redlock_until_quarantined(hf_client *c, int node);

/* Is this lock stored on that server?  Wait until it is (1), or is not (0). */
int redlock_has(struct redlock *r, int node, const char *name);
int redlock_until_has(struct redlock *r, int node, const char *name,
                      int wanted);

/* Wait until no server has it; all must be running.  0 if not in time. */
int redlock_until_gone(struct redlock *r, const char *name);

/* From when on a server votes, by its own clock, as its marker says (us). */
int64_t redlock_settled_us(struct redlock *r, int node);

/* Acquire, check that the token is above `fence`, release.  Returns it. */
uint64_t redlock_use(hf_lock *lock, uint64_t fence);

/* The same `times` times; returns how long all took, in milliseconds. */
int64_t redlock_use_often(hf_lock *lock, int times);

#endif
