/*
 * hash_slot.h: which slot of a cluster a key is in, and the node that
 * serves it.
 *
 * Nothing here talks to a server.  The rules are those of the cluster's
 * specification: CRC16 (XMODEM) of the key, or of what is between its first
 * '{' and the next '}' if that is not empty, modulo 16384.
 */
#ifndef HF_REDIS_HASH_SLOT_H
#define HF_REDIS_HASH_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "backend/redis/link/resp.h"
#include "base/limits.h"

#define HASH_SLOTS 16384
#define HASH_SLOT_NONE UINT16_MAX
#define HASH_SLOT_HOST_MAX 256
#define HASH_SLOT_OWNERS_MAX CLUSTER_NODES_MAX
#define HASH_SLOT_TAG_MAX 12 /* a tag that was found, with its NUL */

uint16_t hf__redis_hash_slot_of(const char *key, size_t len);

/* A short text without braces that is in `slot`; every client finds the same.
 */
void hf__redis_hash_slot_tag(uint16_t slot, char tag[HASH_SLOT_TAG_MAX]);

struct hash_slot_owner {
    char host[HASH_SLOT_HOST_MAX]; /* "": the one that was asked */
    int port;
};

/* The whole map, as one node told it. */
struct hash_slot_map {
    int len; /* owners */
    struct hash_slot_owner owners[HASH_SLOT_OWNERS_MAX];
    uint16_t slots[HASH_SLOTS]; /* index of its owner, or HASH_SLOT_NONE */
};

/* Read the answer to CLUSTER SLOTS.  0; or -1 if it is none, or names no
 * node at all. */
int hf__redis_hash_slots_read(const struct resp *v, struct hash_slot_map *out);

/* "MOVED 3999 127.0.0.1:6381" or "ASK ...": where to go. */
struct redirect {
    int is_ask;
    uint16_t slot;
    struct hash_slot_owner to; /* host "?": the server does not know it */
};

/* 1 and `out` if that is what the error says; else 0. */
int hf__redis_hash_slot_redirect(const struct resp *v, struct redirect *out);

#endif
