/* watch.h: names that are waited for: one watch each, all on one stream. */
#ifndef HF_ETCD_WATCH_H
#define HF_ETCD_WATCH_H

#include "base/request.h"
#include "etcd.pb-c.h"

struct backend_conn;
struct call;

struct watch {
    struct watch *next;
    int64_t id; /* on the stream; 0: not asked for yet */
    int is_on;
    enum lock_kind kind; /* PLAIN: its keys are watched; others: the cell */
    int64_t news;        /* of the cell: what was last seen there */
    struct request *req; /* WATCH, until it is answered */
    size_t name_len;
    char name[];
};

struct watches {
    struct watch *first;
    int64_t id_last;
};

/* WATCH or UNWATCH. */
void hf__etcd_watch(struct backend_conn *c, struct request *req);
/* The link is up: ask for all of them, and wake each when it is on. */
void hf__etcd_watches_up(struct backend_conn *c);
void hf__etcd_watches_cut(struct backend_conn *c);
void hf__etcd_watches_free(struct backend_conn *c);
/* What comes on the stream. */
void hf__etcd_watched(struct backend_conn *c, const Pb__WatchResponse *said);
int64_t hf__etcd_watches_due(const struct backend_conn *c);

#endif
