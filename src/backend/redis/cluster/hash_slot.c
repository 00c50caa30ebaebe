/*
 * hash_slot.c: hash slots, and the nodes that serve them.  One rule: what a
 * server says is believed only if every number in it is in its range.
 */
#include "backend/redis/cluster/hash_slot.h"
#include "backend/redis/link/resp.h"

#include <stdio.h>
#include <string.h>

/* ---- keys ---- */

/* x^16 + x^12 + x^5 + 1, most significant bit first, four bits at a time. */
static uint16_t crc16(const char *data, size_t len)
{
    static const uint16_t table[16] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
        0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};
    unsigned crc = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = (unsigned char)data[i];
        crc = ((crc << 4) ^ table[((crc >> 12) ^ (byte >> 4)) & 15]) & 0xffff;
        crc = ((crc << 4) ^ table[((crc >> 12) ^ byte) & 15]) & 0xffff;
    }
    return (uint16_t)crc;
}

uint16_t hf__redis_hash_slot_of(const char *key, size_t len)
{
    const char *open = memchr(key, '{', len);
    if (open) {
        const char *tag = open + 1;
        size_t rest = len - (size_t)(tag - key);
        const char *end = memchr(tag, '}', rest);
        if (end && end > tag) {
            key = tag;
            len = (size_t)(end - tag);
        }
    }
    return crc16(key, len) % HASH_SLOTS;
}

/* Every slot has a tag below 10^6.  Finding it takes up to some hundred
 * thousand hashes, so a caller that needs it often remembers it. */
void hf__redis_hash_slot_tag(uint16_t slot, char tag[HASH_SLOT_TAG_MAX])
{
    for (unsigned n = 0;; n++) {
        int len = snprintf(tag, HASH_SLOT_TAG_MAX, "%u", n);
        if (crc16(tag, (size_t)len) % HASH_SLOTS == slot) return;
    }
}

/* ---- CLUSTER SLOTS ---- */

static int host_copy(struct hash_slot_owner *owner, const char *text,
                     size_t len)
{
    if (len >= sizeof owner->host || memchr(text, '\0', len)) return -1;
    memcpy(owner->host, text, len);
    owner->host[len] = '\0';
    return 0;
}

/* {host, port, id...}; a host that it does not know is nil or empty. */
static int owner_read(const struct resp *v, struct hash_slot_owner *out)
{
    if (!hf__redis_resp_is_array(v, 2)) return -1;
    const struct resp *host = hf__redis_resp_at(v, 0);
    int64_t port = hf__redis_resp_number_at(v, 1, 0);
    if (port < 1 || port > 65535) return -1;
    out->port = (int)port;
    out->host[0] = '\0';
    if (host->type == RESP_NIL) return 0;
    if (host->type != RESP_STRING) return -1;
    return host_copy(out, host->text, host->len);
}

/* The owner's index; added if it is new; -1: there are too many. */
static int owner_index(struct hash_slot_map *map,
                       const struct hash_slot_owner *owner)
{
    for (int i = map->len - 1; i >= 0; i--)
        if (map->owners[i].port == owner->port
            && !strcmp(map->owners[i].host, owner->host))
            return i;
    if (map->len == HASH_SLOT_OWNERS_MAX) return -1;
    map->owners[map->len] = *owner;
    return map->len++;
}

/* {first, last, master, replicas...} */
static int range_read(const struct resp *v, struct hash_slot_map *map)
{
    struct hash_slot_owner owner;
    if (!hf__redis_resp_is_array(v, 3)) return -1;
    int64_t first = hf__redis_resp_number_at(v, 0, -1);
    int64_t last = hf__redis_resp_number_at(v, 1, -1);
    if (first < 0 || last < first || last >= HASH_SLOTS) return -1;
    if (owner_read(hf__redis_resp_at(v, 2), &owner) != 0) return -1;
    /* The node has no address: its slots are not served for now. */
    if (!strcmp(owner.host, "?")) return 0;
    int i = owner_index(map, &owner);
    if (i < 0) return -1;
    for (int64_t slot = first; slot <= last; slot++)
        map->slots[slot] = (uint16_t)i;
    return 0;
}

int hf__redis_hash_slots_read(const struct resp *v, struct hash_slot_map *out)
{
    out->len = 0;
    for (int i = 0; i < HASH_SLOTS; i++) out->slots[i] = HASH_SLOT_NONE;
    if (!hf__redis_resp_is_array(v, 1)) return -1;
    for (const struct resp *range = v->first; range; range = range->next)
        if (range_read(range, out) != 0) return -1;
    return out->len > 0 ? 0 : -1;
}

/* ---- redirections ---- */

/* Up to `most`, and a blank or the end behind it; NULL if it is no number. */
static const char *number_read(const char *p, int most, int *out)
{
    int n = 0;
    if (*p < '0' || *p > '9') return NULL;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (*p - '0');
        if (n > most) return NULL;
    }
    *out = n;
    return *p == ' ' ? p + 1 : *p ? NULL : p;
}

int hf__redis_hash_slot_redirect(const struct resp *v, struct redirect *out)
{
    int slot;
    if (v->type != RESP_ERROR) return 0;
    int is_moved = !strncmp(v->text, "MOVED ", 6);
    out->is_ask = !strncmp(v->text, "ASK ", 4);
    if (!is_moved && !out->is_ask) return 0;
    const char *to =
        number_read(v->text + (is_moved ? 6 : 4), HASH_SLOTS - 1, &slot);
    /* The last colon: an IPv6 address has others. */
    const char *colon = to ? strrchr(to, ':') : NULL;
    if (!colon || !number_read(colon + 1, 65535, &out->to.port)) return 0;
    if (out->to.port == 0) return 0;
    out->slot = (uint16_t)slot;
    return host_copy(&out->to, to, (size_t)(colon - to)) == 0;
}
