/*
 * play/etcd.h: etcd by its JSON gateway, as a program without a library uses
 * it.  One rule: one request for each connection.
 */
#ifndef HOLDFAST_CLI_PLAY_ETCD_H
#define HOLDFAST_CLI_PLAY_ETCD_H

#include <stddef.h>
#include <stdint.h>

/* The naive way: a lease, and the key "lock" with the client's letter if there
 * is none; or the end of the lease.  1 if it was done. */
int etcd_lock(int port, char me, int64_t lease_ms);
int etcd_unlock(int port);

/* What is stored of the lock: the letter, or the record of holdfast's oldest
 * key of it; "" if nothing is. */
void etcd_look(int port, int is_naive, char *out, size_t size);

/* Where holdfast's keys are: etcd://host:port/PREFIX. */
#define ETCD_PREFIX "lab"

#endif
