/*
 * rig.h: what every behaviour test stands on: a store of its own, clients,
 * locks and threads.  One rule: whatever a test opened here is closed when it
 * ends, passed or failed, threads first.
 *
 *     rig_begin();                       the store that url= names
 *     hf_client *c = rig_client(NULL);
 *     hf_lock *l = rig_lock(c, "a");
 *
 * Checks only run on the test's own thread; workers write down what they saw.
 */
#ifndef HF_TEST_RIG_H
#define HF_TEST_RIG_H

#include <stdatomic.h>
#include <stdint.h>

#include "holdfast/holdfast.h"
#include "test.h"

#define RIG_PATIENCE_MS 60000 /* how long a process or a call may take */
#define RIG_WAIT_MS 15000     /* a worker's wait, less than the above */

/* A fresh store for this test: memory, file or redis as url= says ("memory:"
 * when nothing is said; "redis-tls" is redis over TLS, "redis-string" and
 * "redis-nofence" are redis with format=string, and with fence=off besides;
 * "redis-acl" is redis with a user of few rights, "redlock-acl" a quorum of
 * three with such a user on each;
 * "sentinel" is redis behind a Sentinel; "quorum:" is one over three memory
 * stores, "cluster" a Redis Cluster of three masters, "sqlite" a file of
 * SQLite, "postgres" a PostgreSQL server, "postgres-session" the same with
 * session=on, "postgres-shedlock" with layout=shedlock, "mysql" a MariaDB
 * server, "mysql-session" and "mysql-shedlock" as these, "etcd" an etcd,
 * "zookeeper" a ZooKeeper server).  Also arms the alarm that ends a hanging
 * test. */
void rig_begin(void);

/* The same, for a test of what not every store can do: 0 if it lacks one of
 * these HF_CAP_* bits, and there is nothing to be tested. */
int rig_begin_with(unsigned caps);

/* The same, whatever the arguments say: "memory:", "file:", "redis"... */
void rig_begin_on(const char *kind);

/* The same, on a store that the test started itself. */
void rig_begin_at(const char *url);

/* The store's URL; options may be appended after "?". */
const char *rig_url(void);

/* The directory of a file store, or NULL. */
const char *rig_dir(void);

/* Does the store have all of these HF_CAP_* bits? */
int rig_has(unsigned caps);

/* Does it carry requests out in the order in which they were sent? */
int rig_keeps_order(void);

/* Is `fence` above `last`?  In a store without fences both must be 0. */
int rig_fence_rises(uint64_t last, uint64_t fence);

/* 1 if the store is a table that another program has made for itself: it says
 * which names there are. */
int rig_is_foreign(void);

/* A client of the store, and of any URL.  NULL options: all defaults.  The test
 * is skipped if this build is without the URL's backend. */
hf_client *rig_client(const struct hf_client_options *options);
hf_client *rig_client_at(const char *url,
                         const struct hf_client_options *options);

/* One that only looks: its user has no rights but those of look=, if that is
 * said. */
hf_client *rig_looker(void);

/* Close a client (and its locks) before the test ends. */
void rig_close(hf_client *client);

/* A lock of the client. */
hf_lock *rig_lock(hf_client *client, const char *name);

/* The same, of another kind or order. */
hf_lock *rig_lock_as(hf_client *client, const char *name,
                     const struct hf_lock_options *options);

/* How long to wait, for the helpers that take a wait_ms: RIG_TRY is the flag
 * HF_..._TRY of the call, RIG_NO_LIMIT its default. */
#define RIG_TRY INT64_MIN
#define RIG_NO_LIMIT 0

/* Options for one kind of acquire: wait_ms, lease_ms and flags. */
struct hf_acquire_options rig_options(int64_t wait_ms, int64_t lease_ms,
                                      unsigned flags);

/* Options of a hold whose renewals are seen soon and that no stall ends: a
 * lease of a minute, renewed every 100 ms. */
struct hf_acquire_options rig_renewed(int64_t wait_ms);

/* hf_lock_acquire() with these, as `holder` (0: this thread). */
int rig_acquire(hf_lock *lock, uint64_t holder, int64_t wait_ms,
                hf_hold **grant);

/* One try by a fresh holder, which is no thread; released again if it was
 * granted.  Returns the status of the try. */
int rig_probe(hf_lock *lock);
/* The end of a wait does not wait for the store's answer: 1 once the lock can
 * be had; 0 if it cannot for RIG_WAIT_MS, which is less than the usual lease.
 */
int rig_until_free(hf_lock *lock);

/* hf_lock_inspect() as if `holder` asked, which is no thread; all of `info` is
 * written. */
int rig_inspect_as(hf_lock *lock, uint64_t holder, struct hf_info *info);
/* Does the store say that `holder` holds it?  -1 if it does not answer. */
int rig_is_held_by(hf_lock *lock, uint64_t holder);

/* Run fn(arg) on a thread; rig_join() waits for all of them. */
void rig_spawn(void (*fn)(void *), void *arg);
void rig_join(void);

/* Milliseconds of a clock that only goes forward. */
int64_t rig_now_ms(void);

/* Let time pass. */
void rig_pause_ms(int64_t ms);

/* Let a second pass, of which this process computes less than a quarter: what
 * waits must not turn.  A busy machine leaves it less of its time, not more. */
void rig_second_is_idle(void);

/* Wait until cond(arg) is true; 0 if it did not come true in time. */
int rig_until(int (*cond)(void *), void *arg);
int rig_until_equal(atomic_int *counter, int wanted);
int rig_until_readable(int fd, int64_t timeout_ms);

/* The same, until the hold of `holder` (0: this thread) was renewed `times`
 * more times; at once if it has no end. */
int rig_until_renewed(hf_lock *lock, uint64_t holder, int times);

/* Wait until this number of nodes of the client's quorum may vote. */
int rig_until_settled(hf_client *client, int nodes);

/* Wait until this holder's hold is in `state`. */
int rig_until_state(hf_lock *lock, uint64_t holder, int state);

#endif
