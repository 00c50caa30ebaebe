/* watch.h: the subscription link. */
#ifndef HF_REDIS_WATCH_WATCH_H
#define HF_REDIS_WATCH_WATCH_H

#include "backend/redis/link/resp.h"
#include "base/request.h"

struct backend_conn;

/* A watched name, as one kind.  Two may share a channel: "a" and "{a}", readers
 * and writers. */
struct watch {
    struct watch *next;  /* in its bucket */
    struct request *req; /* VERB_WATCH not yet answered */
    enum lock_kind kind;
    int subscribed;
    struct watch *half; /* a name that is queued for has two:
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

void hf__redis_watch_submit(struct backend_conn *c, struct request *req);
void hf__redis_watch_flush(struct backend_conn *c);
void hf__redis_watch_up(struct backend_conn *c);
/* sub is down: answer every VERB_WATCH that is still open. */
void hf__redis_watch_down(struct backend_conn *c, enum verdict verdict);
/* Handle a value that came on sub.  0, or -1 if it makes no sense there. */
int hf__redis_watch_reply(struct backend_conn *c, const struct resp *v);
/* Ping a silent link, end a dead one; when to look again. */
int64_t hf__redis_watch_timer(struct backend_conn *c, int64_t now_us);
/* End VERB_WATCHes whose time is over; the earliest deadline of the others. */
int64_t hf__redis_watch_expire(struct backend_conn *c, int64_t now_us);

#endif
