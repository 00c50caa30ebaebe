/*
 * sentinel.h: what the files of the redis-sentinel backend share.
 *
 * One led connection carries every request to the primary; one asker per
 * Sentinel of the URL finds out where that is, and one of them listens for
 * +switch-master.  The others are closed once the primary is found, and opened
 * again when it is lost.
 */
#ifndef HF_SENTINEL_H
#define HF_SENTINEL_H

#include "backend/redis/sentinel/ask.h"
#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"

#define SENTINEL_PORT 26379
#define SEEDS_MAX 15
#define ASK_US_MIN (200 * US_PER_MS) /* without a primary: pause of asking */
#define ASKED_OFTEN 25               /* tries at that pace: a failover's time */
#define ASK_US_MAX (2 * US_PER_S)    /* and then */
#define CONFIRM_US (2 * US_PER_S)    /* with renewals: confirm the primary */
/* Without a primary for this time, an answer of any epoch will do: Sentinels
 * that were made anew begin to count anew. */
#define EPOCH_KEPT_US (5 * US_PER_S)

/* One Sentinel of the URL. */
struct seed {
    struct inner n; /* first */
    struct sentinel *s;
    char *host;
    int port;
    int is_open; /* n is in the set */
    int is_up;
    int is_listener;    /* it listens, or will once it is up */
    int cannot_listen;  /* it may not be listened to */
    int is_asked;       /* `ask` is with the asker */
    int is_watched;     /* `watch` is */
    struct request ask; /* VERB_PRIMARY of the master's name */
    struct request watch;
    struct hf_error err; /* why it does not tell; HF_OK: it told, or not yet */
};

struct sentinel {
    struct backend_env *env;
    struct inner_set inners;
    struct inner data; /* the led connection */
    struct backend asker, led;
    struct backend_conf asker_conf;
    struct bounds bounds; /* hosts that Sentinels may name */
    struct url *url;      /* of an asker, but for host and port */
    char *name;           /* of the master */
    char *user;           /* for the Sentinels */
    char *password_file;
    char *password;  /* if it is not in a file */
    char where[160]; /* "redis-sentinel://h1,h2/name", for texts */
    struct seed *seeds;
    int seeds_len;
    int turn;                 /* which is asked next for a confirmation */
    int is_led;               /* data has an address: `at` */
    int is_up;                /* and is connected there */
    struct master at, wanted; /* wanted: not yet told to data */
    int is_wanted;
    int64_t ask_us;       /* ask all then */
    int64_t down_us;      /* since when there is no primary */
    int64_t confirmed_us; /* when a Sentinel last named it */
    unsigned tries;       /* asked in vain, for the pauses */
};

/* ---- sentinel/seed.c: askers ---- */
/* Ask all, or the next one that is up; opening what is closed. */
void hf__redis_seeds_ask(struct sentinel *s);
void hf__redis_seeds_confirm(struct sentinel *s);
/* Close those that are not needed now. */
void hf__redis_seeds_trim(struct sentinel *s);
void hf__redis_seed_reply(struct seed *d, const struct request *req,
                          const struct reply *reply);
void hf__redis_seed_link(struct seed *d, int up, const struct hf_error *err);
void hf__redis_seed_dropped(struct seed *d);

/* ---- sentinel/find.c: where the primary is ---- */
/* A Sentinel has answered. */
void hf__redis_sentinel_heard(struct sentinel *s, const struct master *m);
/* None of those asked has an answer left to give. */
void hf__redis_sentinel_judge(struct sentinel *s);
/* The primary's link is up (LINK_IS_*) or down. */
void hf__redis_sentinel_link(struct sentinel *s, int up);
void hf__redis_sentinel_soon(struct sentinel *s);
void hf__redis_sentinel_timer(struct sentinel *s);

/* ---- sentinel/auth.c ---- */
/* Fill in the askers' user and password: by the file, or by the environment,
 * which other threads may change later.  HF_OK or why not. */
int hf__redis_sentinel_auth_open(struct sentinel *s, struct hf_error *err);

#endif
