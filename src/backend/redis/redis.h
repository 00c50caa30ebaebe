/*
 * redis.h: what the files of the redis backend share.
 *
 * A connection (struct backend_conn) has two links: `main` carries requests,
 * pipelined, first in first out; `sub` carries the subscriptions and is opened
 * by the first OP_WATCH.  Requests wait in `queue` until main is up; whatever
 * has been put into a link's output is a flight until its answer is there.
 */
#ifndef HF_REDIS_H
#define HF_REDIS_H

#include "backend/backend.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/link/resp.h"
#include "backend/redis/cluster/hash_slot.h"
#include "net/resolve.h"
#include "net/tls.h"
#include "redis_scripts.h"

#define REDIS_PORT 6379
/* What needs more keys than a string has. */
#define REDIS_KINDS (HF_CAP_RW | HF_CAP_QUEUE | HF_CAP_PERMIT | HF_CAP_TALLY)
#define ENDPOINT_MAX 160 /* "redis://host:port" in texts, cut if longer */
#define BATCH_MAX 100    /* locks renewed by one command */
/* Those with side keys, whose names have to be written out. */
#define BATCH_MAX_SIDE 16
#define BATCH_MAX_RW 28
#define ARGS_MAX (8 + 6 * BATCH_MAX)
#define SCRATCH_MAX (25 * 1024)
#define LIST_COUNT "100"             /* keys looked at for one page */
#define PING_US (10 * US_PER_S)      /* silence after which sub is asked */
#define PING_LIMIT_US (5 * US_PER_S) /* and how long it may take to answer */
#define READ_SIZE (16 * 1024)
#define BOOT_KEY "holdfast:boot" /* the marker of a quorum's member */
/* Options of every scheme whose servers speak Redis. */
#define LINK_OPTIONS                                                           \
    "password_file tls tls_ca tls_cert tls_key tls_key_password_file "         \
    "tls_name tls_verify"
#define STRING_MARK "hf1:" /* how a lock of ours begins that is a string */

/* Of a URL. */
#define REDIS_OPTIONS "db format fence waitaof wait wait_renew " LINK_OPTIONS
#define TAGS_KEPT 16 /* slots whose tags are remembered */
#define REPLICAS_MAX 1000

/* In request.priv, for a connection with an owner: ASKING goes before it. */
#define PRIV_ASKING 0x80000000u
/* The same: it is asked of the lock's key alone, for the counter is, or was,
 * on another server. */
#define PRIV_ALONE 0x40000000u
/* In request.priv: its script said that somebody queues. */
#define PRIV_QUEUE 0x20000000u
/* The same: it is sent without the keys of the queue, which the user lacks. */
#define PRIV_PAST_QUEUE 0x10000000u

enum link_state {
    LINK_DOWN,       /* no socket; due_us is the next try, or never */
    LINK_FAILED,     /* a try failed where nobody may be told; due at once */
    LINK_RESOLVING,  /* fd tells when the name is resolved */
    LINK_CONNECTING, /* fd is a socket under way */
    LINK_SECURING,   /* connected; the handshake of TLS is under way */
    LINK_GREETING,   /* connected; AUTH, SELECT and so on are answered */
    LINK_UP
};

enum flight_kind {
    FLIGHT_GREET, /* may be refused without harm: SETNAME, SCRIPT LOAD */
    FLIGHT_AUTH,
    FLIGHT_SELECT,
    FLIGHT_TIME,
    FLIGHT_REQUEST, /* reqs, by EVALSHA */
    FLIGHT_CONFIG,  /* BOOT: how often the server syncs; with req or without */
    FLIGHT_SCAN,    /* BOOT: are locks stored there? */
    FLIGHT_AOF,     /* waitaof=1: is what was granted on disk? */
    FLIGHT_FACTS,   /* FACTS: INFO, or TIME, which has the request */
    FLIGHT_SETTING, /* FACTS: one setting */
    FLIGHT_EVAL,    /* the same after NOSCRIPT, with the whole script */
    FLIGHT_LOOK,    /* INSPECT, LIST, VALUE_READ by EVAL_RO, after NOPERM */
    FLIGHT_SET,     /* one proposal without a fence, by SET NX PX */
    FLIGHT_SUBSCRIBE,
    FLIGHT_UNSUBSCRIBE,
    FLIGHT_PING,

