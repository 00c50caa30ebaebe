/*
 * nodes.h: the engine's side of each server: its connection, the requests that
 * are on their way, its clock, and whether it may vote.
 */
#ifndef HF_ENGINE_NODES_H
#define HF_ENGINE_NODES_H

#include "backend/backend.h"
#include "holdfast/client.h"

struct engine;
struct lock_entry;

/* May the node vote?  Always, if it is the only one. */
enum stand {
    STAND_UNKNOWN,     /* it has not been asked, or has not answered */
    STAND_QUARANTINED, /* not before its time */
    STAND_SETTLED,
    STAND_REFUSED /* never: last_error says why */
};

/* A reply that told the time; see clocks.c. */
struct clock_sample {
    int64_t sent_us, heard_us; /* by this host's clock; 0: no reply so far */
    int64_t node_us;
};

struct node {
    struct backend_env env; /* first */
    struct engine *engine;
    int index;
    int is_host; /* it is the node of struct host */
    const struct backend *backend;
    struct backend_conn *conn;
    int dirty; /* submitted, not flushed */
    int up;
    int tried; /* it was up, or could not be connected to */
    int clock_known;
    int64_t offset_us; /* node's wall clock - this host's */
    int64_t timer_us;
    struct request *again, *again_last; /* to be repeated, oldest first */
    size_t again_len;
    size_t releases; /* number of releases on their way */
    int drop_told;   /* the log says that older releases are not kept */
    int64_t again_us;
    struct hf_error last_error;

    /* A member of a quorum. */
    const struct backend_conf *conf; /* its own; NULL: the engine's */
    const char *url;                 /* borrowed, for texts; without secrets */
    enum stand stand;
    struct boot boot;       /* what it last said of itself */
    int64_t quarantined_us; /* end of its quarantine, by its marker */
    int64_t blind_us;       /* end of its quarantine if it cannot tell whether
                             * it was restarted */
    int64_t boot_us;        /* ask it then */
    unsigned boot_flags;    /* REQ_BOOT_* */
    int boot_open;          /* asked, unanswered */
    int was_member;         /* its marker was read, and is of this group */
    int is_blank;           /* it has no marker, and none is being written */
    int misplaced_told;     /* the log says that it has no vote: no member */
    struct clock_sample sample;
    int suspect;           /* replies that say its clock was set forward */
    int64_t suspect_us;    /* when the last of them came */
    int64_t suspect_by_us; /* by how much at least */
};

/* Which part of the engine gets the answer to a request: `user_kind`. */
enum request_user { USER_SEAT, USER_OP, USER_ENTRY, USER_NODE };

/* What a client that closes has to wait for. */
enum owed {
    OWED_NOTHING,
    OWED_BY_FEW, /* most of a quorum have answered: the others need not */
    OWED_BY_MOST
};

int hf__node_open(struct engine *e, struct node *n, int index,
                  const struct backend *backend, const struct url *url,
                  struct hf_error *err);
enum hf_link hf__node_link(const struct engine *e, const struct node *n);
/* All nodes, the host's last: `n` NULL for the first; NULL at the end. */
struct node *hf__node_next(struct engine *e, const struct node *n);
/* Note why the node does not do what it is asked for. */
void hf__node_failed(struct node *n, int status, const char *text);
/* Tell the request's user the answer; the request is spare afterwards. */
void hf__node_answer(struct engine *e, struct node *n, struct request *r,
                     const struct reply *rep);

void hf__nodes_tick(struct engine *e); /* their timers, and repetitions */
int64_t hf__nodes_next_us(const struct engine *e);
enum owed hf__nodes_owe(const struct engine *e);
void hf__nodes_shut(struct engine *e); /* give up what was to be repeated */
void hf__nodes_close(struct engine *e);

struct request *hf__request_new(struct engine *e);
int hf__request_reserve(struct engine *e); /* 0 or -1 */
void hf__request_free(struct engine *e, struct request *r);
void hf__request_send(struct engine *e, struct node *n, struct request *r);

/* May locks of this entry's store be asked for: is its clock known, and may
 * enough members vote? */
int hf__nodes_are_ready(const struct engine *e, const struct lock_entry *entry);

#endif
