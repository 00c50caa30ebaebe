/*
 * zookeeper.h: a connection of the zookeeper store.
 *
 * A connection (struct backend_conn) has one link to one server of the
 * ensemble, and one session, which outlives the link and owns every node that
 * was made in it.  A request of the engine is a job; what a job asks the server
 * is a call; an attempt at a lock is a place, which is one node in a queue.
 */
#ifndef HF_ZOOKEEPER_H
#define HF_ZOOKEEPER_H

#include "backend/backend.h"
#include "backend/zookeeper/call.h"
#include "backend/zookeeper/cell.h"
#include "backend/zookeeper/clock.h"
#include "backend/zookeeper/job.h"
#include "backend/zookeeper/link.h"
#include "backend/zookeeper/place.h"
#include "backend/zookeeper/session.h"

#define ZOOKEEPER_PORT 2181
#define ZOOKEEPER_PATH_MAX 4096
#define ZOOKEEPER_ENDPOINT_MAX 160
#define ZOOKEEPER_OPTIONS                                                      \
    "session chroot password_file tls tls_ca tls_cert tls_key "                \
    "tls_key_password_file tls_name tls_verify"

struct backend_conn {
    struct backend_env *env;
    /* From the URL. */
    char *hosts; /* "h1:1,h2" */
    char *host;  /* the one that is used now, and its place */
    int host_at;
    int port;
    char *root; /* "" or "/a/b" */
    char *user, *password, *password_file;
    int creates; /* chroot=create */
    int is_tls, file_was_told;
    struct tls_context *tls;
    char endpoint[ZOOKEEPER_ENDPOINT_MAX]; /* begins every error text */

    int busy; /* inside process(): flush() waits for its end */
    int flush_wanted;
    int is_starved; /* a call had no memory: the link is given up */
    int64_t timer_us;
    struct link link;
    struct session session;
    struct calls calls;
    struct places places;
    struct cells cells;
    struct zk_clock clock;
    struct request *submitted, **submitted_end;
    struct job *jobs, **jobs_end;
    struct job *waiting, **waiting_end; /* until the link is up */
    struct job *proving;                /* until the session has answered */
    struct list *list;                  /* NULL until the first LIST */
    char path[ZOOKEEPER_PATH_MAX];      /* lent by hf__zookeeper_path() */
    char text[HF_ERROR_TEXT_MAX];
    char facts[512];
};

/* ---- url.c ---- */
int hf__zookeeper_url_read(struct backend_conn *c, const struct url *url,
                           struct hf_error *err);
void hf__zookeeper_url_free(struct backend_conn *c);
/* The next of the hosts is used from now on. */
int hf__zookeeper_host_next(struct backend_conn *c);
/* The password, once more if it is kept in a file. */
int hf__zookeeper_password(struct backend_conn *c, struct hf_error *err);

#endif
