/*
 * session.h: the session: it owns the nodes, and is known to last until some
 * time.
 */
#ifndef HF_ZOOKEEPER_SESSION_H
#define HF_ZOOKEEPER_SESSION_H

#include "backend/zookeeper/jute.h"

struct backend_conn;
struct job;

#define SESSION_MARKS 16
#define SESSION_PASSWORD_MAX 64

struct session {
    int64_t asked_us; /* the time-out to ask for */
    int64_t id;       /* 0 if there is none */
    char password[SESSION_PASSWORD_MAX];
    size_t password_len;
    int64_t us;   /* its time-out, as the server gives it */
    int64_t zxid; /* the last change that this client has seen */
    int is_other; /* another session than on the link before */

    int64_t attached_us; /* when this link asked for the session */
    int64_t heard_us;    /* the same, of the last answered request */
    /* Some of the answered calls of this link, the oldest first. */
    struct session_mark {
        int64_t sent_us, answered_us;
    } marks[SESSION_MARKS];
    int marks_len;
    int64_t proof_us;    /* the leader has heard of the session since then */
    int64_t beat_us;     /* send of this link's last heartbeat; 0: none */
    int64_t answered_us; /* when the last write that was carried out was sent */
    int is_beating;      /* a heartbeat is under way */
    int64_t beat_due_us; /* when to send the next one */
};

/* Ask for the session on a connected link.  0, or -1 without memory. */
int hf__zookeeper_session_ask(struct backend_conn *c);
/* Take the server's answer.  0, or -1 if it cannot be read. */
int hf__zookeeper_session_answer(struct backend_conn *c, struct jute_in in);

/* A call that was sent at that time has an answer, of any kind. */
void hf__zookeeper_session_mark(struct backend_conn *c, int64_t sent_us);
/* A write that was sent at that time was carried out. */
void hf__zookeeper_session_proved(struct backend_conn *c, int64_t sent_us);

/* All nodes of the session stay at least until this time of the local clock. */
int64_t hf__zookeeper_session_sure_us(const struct backend_conn *c);
/* The longest lease that the session can cover. */
int64_t hf__zookeeper_session_lease_us(const struct backend_conn *c);

/* Does the session last for the whole lease of the job, by a proof that is
 * fresh enough? */
int hf__zookeeper_session_carries(const struct backend_conn *c,
                                  const struct job *job);
/* Let the job wait in conn.proving until it does. */
void hf__zookeeper_session_prove(struct backend_conn *c, struct job *job);

/* The path of the node that heartbeats change. */
const char *hf__zookeeper_session_path(struct backend_conn *c);

int64_t hf__zookeeper_session_due_us(const struct backend_conn *c);
int hf__zookeeper_session_timer(struct backend_conn *c, int64_t now_us);

#endif
