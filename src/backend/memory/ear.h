/*
 * ear.h: which connections of a space are told when a lock becomes free.
 */
#ifndef HF_MEMORY_EAR_H
#define HF_MEMORY_EAR_H

#include <stdatomic.h>

#include "backend/memory/space.h"
#include "sys/bell.h"

/* A lock that was handed over to one of an ear's owners, until it is heard. */
struct note {
    struct note *next;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t ballot;
    int64_t fence;
    int64_t lease_us;
};

/* One connection's wish to be told about one name. */
struct watch {
    struct ear *ear;
    struct watch *next_of_name;
    struct watch *next_of_ear;
    struct watch **link_of_ear; /* what points to it */
    struct watch *next_rung;
    int is_rung;        /* is in its ear's list */
    int is_armed;       /* the lock was seen held: its expiry is news */
    int is_free;        /* rung: and it may be free, not only handed over */
    struct note *notes; /* rung: what was handed over, the last first */
    unsigned kinds;     /* as which it is watched, by bit of enum lock_kind */
    size_t name_len;
    char name[];
};

/* One connection's ear: what it listens for, and what it has heard. */
struct ear {
    const struct allocator *alloc;
    const char *uuid; /* of its client: owners begin with it; or NULL */
    struct bell bell; /* opened with the first watch; fds -1 until then */
    struct watch *watches;
    struct watch *rung;    /* names to wake */
    atomic_int is_ringing; /* so that no thread need ask the kernel */
    int64_t look_us;       /* node clock: look for ended leases then */
};

/* The calls below need space->mutex to be held, unless they say otherwise. */

/* From now on `ear` hears of `name`, until it is unwatched as each of the
 * `kinds` (bits) that it is watched as.  HF_OK, HF_NOMEM, or HF_UNAVAILABLE
 * with errno: there is no fd to be had. */
int hf__memory_ear_watch(struct space *space, struct ear *ear, unsigned kinds,
                         const char *name, size_t name_len);
void hf__memory_ear_unwatch(struct space *space, struct ear *ear,
                            unsigned kinds, const char *name, size_t name_len);

/* The number of connections that watch `name`. */
int64_t hf__memory_ear_count(struct space *space, const char *name,
                             size_t name_len);

/* Tell all connections that watch `name`; returns their number. */
int64_t hf__memory_ear_ring(struct space *space, const char *name,
                            size_t name_len);

/* Tell the waiter that the lock was handed to, if it listens. */
void hf__memory_ear_hand(struct space *space, const struct handoff *h);

/* `ear` met `name` held until `expires_us`: look again then. */
void hf__memory_ear_arm(struct space *space, struct ear *ear, const char *name,
                        size_t name_len, int64_t expires_us);

/* Ring for the watched leases of `ear` that are over; sets the next look. */
void hf__memory_ear_look(struct space *space, struct ear *ear);

/* What an ear heard of a name. */
struct heard {
    char name[NAME_LEN_MAX + 1]; /* NUL behind it */
    size_t name_len;
    int is_free;        /* it was released, or may have been */
    struct note *notes; /* handed over: hf__memory_ear_note_free() */
};

/* Take the next name that rang; 0 if there is none. */
int hf__memory_ear_take(struct ear *ear, struct heard *out);

/* Free the first one; returns the next.  Needs no mutex. */
struct note *hf__memory_ear_note_free(struct note *note);

/* Unwatch everything and close its bell.  Takes space->mutex. */
void hf__memory_ear_close(struct space *space, struct ear *ear);

#endif
