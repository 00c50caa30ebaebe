/*
 * space.h: the stores of this process, shared by all clients that open
 * the same memory: URL, and the bells by which they wake each other.
 *
 * A space is used by several threads, each under its own client's lock.  One
 * rule: it is touched only under its own mutex, and nothing of a client is ever
 * called while that is held.
 */
#ifndef HF_MEMORY_SPACE_H
#define HF_MEMORY_SPACE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/memory/store.h"
#include "sys/bell.h"

struct ear;

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
    atomic_int is_ringing; /* so that nobody need ask the kernel */
    int64_t look_us;       /* node clock: look for ended leases then */
};

struct space {
    struct space *next;
    pthread_mutex_t mutex;
    struct store *store;
    int64_t clock_us; /* added to the wall clock */
    unsigned users;
    char name[];
};

/* The space of that name, made if there is none; NULL: no memory. */
struct space *hf__memory_space_join(const char *name);

/* Close the ear and leave; the last one frees the space. */
void hf__memory_space_leave(struct space *space, struct ear *ear);

/* The calls below need space->mutex to be held. */

/* The node's wall clock. */
int64_t hf__memory_space_now_us(const struct space *space);

/* From now on `ear` hears of `name`: HF_OK, HF_NOMEM, or HF_UNAVAILABLE with
 * errno (no fd to be had).  Until it is unwatched as each of the `kinds` (bits)
 * that it is watched as. */
int hf__memory_ear_watch(struct space *space, struct ear *ear, unsigned kinds,
                         const char *name, size_t name_len);
void hf__memory_ear_unwatch(struct space *space, struct ear *ear,
                            unsigned kinds, const char *name, size_t name_len);

/* How many connections watch `name`. */
int64_t hf__memory_ear_count(struct space *space, const char *name,
                             size_t name_len);

/* Tell all connections that watch `name`; returns how many. */
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
    int is_free; /* it was released, or may have been */
    struct note
        *notes; /* handed over: to be freed by hf__memory_ear_note_free() */
};

/* Take the next name that rang; 0 if there is none. */
int hf__memory_ear_take(struct ear *ear, struct heard *out);
/* Free the first; the next. */
struct note *hf__memory_ear_note_free(struct note *note);

#endif
