/*
 * redis_slots_fuzz.c: a server that says anything when it is asked which node
 * serves which slots, or why it does not.  Whatever it says, what is taken from
 * it is in range, and all memory is freed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis/cluster/hash_slot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hash_slot_map map;

static void map_check(void)
{
    if (map.len < 1 || map.len > HASH_SLOT_OWNERS_MAX) abort();
    for (int i = 0; i < map.len; i++) {
        const struct hash_slot_owner *o = &map.owners[i];
        if (!memchr(o->host, '\0', sizeof o->host)) abort();
        if (o->port < 1 || o->port > 65535) abort();
    }
    for (int i = 0; i < HASH_SLOTS; i++)
        if (map.slots[i] != HASH_SLOT_NONE && map.slots[i] >= map.len) abort();
}

static void redirect_check(const struct redirect *to)
{
    if (to->slot >= HASH_SLOTS || to->to.port < 1 || to->to.port > 65535)
        abort();
    if (!memchr(to->to.host, '\0', sizeof to->to.host)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader r = {0};
    const struct resp *v;
    if (hf__redis_reader_begin(&r, &hf__alloc_default) != 0) return 0;
    if (hf__redis_reader_feed(&r, (const char *)data, size) == 0)
        while (hf__redis_reader_next(&r, &v) == 1) {
            struct redirect to;
            if (hf__redis_hash_slots_read(v, &map) == 0) map_check();
            if (hf__redis_hash_slot_redirect(v, &to)) redirect_check(&to);
        }
    hf__redis_reader_free(&r);
    return hf__redis_hash_slot_of((const char *)data, size) < HASH_SLOTS ? 0
                                                                         : -1;
}
