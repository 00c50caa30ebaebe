/*
 * redis.h: a connection of the redis backend.
 *
 * A connection (struct backend_conn) has two links: `main` carries requests,
 * pipelined, first in first out; `sub` carries the subscriptions and is opened
 * by the first VERB_WATCH.  Requests are in `unsent` until main is up; whatever
 * has been put into a link's output is a flight until its answer is there.
 */
#ifndef HF_REDIS_H
#define HF_REDIS_H

#include "backend/backend.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/link/link.h"
#include "backend/redis/replica/role.h"
#include "backend/redis/watch/watch.h"
#include "backends.h"

#define REDIS_PORT 6379
/* What needs more keys than a string has. */
#define REDIS_KINDS (HF_CAP_RW | HF_CAP_QUEUE | HF_CAP_PERMIT | HF_CAP_TALLY)
#define ENDPOINT_MAX 160 /* "redis://host:port" in texts, cut if longer */
/* Options of every scheme whose servers speak Redis. */
#define LINK_OPTIONS                                                           \
    "password_file tls tls_ca tls_cert tls_key tls_key_password_file "         \
    "tls_name tls_verify"
#define REDIS_OPTIONS "db format fence waitaof wait wait_renew " LINK_OPTIONS

struct bounds;
struct master;
struct redis_owner;

struct request_list {
    struct request *first, *last;
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
    int64_t aof_replicas; /* waitaof=1,k: k */
    int is_sliced;        /* it checks slots: no command for two locks */
    int queue_is_denied;  /* on this link the user may not look at queues */
    int member_is_meant;  /* member=ok */
    int quorum_of;        /* members of the quorum it belongs to; 0 none */
    int db;
    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;

    int64_t wait;               /* wait=: 0 no, > 0 k, < 0 see replica/wait.c */
    int wait_renews;            /* wait_renew=on */
    int wait_is_due;            /* a WAIT is to go out with this flush */
    unsigned wait_failures;     /* in a row: replicas were missing */
    int64_t wait_by_us;         /* it must be answered by then, */
    int64_t wait_most_us;       /* and take no longer than this */
    struct request_list parked; /* granted, if the replicas have it */
    struct replication repl;
    int is_led;                  /* told where to connect: hf__redis_lead() */
    const struct bounds *bounds; /* a server named the host; NULL: the user */
    struct master *master; /* of a Sentinel's connection: its last answer */

    struct link main, sub;
    struct request_list unsent; /* not yet in main's output */
    struct request_list
        watching; /* VERB_WATCH and VERB_UNWATCH, not yet begun */
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
/* Open it, and connect later. */
int hf__redis_open_idle(struct backend_env *env, const struct url *url,
                        struct backend_conn **out, struct hf_error *err);
/* Answer what is late.  Returns whether it was time to look. */
int hf__redis_expire(struct backend_conn *c, int64_t now_us);
/* Let everything out that may go out, and set the timer. */
void hf__redis_let_out(struct backend_conn *c);
void hf__redis_timer_set(struct backend_conn *c);

/* ---- url.c ---- */
int hf__redis_url_read(struct backend_conn *c, const struct url *url,
                       struct hf_error *err);
/* Set host and endpoint by the URL.  0, or -1: no memory. */
int hf__redis_url_host(struct backend_conn *c, const struct url *url);
/* Set host, port and endpoint.  0, or -1: no memory. */
int hf__redis_host_set(struct backend_conn *c, const char *host, int port);

#endif
