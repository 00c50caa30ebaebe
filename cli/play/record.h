/*
 * play/record.h: what happened in one run of a scene: what each participant
 * believed and did, and what the stores had.  One rule: an event has the time
 * at which it happened, in the process that it happened to, and is never
 * changed later.
 *
 * All times are microseconds of CLOCK_MONOTONIC, which all processes of a
 * machine share; those in the record count from the beginning of the run.
 */
#ifndef HOLDFAST_CLI_PLAY_RECORD_H
#define HOLDFAST_CLI_PLAY_RECORD_H

#include <stdint.h>

#define LANES_MAX 16
#define EVENTS_MAX 1024
#define EVENT_TEXT_MAX 96
#define NO_LANE (-1)
#define UNTIL_TOLD INT64_MAX /* a belief without an end of its own */

/* In the order in which they are drawn. */
enum lane_kind { LANE_CLIENT, LANE_STORE, LANE_RESOURCE };

struct lane {
    enum lane_kind kind;
    char name[40];
};

enum event_kind {
    EVENT_ASKS,     /* a client asks for the lock, and waits */
    EVENT_TAKEN,    /* a client is told that another one has it */
    EVENT_BELIEVES, /* a client believes to hold it, until `until_us` */
    EVENT_ENDS,     /* a client stops believing it; `text` says why */
    EVENT_PAUSED,   /* a client or a store is stopped (SIGSTOP) */
    EVENT_RESUMED,
    EVENT_KILLED,   /* a client or a store is killed (SIGKILL) */
    EVENT_STARTED,  /* a store runs again */
    EVENT_HAS,      /* a store: client `other` has the lock, or NO_LANE */
    EVENT_ACCEPTED, /* a resource took a write of client `other` */
    EVENT_REFUSED,  /* a resource refused a write of client `other` */
    EVENT_NOTE      /* something else, in words */
};

struct event {
    int64_t at_us;
    int64_t until_us; /* of EVENT_BELIEVES */
    uint64_t fence;   /* of EVENT_BELIEVES and of writes; 0: none */
    int kind;         /* enum event_kind */
    int lane;
    int other; /* a lane; NO_LANE */
    char text[EVENT_TEXT_MAX];
};

struct record {
    int64_t began_us; /* of CLOCK_MONOTONIC */
    int64_t ended_us; /* since then */
    struct lane lanes[LANES_MAX];
    int lanes_len;
    struct event events[EVENTS_MAX];
    int events_len;
};

int64_t record_now_us(void);

/* The number of a new lane; NO_LANE if there are too many. */
int record_lane(struct record *r, enum lane_kind kind, const char *name);

/* Keep an event; its times are of CLOCK_MONOTONIC.  Returns the kept event.  If
 * the record is full, the last event is overwritten. */
const struct event *record_event(struct record *r, const struct event *e);

/* A time with something on a lane: a bar of the drawing. */
enum bar_kind { BAR_WAITS, BAR_BELIEVES, BAR_HAS, BAR_PAUSED, BAR_DOWN };

struct bar {
    enum bar_kind kind;
    int lane;
    int other; /* BAR_HAS: the client */
    int64_t from_us, to_us;
    uint64_t fence;
};
#define BARS_MAX 256

/* Fill in the bars of a record, in the order in which they begin.  Returns
 * their number. */
int record_bars(const struct record *r, struct bar bars[BARS_MAX]);

/* A time in which two clients believed to hold the lock. */
struct overlap {
    int64_t from_us, to_us;
    int lanes[2];
};
#define OVERLAPS_MAX 64
int record_overlaps(const struct record *r,
                    struct overlap overlaps[OVERLAPS_MAX]);

/* Fences are long numbers, of which only the order counts: the place of this
 * one among those of the record, from 1. */
int record_fence_place(const struct record *r, uint64_t fence);

/* 1 if this write was accepted from a client although another one was granted
 * the lock later, and before the write. */
int record_is_stale(const struct record *r, const struct event *write);

#endif
