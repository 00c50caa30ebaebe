/*
 * session.h: the session: what owns the nodes, and until when that is sure.
 */
#ifndef HF_ZOOKEEPER_SESSION_H
#define HF_ZOOKEEPER_SESSION_H

#include "backend/zookeeper/jute.h"

struct backend_conn;
struct job;

#define SESSION_MARKS 16
#define SESSION_PASSWORD_MAX 64

struct session {
    int64_t asked_us; /* the time-out that is asked for */
    int64_t id;       /* 0: there is none */
    char password[SESSION_PASSWORD_MAX];
    size_t password_len;
    int64_t us;   /* its time-out, as the server gives it */
    int64_t zxid; /* the last change that was seen */
    int is_other; /* it is not the one of the link before */

    int64_t attached_us; /* this link's request for it was sent */
    int64_t heard_us;    /* the last one that a server answered */
    /* Calls of this link that were answered, the oldest first; not all. */
    struct session_mark {
        int64_t sent_us, answered_us;
    } marks[SESSION_MARKS];
    int marks_len;
    int64_t proof_us;    /* the leader has heard of it since then */
    int64_t beat_us;     /* the last heartbeat was sent; 0: none on this link */
    int64_t answered_us; /* a write that was sent then was carried out */
    int is_beating;      /* a heartbeat is under way */
    int64_t beat_due_us; /* the next one */
};

/* Ask for it on a link that is connected.  0, or -1: no memory. */
int hf__zookeeper_session_ask(struct backend_conn *c);
/* The server's answer.  0, or -1: nonsense. */
int hf__zookeeper_session_answer(struct backend_conn *c, struct jute_in in);

/* A call that was sent then is answered, whatever it was. */
void hf__zookeeper_session_mark(struct backend_conn *c, int64_t sent_us);
/* A write that was sent then was carried out. */
void hf__zookeeper_session_proved(struct backend_conn *c, int64_t sent_us);

/* All nodes of the session stay until then, at least; by the local clock. */
int64_t hf__zookeeper_session_sure_us(const struct backend_conn *c);
/* The longest lease that it carries. */
int64_t hf__zookeeper_session_lease_us(const struct backend_conn *c);

/* Is it sure for the whole lease of the job, and as fresh as that wants? */
int hf__zookeeper_session_carries(const struct backend_conn *c,
                                  const struct job *job);
/* The job waits until it is, in conn.proving. */
void hf__zookeeper_session_prove(struct backend_conn *c, struct job *job);

/* The whole path of the node that heartbeats change. */
const char *hf__zookeeper_session_path(struct backend_conn *c);

int64_t hf__zookeeper_session_due_us(const struct backend_conn *c);
int hf__zookeeper_session_timer(struct backend_conn *c, int64_t now_us);

#endif
