/* watch.h: the names that clients wait for: one watch for each, all on one
 * stream. */
#ifndef HF_ETCD_WATCH_H
#define HF_ETCD_WATCH_H

#include "base/request.h"
#include "etcd.pb-c.h"

struct backend_conn;
struct call;

struct watch {
    struct watch *next;
    int64_t id; /* its number on the stream; 0 before it is asked for */
    int is_on;
    enum lock_kind kind; /* PLAIN: watches the lock's keys; else the cell */
    int64_t news;        /* the last hf__etcd_cell_news() of the cell */
    struct request *req; /* the VERB_WATCH, until it is answered */
    size_t name_len;
    char name[];
};

struct watches {
    struct watch *first;
    int64_t id_last;
};

/* WATCH or UNWATCH. */
void hf__etcd_watch(struct backend_conn *c, struct request *req);
/* The link is up: ask for all watches again, and wake the waiters of each when
 * it is on. */
void hf__etcd_watches_up(struct backend_conn *c);
void hf__etcd_watches_cut(struct backend_conn *c);
void hf__etcd_watches_free(struct backend_conn *c);
/* A message from the stream. */
void hf__etcd_watched(struct backend_conn *c, const Pb__WatchResponse *said);
int64_t hf__etcd_watches_due(const struct backend_conn *c);

#endif
