/* output.h: commands and flights, what is on its way. */
#ifndef HF_REDIS_LINK_OUTPUT_H
#define HF_REDIS_LINK_OUTPUT_H

#include "backend/redis/cluster/hash_slot.h"
#include "base/request.h"
#include "redis_scripts.h"

#define BATCH_MAX 100 /* locks renewed by one command */
#define ARGS_MAX (8 + 6 * BATCH_MAX)
#define SCRATCH_MAX (25 * 1024)
#define TAGS_KEPT 16 /* hash slots whose tags are remembered */

struct link;
struct watch;

enum flight_kind {
    FLIGHT_GREET, /* may be refused without harm: SETNAME, SCRIPT LOAD */
    FLIGHT_AUTH,
    FLIGHT_SELECT,
    FLIGHT_TIME,
    FLIGHT_REQUEST, /* reqs, by EVALSHA */
    FLIGHT_CONFIG,  /* BOOT: how often the server syncs; with req or without */
    FLIGHT_SCAN,    /* BOOT: whether locks are stored there */
    FLIGHT_AOF,     /* waitaof=1: whether what was granted is on disk */
    FLIGHT_FACTS,   /* FACTS: INFO, or TIME, which has the request */
    FLIGHT_SETTING, /* FACTS: one setting */
    FLIGHT_EVAL,    /* the same after NOSCRIPT, with the whole script */
    FLIGHT_LOOK,    /* INSPECT, LIST, VALUE_READ by EVAL_RO, after NOPERM */
    FLIGHT_SET,     /* one proposal without a fence, by SET NX PX */
    FLIGHT_SUBSCRIBE,
    FLIGHT_UNSUBSCRIBE,
    FLIGHT_PING,

    FLIGHT_MARKER,      /* whether it is a member of a quorum */
    FLIGHT_ROLE,        /* primary or replica, and its replicas */
    FLIGHT_REPLICATION, /* INFO replication */
    FLIGHT_WAIT,        /* wait=: how many replicas have what was granted */
    FLIGHT_MASTER,      /* to a Sentinel; with req or without */
    FLIGHT_PROMOTED,    /* to a Sentinel: its replicas */

    FLIGHT_ASKING, /* the next one may be served though its slot is not */
    FLIGHT_SLOTS,  /* for the owner: which node serves which slots */
    FLIGHT_SHARDED /* for the owner: whether there is SSUBSCRIBE */
};

/* One command that is not yet answered. */
struct flight {
    enum flight_kind kind;
    uint16_t slot;   /* SSUBSCRIBE: of its channel; HASH_SLOT_NONE: classic */
    uint64_t begins; /* place in the stream of its first byte */
    struct request *reqs; /* chained by `next`; answered in this order */
    struct watch *watch;  /* SUBSCRIBE; NULL: it is not wanted any more */
};

struct flights {
    struct flight *ring;
    size_t size, first, len;
};

struct bytes {
    char *data;
    size_t size, len;
};

/* A command under construction; `scratch` holds what had to be written. */
struct command {
    int argc;
    int is_full;
    size_t used;
    size_t part; /* where the argument begins that is being put together */
    const struct redis_script *script; /* what it calls, */
    enum flight_kind sent_as;          /* and how */
    const char *argv[ARGS_MAX];
    size_t lens[ARGS_MAX];
    char scratch[SCRATCH_MAX];

    int is_sliced; /* all keys of a lock must be in its slot */
    unsigned tags_next;
    struct {
        uint16_t slot;
        char tag[HASH_SLOT_TAG_MAX]; /* "" is a free place */
    } tags[TAGS_KEPT];
};

void hf__redis_cmd_begin(struct command *cmd, const char *word);
void hf__redis_cmd_text(struct command *cmd, const char *text);
/* Borrowed until the command is pushed. */
void hf__redis_cmd_bytes(struct command *cmd, const char *data, size_t len);
/* Copied. */
void hf__redis_cmd_scratch(struct command *cmd, const char *data, size_t len);
void hf__redis_cmd_number(struct command *cmd, int64_t number);
/* One argument made of several parts. */
void hf__redis_cmd_part_begin(struct command *cmd);
void hf__redis_cmd_part_text(struct command *cmd, const char *text);
void hf__redis_cmd_part_number(struct command *cmd, int64_t number);
void hf__redis_cmd_part_end(struct command *cmd);
void hf__redis_cmd_printf(struct command *cmd, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "<prefix>:{name}" by Redisson's rule; in a cluster, where that would be in
 * another slot than the name, "<prefix>:{tag}:name". */
void hf__redis_cmd_key(struct command *cmd, const char *prefix,
                       const char *name, size_t name_len);
/* "{name}:<suffix>" by Redisson's rule, or in a cluster "{tag}:name:<suffix>"
 * for the same reason. */
void hf__redis_cmd_side_key(struct command *cmd, const char *name,
                            size_t name_len, const char *suffix);
/* "<prefix>{name}", whatever braces the name has, or in a cluster
 * "<prefix>{tag}:name" for the same reason. */
void hf__redis_cmd_braced_key(struct command *cmd, const char *prefix,
                              const char *name, size_t name_len);
/* More of the last argument, which hf__redis_cmd_key() or the like has made. */
void hf__redis_cmd_more(struct command *cmd, const char *text);
/* Put it into the output.  The flight to fill in, or NULL: no memory. */
struct flight *hf__redis_link_push(struct link *l, enum flight_kind kind);
/* Write what is in the output.  Fails the link if that fails. */
void hf__redis_link_write(struct link *l);
struct flight *hf__redis_flight_first(struct link *l);
struct flight *hf__redis_flight_nth(struct link *l, size_t i);
void hf__redis_flight_drop(struct link *l);
/* 1 if the kernel has taken no byte of it. */
int hf__redis_flight_is_unsent(const struct link *l, const struct flight *f);

#endif