    FLIGHT_MARKER,      /* is it a member of a quorum? */
    FLIGHT_ROLE,        /* primary or replica, and who follows it */
    FLIGHT_REPLICATION, /* INFO replication */
    FLIGHT_WAIT,        /* wait=: how many replicas have what was granted? */
    FLIGHT_MASTER,      /* to a Sentinel; with req or without */
    FLIGHT_PROMOTED,    /* to a Sentinel: its replicas */

    FLIGHT_ASKING, /* the next one may be served though its slot is not */
    FLIGHT_SLOTS,  /* the owner's question: who serves which slots? */
    FLIGHT_SHARDED /* and: is there SSUBSCRIBE? */
};

/* One command that is not yet answered. */
struct flight {
    enum flight_kind kind;
    uint16_t slot;   /* SSUBSCRIBE: of its channel; HASH_SLOT_NOBODY: classic */
    uint64_t begins; /* place in the stream of its first byte */
    struct request *reqs; /* chained by `next`; answered in this order */
    struct watch *watch;  /* SUBSCRIBE; NULL: nobody waits for it any more */
};

struct flights {
    struct flight *ring;
    size_t size, first, len;
};

struct bytes {
    char *data;
    size_t size, len;
};

struct backend_conn;

/* One socket and what is on its way. */
struct link {
    struct backend_conn *c;
    int is_sub;
    enum link_state state;
    int fd;
    struct tls *tls;     /* what goes over fd; NULL: in the clear */
    unsigned watching;   /* WATCH_*: what env->watch() was told */
    unsigned life;       /* counts the sockets, so that a loop notices */
    int64_t due_us;      /* what the state waits for: a try, a limit */
    int64_t give_up_us;  /* the whole try must be through by then */
    int64_t retry_us;    /* no new try before this */
    unsigned failures;   /* tries since it was last up */
    unsigned extensions; /* of this try, see late_look() */
    int64_t asked_us;    /* when TIME was asked for */
    int64_t active_us;   /* last time anything came or went */
    int64_t owed_us;     /* since when the server owes us a word, if it does */
    struct hf_error err; /* why it is not up */
    struct resolved addrs;
    int addr_next;
    int64_t node_us; /* the server's clock, as it was last told */
    int64_t told_us; /* main: when that came in */
    struct reader in;
    struct bytes out;
    size_t out_done;   /* bytes of `out` the kernel has */
    uint64_t out_base; /* place in the stream of out.data[0] */
    struct flights flights;
    int64_t ping_us; /* sub: last sign of life, or the ping's time */
    int ping_sent;
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

/* A watched name, as one kind.  Two may share a channel: "a" and "{a}", readers
 * and writers. */
struct watch {
    struct watch *next;  /* in its bucket */
    struct request *req; /* OP_WATCH not yet answered */
    enum lock_kind kind;
    int subscribed;
    struct watch *half; /* of a name for which somebody queues there are two:
                         * the lock's channel, and that of this client */
    int is_own;         /* it is the latter */
    int is_loose;       /* its half is gone */
    size_t name_len;
    size_t channel_len;
    char *channel; /* in the same allocation */
    char name[];
};

struct watches {
    struct watch **buckets;
    size_t size, len;
};

/* What the server says of its role; see replica/role.c. */
struct replication {
    char id[41];      /* the replication id, as it was last told; or "" */
    int is_known;     /* this link: a primary, with so many replicas */
    int is_id_known;  /* this link: it told its id */
    int is_changed;   /* it is not the id of the last link */
    int has_changed;  /* that was so at any time */
    int is_moved;     /* it has another address than the last */
    int was_up;       /* not the first link */
    int64_t counted;  /* how many follow it */
    int64_t replicas; /* or did a while ago */
    int64_t most_us;  /* when there were so many */
};

struct request_list {
    struct request *first, *last;
};

/* Who has this connection as one of his own: cluster*.c. */
struct redis_owner {
    /* `v` is an error, and `req` was not carried out.  1: the owner has taken
     * the request back; 0: it is answered as usual. */
    int (*refused)(struct backend_conn *c, struct request *req,
                   const struct resp *v);
    /* The server has ended the subscription of this name, as this kind. */
    void (*unwatched)(struct backend_conn *c, enum lock_kind kind,
                      const char *name, size_t name_len);
    /* The answer to hf__redis_ask(). */
    void (*told)(struct backend_conn *c, enum flight_kind kind,
                 const struct resp *v);
};

struct backend_conn {
    struct backend_env *env;
    char *endpoint;          /* "redis://127.0.0.1:6379" */
    char *host;              /* or the socket's path */
    char *user, *password;   /* NULL if none */
    char *password_file;     /* read at every connect; NULL if none */
    int file_was_told;       /* that others may read it */
    struct tls_context *tls; /* NULL: in the clear */
    int port;
    int is_unix;
    int is_tls;
    int is_string;        /* format=string */
    int no_fence;         /* fence=off */
    int waits_aof;        /* waitaof=1 */
    int64_t aof_replicas; /* waitaof=1,k: so many besides */
    int is_sliced;        /* it checks slots: no command for two locks */
    int queue_is_denied;  /* on this link the user may not look who queues */
    int member_is_meant;  /* member=ok */
    int quorum_of;        /* members of the quorum it belongs to; 0 none */
    int db;
    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;

