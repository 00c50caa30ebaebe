/*
 * hash_slot.h: which slot of a cluster a key is in, and who serves it.
 *
 * Nothing here talks to anybody.  The rules are those of the cluster's
 * specification: CRC16 (XMODEM) of the key, or of what is between its first
 * '{' and the next '}' if that is not empty, modulo 16384.
 */
#ifndef HF_SLOTS_H
#define HF_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "backend/redis/link/resp.h"
#include "base/limits.h"

#define SLOTS 16384
#define SLOT_NOBODY UINT16_MAX
#define SLOT_HOST_MAX 256
#define SLOT_OWNERS_MAX CLUSTER_NODES_MAX
#define SLOT_TAG_MAX 12 /* a tag that was found, with its NUL */

uint16_t hf__slot_of(const char *key, size_t len);

/* A short text without braces, the same for everybody, that is in `slot`. */
void hf__slot_tag(uint16_t slot, char tag[SLOT_TAG_MAX]);

struct slot_owner {
    char host[SLOT_HOST_MAX]; /* "": the one that was asked */
    int port;
};

/* The whole map, as one node told it. */
struct slot_map {
    int len; /* owners */
    struct slot_owner owners[SLOT_OWNERS_MAX];
    uint16_t slots[SLOTS]; /* index of its owner, or SLOT_NOBODY */
};

/* Read the answer to CLUSTER SLOTS.  0; or -1 if it is none, or names nobody
 * at all. */
int hf__slots_read(const struct value *v, struct slot_map *out);

/* "MOVED 3999 127.0.0.1:6381" or "ASK ...": where to go. */
struct redirect {
    int is_ask;
    uint16_t slot;
    struct slot_owner to; /* host "?": it does not know either */
};

/* 1 and `out` if that is what the error says; else 0. */
int hf__redirect_read(const struct value *v, struct redirect *out);

#endif