    int64_t wait;    /* wait=: 0 no, > 0 so many, < 0 see replica/wait.c */
    int wait_renews; /* wait_renew=on */
    int wait_is_due; /* a WAIT is to go out with this flush */
    unsigned wait_failures;     /* in a row: replicas were missing */
    int64_t wait_by_us;         /* it must be answered by then, */
    int64_t wait_most_us;       /* and take no longer than this */
    struct request_list parked; /* granted, if the replicas have it */
    struct replication repl;
    int is_led;                  /* told where to connect: hf__redis_lead() */
    const struct bounds *bounds; /* a server named the host; NULL: the user */
    struct master *master; /* of a Sentinel's connection: its last answer */

    struct link main, sub;
    struct request_list unsent;   /* not yet in main's output */
    struct request_list watching; /* OP_WATCH and OP_UNWATCH, not yet begun */
    struct watches watches;
    enum verdict watch_verdict; /* what hf__redis_watch_down() answers */
    int watch_denied;           /* it was said in the log */
    int watch_starved;          /* hf__redis_watch_up() ran out of memory */
    int64_t request_due_us;     /* no request ends before this */
    int64_t timer_us;           /* what env->timer() was told */
    int syncs_always;           /* BOOT: the first answer to CONFIG */
    struct boot boot;           /* lent with a reply */
    struct reply aof_reply;     /* a grant that waits for the disk */
    struct bytes facts;         /* FACTS: what was told so far */
    struct command cmd;
    struct hf_info info;     /* lent with a reply */
    struct tally_told tally; /* the same */
    struct list_row *rows;   /* lent with a page of a list */
    size_t rows_size;
    char text[HF_ERROR_TEXT_MAX];

    const struct redis_owner *owner; /* NULL: it stands alone */
    int is_sharded; /* messages stay with the slot's servers: SSUBSCRIBE */
    int is_both;    /* pubsub=both: they also go to all servers: PUBLISH */
    int hears_both; /* SUBSCRIBE, too: Redisson before 3.28 may hold locks */
    uint64_t heard; /* channel of the sharded message just read, hashed; 0 */
    const struct resp *unsharded; /* the channel that has moved away */
};

/* ---- redis.c ---- */
void hf__redis_answer(struct backend_conn *c, struct request *req,
                      const struct reply *reply);
/* Answer a whole chain alike. */
void hf__redis_answer_all(struct backend_conn *c, struct request *reqs,
                          enum verdict verdict, int status, const char *text);
void hf__redis_list_push(struct request_list *list, struct request *req);
struct request *hf__redis_list_take(struct request_list *list);

/* ---- link/tls.c: the options about TLS ---- */
/* Is it asked for?  Fills in c->is_tls. */
int hf__redis_tls_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Make the context, if so; c->endpoint is known already. */
int hf__redis_tls_open(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);

/* ---- link/auth.c: user and password ---- */
/* Take them from the client's options, or else from the URL. */
int hf__redis_auth_open(struct backend_conn *c, const struct url *url,
                        struct hf_error *err);
/* Before each greeting: a password in a file may be another one by now. */
int hf__redis_auth_refresh(struct backend_conn *c, struct hf_error *err);
/* To the log: others may read the file. */
void hf__redis_file_tell(struct backend_env *env, const char *what,
                         const char *path);
/* Open it, and connect later. */
int hf__redis_open_idle(struct backend_env *env, const struct url *url,
                        struct backend_conn **out, struct hf_error *err);
/* ---- url.c ---- */
int hf__redis_url_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Set host and endpoint by the URL.  0, or -1: no memory. */
int hf__redis_url_host(struct backend_conn *c, const struct url *url);
/* Set host, port and endpoint.  0, or -1: no memory. */
int hf__redis_host_set(struct backend_conn *c, const char *host, int port);

/* ---- member/alone.c: members of a quorum, met alone ---- */
int hf__redis_member_greet(struct link *l);
/* How many members the quorum of a marker has; 0: it is no marker. */
int hf__redis_member_count(const struct resp *v);
/* Why it is not asked for what it could grant past its quorum; or NULL. */
const char *hf__redis_member_refusal(struct backend_conn *c,
                                     const struct request *req, char *text,
                                     size_t size);

/* ---- sentinel/ask.c: for Sentinels ---- */
void hf__redis_ask_send(struct backend_conn *c, struct request *req);
void hf__redis_ask_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

/* Answer what is late.  Returns whether it was time to look. */
int hf__redis_expire(struct backend_conn *c, int64_t now_us);
/* Let everything out that may go out, and set the timer. */
void hf__redis_let_out(struct backend_conn *c);
void hf__redis_timer_set(struct backend_conn *c);

/* ---- link/link.c: a link's life ---- */
void hf__redis_link_init(struct link *l, struct backend_conn *c, int is_sub);
/* Begin to connect, now.  Tells nobody of a failure: see LINK_FAILED. */
void hf__redis_link_start(struct link *l);
/* The link is broken: tell everybody concerned, and try again later. */
void hf__redis_link_fail(struct link *l, int status, int sys_errno,
                         const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A try failed where callbacks are not allowed: the timer tells. */
void hf__redis_link_fail_later(struct link *l, int status, int sys_errno,
                               const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int hf__redis_link_ready(struct link *l, unsigned ready);
int hf__redis_link_timer(struct link *l, int64_t now_us);
void hf__redis_link_watch(struct link *l, unsigned events);
/* Close the socket and forget what was on its way, telling nobody. */
void hf__redis_link_close(struct link *l);
void hf__redis_link_free(struct link *l);
/* The address that it is connected to, or tries. */
const struct stream_addr *hf__redis_link_addr(const struct link *l);

/* ---- link/secure.c: from a socket to the first words ---- */
/* The socket is connected: TLS, if it is asked for, and the greeting. */
void hf__redis_link_connected(struct link *l);
/* Go on with the handshake.  Returns whether anything was done. */
int hf__redis_link_secure(struct link *l);

/* ---- link/input.c: what comes in ---- */
/* Read, parse, hand out.  0 if there was nothing. */
int hf__redis_link_read(struct link *l);

/* ---- link/greet.c: the first words on a link ---- */
/* 0, or -1: no memory. */
int hf__redis_greet(struct link *l);
/* The answer to one of them. */
void hf__redis_greet_reply(struct link *l, const struct flight *f,
                           const struct resp *v);

/* ---- link/output.c: commands on their way ---- */
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
/* Was nothing of it handed to the kernel? */
int hf__redis_flight_is_unsent(const struct link *l, const struct flight *f);

/* ---- kind/ops.c: requests to commands ---- */
/* Put all waiting requests into main's output. */
void hf__redis_send_all(struct backend_conn *c);
/* Put one chain into it: FLIGHT_REQUEST, or FLIGHT_EVAL or FLIGHT_LOOK with the
 * script. */
void hf__redis_send(struct backend_conn *c, enum flight_kind kind,
                    struct request *reqs);

/* Rounded up: the server may end it later than we believe, not earlier. */
int64_t hf__redis_lease_ms(const struct request *req);
/* Two letters, as far as they are wanted; no argument if none is. */
void hf__redis_put_letters(struct command *cmd, const char *first,
                           int has_first, const char *second, int has_second);
/* The letters of a script that publishes by SPUBLISH: "s", or "sb". */
const char *hf__redis_sharded_letters(const struct backend_conn *c);
/* The channel on which a release of this kind is told. */
void hf__redis_put_channel(struct command *cmd, const struct request *req);
/* "v1 <owner> <attempt> ", and with a number "<T> " behind it: the beginning of
 * the record that says whose the lock is. */
void hf__redis_put_mark(struct command *cmd, const struct request *req,
                        int with_number);
void hf__redis_put_group(struct command *cmd, const struct request *req);
/* Begin the command of cmd->script on so many keys, which come next. */
void hf__redis_cmd_script(struct command *cmd, int64_t keys);
/* The same on a lock, and on its counter if it has one. */
void hf__redis_cmd_script_one(struct command *cmd, const struct request *req,
                              int has_fence);
/* The same on the locks of many requests. */
void hf__redis_cmd_script_many(struct command *cmd, const struct request *reqs);

/* ---- inner/owner.c: a connection that is a part of another one ---- */
/* From now on all keys of a lock are in one slot, and `owner` is told. */
void hf__redis_adopt(struct backend_conn *c, const struct redis_owner *owner);
/* Ask one of the owner's questions, with the next flush; told() has the answer,
 * unless the link goes down first.  0, or -1: it is down already, or there is
 * no memory. */
int hf__redis_ask(struct backend_conn *c, enum flight_kind kind);
/* For how long has the server owed us a word, on either link?  0: it does not,
 * or nothing is tried now. */
int64_t hf__redis_silence_us(const struct backend_conn *c);
/* Put ASKING into the output if `req` wants it.  0, or -1: no memory. */
int hf__redis_asking(struct backend_conn *c, const struct request *req);
/* Is it to be built without the counter? */
int hf__redis_is_alone(const struct backend_conn *c, const struct request *req);
/* Has the owner taken them back? */
int hf__redis_is_taken_back(struct backend_conn *c, struct request *reqs,
                            const struct resp *v);

/* ---- kind/string.c: the layout of format=string ---- */
/* Is it the value of a lock of ours? */
int hf__redis_string_is_ours(const struct resp *v);
/* Read such a value up to "<pid> <host> <label>", which is returned. */
const char *hf__redis_string_read(const char *text, struct hf_info *info);

/* ---- kind/rw.c: read/write locks ---- */
/* The holder's field in the lock's hash; of any other kind, his name. */
void hf__redis_rw_put_field(struct command *cmd, const struct request *req);
/* The key of the number up to which proposals were given back. */
void hf__redis_rw_put_floor(struct command *cmd, const struct request *req);
/* What PROPOSE is answered while others have it. */
void hf__redis_rw_busy(const struct resp *v, struct reply *reply);

/* ---- kind/queue.c: who queues, and who meets a queue ---- */
/* Is the queue's key among those of this request's script? */
int hf__redis_queue_has_key(const struct backend_conn *c,
                            const struct request *req);
void hf__redis_queue_put_key(struct command *cmd, const struct request *req);
/* The key of what is known of the waiters, and of a break. */
void hf__redis_queue_put_who(struct command *cmd, const struct request *req);
/* ... and the one that tells who is at which place. */
void hf__redis_queue_put_keys(struct command *cmd, const struct request *req);
/* The channel on which this client is told what it is given. */
void hf__redis_queue_put_channel(struct backend_conn *c,
                                 const struct request *req);
/* It is sent once more, to queue.lua, if that is what the answer says. */
int hf__redis_queue_again(struct backend_conn *c, struct request *req,
                          const struct resp *v);
/* ... without the queue's keys, if the user lacks them. */
int hf__redis_queue_is_denied(struct backend_conn *c, struct request *req,
                              const struct resp *v);
/* A message on the client's own channel. */
void hf__redis_queue_handed(struct backend_conn *c, const struct watch *w,
                            const struct resp *message);

/* The server's clock, counted on from when it last told it. */
int64_t hf__redis_now_us(const struct backend_conn *c);
/* `what` came too late to be carried out; reply->node_us is set already. */
void hf__redis_late(struct backend_conn *c, const char *what,
                    struct reply *reply);

/* ---- member/boot.c: members of a quorum ---- */
/* Ask what must be known first; then comes the script by itself. */
void hf__redis_boot_begin(struct backend_conn *c, struct request *req);
/* Is this the error of a server in cluster mode? */
int hf__redis_boot_is_sliced(const struct resp *v);
#define BOOT_OF_CLUSTER "it is in cluster mode, and a member must stand alone"
/* The answer to FLIGHT_CONFIG or FLIGHT_SCAN. */
void hf__redis_boot_step(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

/* ---- member/facts.c: what a server says of itself ---- */
void hf__redis_facts_begin(struct backend_conn *c, struct request *req);
/* The answer to FLIGHT_FACTS, FLIGHT_SETTING or, after the greeting,
 * FLIGHT_MARKER. */
void hf__redis_facts_reply(struct backend_conn *c, const struct flight *f,
                           const struct resp *v);

/* ---- replica/aof.c: waitaof=1[,k] ---- */
int hf__redis_aof_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Ask on a new link whether the server can do it.  0, or -1: no memory. */
int hf__redis_aof_greet(struct link *l);
/* It cannot: fail the link. */
void hf__redis_aof_refused(struct link *l, const struct resp *v);
/* Ask behind a proposal.  0, or -1: no memory. */
int hf__redis_aof_push(struct backend_conn *c, const struct request *req);
/* The proposal was granted: it is answered when the disk has it.  0 if there
 * is nothing to wait for. */
int hf__redis_aof_hold(struct backend_conn *c, struct request *req,
                       const struct reply *reply);
void hf__redis_aof_reply(struct backend_conn *c, const struct flight *f,
                         const struct resp *v);

/* ---- replica/role.c: primary, replica, failover ---- */
/* Ask on a new link.  0, or -1: no memory. */
int hf__redis_role_greet(struct link *l);
/* Ask for the role alone.  0, or -1: no memory. */
int hf__redis_role_ask(struct link *l);
/* The answers.  0, or -1: the link was failed. */
int hf__redis_role_heard(struct link *l, const struct resp *v);
int hf__redis_replication_heard(struct link *l, const struct resp *v);
/* The link is up: what to tell the engine, LINK_IS_*. */
int hf__redis_role_up(struct backend_conn *c);

/* ---- kind/plain.c: what all layouts of a lock answer alike ---- */
int hf__redis_acquire_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply);
int hf__redis_renew_read(struct backend_conn *c, const struct request *req,
                         const struct resp *v, struct reply *reply);
int hf__redis_release_read(struct backend_conn *c, const struct request *req,
                           const struct resp *v, struct reply *reply);

/* ---- replica/wait.c: wait=, wait_renew= ---- */
int hf__redis_wait_read(struct backend_conn *c, const struct url *url,
                        struct hf_error *err);
/* What wait= says, in `out` or elsewhere; "" if it says nothing. */
const char *hf__redis_wait_text(const struct backend_conn *c, char *out,
                                size_t size);
/* Ask on a new link whether the server can do it.  0, or -1: no memory. */
int hf__redis_wait_greet(struct link *l);
/* It cannot: fail the link. */
void hf__redis_wait_refused(struct link *l, const struct resp *v);
/* All is answered: is it known what to wait for?  0, or -1: link failed. */
int hf__redis_wait_up(struct link *l);
/* The caller, and the request itself, want an answer by then. */
int64_t hf__redis_wait_by_us(const struct request *req);
/* How long the server may take for what must be answered by then. */
int64_t hf__redis_wait_limit_us(const struct backend_conn *c, int64_t by_us);
/* This chain was put into the output: does it need a WAIT behind it? */
void hf__redis_wait_sent(struct backend_conn *c, const struct request *req);
/* Put that WAIT there, once for all that went out with this flush. */
void hf__redis_wait_push(struct backend_conn *c);
/* It was granted: it is answered when the replicas have it.  0 if there is
 * nothing to wait for. */
int hf__redis_wait_park(struct backend_conn *c, struct request *req,
                        const struct reply *reply);
void hf__redis_wait_reply(struct backend_conn *c, const struct resp *v);
/* What is parked will not be confirmed. */
void hf__redis_wait_fail(struct backend_conn *c, int status, const char *text);
int64_t hf__redis_wait_deadline(const struct backend_conn *c);

/* ---- kind/answer.c: answers to replies ---- */
/* The script's refusal, with these words. */
void hf__redis_refuse(struct backend_conn *c, const char *where, int status,
                      const char *what, struct reply *reply);
/* What is stored there is in the way: HF_CONFLICT. */
void hf__redis_conflict(struct backend_conn *c, const struct request *req,
                        const char *what, struct reply *reply);
#define COUNTER_IS_NO_NUMBER "the fence counter is no number below 2^53"
#define NO_LOCK "something that is no lock is stored there"
#define FOREIGN_NUMBER                                                         \
    "a number that another program made is stored there: a semaphore or a "    \
    "latch of Redisson's, or a counter, or one of ours that was not used for " \
    "30 days"
#define IN_USE_PLAIN "it is in use as a plain lock"
#define IN_USE_RW "it is in use as a read/write lock"
/* An answer that no script gives: the link is ended. */
void hf__redis_strange(struct backend_conn *c, struct request *reqs);
/* After how many milliseconds to ask again, in microseconds; 0 if it is not
 * told, -1 if it is out of range. */
int64_t hf__redis_poll_us(const struct resp *v);
/* Is a number in it out of range?  Then c->text says which. */
int hf__redis_is_strange(struct backend_conn *c, const struct request *req,
                         const struct reply *reply);
/* The answer to a flight of requests.  The flight is dropped already. */
void hf__redis_answered(struct backend_conn *c, const struct flight *f,
                        const struct resp *v);

/* Who holds a lock, by its record.  0, or -1 if it is none of ours. */
int hf__redis_info_holder(const struct resp *v, struct hf_info *info);

/* ---- link/error.c: the server's errors ---- */
/* The status for an error reply, and "what: why" in `text`; `what` may be
 * NULL, and so is `value_key` if it was not about a value. */
int hf__redis_error(const char *what, const char *value_key,
                    const struct resp *v, char text[HF_ERROR_TEXT_MAX]);
int hf__redis_error_is(const struct resp *v, const char *code);

/* Is it one that only a replica gives, also from inside a script? */
int hf__redis_error_is_of_replica(const struct resp *v);

/* ---- watch/watch.c: the subscription link ---- */
void hf__redis_watch_submit(struct backend_conn *c, struct request *req);
void hf__redis_watch_flush(struct backend_conn *c);
void hf__redis_watch_up(struct backend_conn *c);
/* sub is down: those who still wait for their OP_WATCH are told. */
void hf__redis_watch_down(struct backend_conn *c, enum verdict verdict);
/* What came on sub.  0, or -1: nonsense. */
int hf__redis_watch_reply(struct backend_conn *c, const struct resp *v);
/* Ping a silent link, end a dead one; when to look again. */
int64_t hf__redis_watch_timer(struct backend_conn *c, int64_t now_us);
/* End OP_WATCHes whose time is over; the earliest deadline of the others. */
int64_t hf__redis_watch_expire(struct backend_conn *c, int64_t now_us);

/* ---- watch/classic.c: classic subscriptions beside sharded ones ---- */
/* Subscribe in the classic way too, where that is wanted.  0, or -1: no
 * memory. */
int hf__redis_classic_subscribe(struct backend_conn *c, const struct watch *w);
int hf__redis_classic_unsubscribe(struct backend_conn *c, const char *channel,
                                  size_t len);
/* A lock of Redisson's was met: from now on, and for all that is watched. */
void hf__redis_classic_learn(struct backend_conn *c);
/* Is it a classic message?  It wakes, unless it is the second copy of the
 * sharded one that was read just before it. */
int hf__redis_classic_heard(struct backend_conn *c, const struct resp *v);

/* ---- watch/table.c: the table of watched names ---- */
/* Where the watch of `req`'s name is linked, or the end of its bucket; of the
 * lock's channel, or the client's own.  Leaves the channel in c->cmd, as its
 * argument 1. */
struct watch **hf__redis_watches_find(struct backend_conn *c,
                                      const struct request *req, int is_own);
/* A new watch on the channel that hf__redis_watches_find() left; NULL: no
 * memory. */
struct watch *hf__redis_watches_add(struct backend_conn *c,
                                    const struct request *req, int is_own);
void hf__redis_watches_remove(struct backend_conn *c, struct watch **at);
/* Is there a watch on this channel? */
int hf__redis_watches_on(struct backend_conn *c, const char *channel,
                         size_t len);
/* Call fn for each watch; it may remove the one it is given. */
void hf__redis_watches_each(struct backend_conn *c,
                            void (*fn)(struct backend_conn *, struct watch **));
/* A message on a channel: wake all its names, or tell what was handed over. */
void hf__redis_watches_wake(struct backend_conn *c, const struct resp *channel,
                            const struct resp *message);
/* Remove it wherever it is linked. */
void hf__redis_watches_drop(struct backend_conn *c, struct watch *w);
/* Answer nothing, free everything. */
void hf__redis_watches_free(struct backend_conn *c);

extern const char hf__redis_fence_prefix[];
extern const char hf__redis_channel_prefix[];
extern const char hf__redis_rw_channel_prefix[];
extern const char hf__redis_permit_channel_prefix[];
extern const char hf__redis_latch_channel_prefix[];
extern const char hf__redis_barrier_channel_prefix[];

#endif
