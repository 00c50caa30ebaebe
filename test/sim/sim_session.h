/*
 * sim_session.h: a store with sessions, in the shape of ZooKeeper and etcd: a
 * client has one session, which outlives its connections, and each attempt at a
 * lock is a key of that session, in line with the others.
 */
#ifndef HF_SIM_SESSION_H
#define HF_SIM_SESSION_H

#include "base/request.h"

struct sim;
struct sim_node;
struct life;
struct packet;
struct backend_conn;
struct store_view;

#define SESSIONS_MAX 64
#define SESSION_KEYS_MAX 64
#define OWNED_MAX 256
#define SESSION_NAMES_MAX 3

/* At the node. */
struct session {
    int is_alive;
    int client;
    uint64_t serial;   /* which start of it */
    struct life *life; /* the connection that it is attached to */
    int64_t expires_us;
};

struct session_key {
    char owner[OWNER_LEN_MAX];
    uint64_t attempt;
    int64_t fence, count;
    struct session *session;
    int64_t unwanted_us; /* check_session.c: since then; 0: it is wanted */
};

struct session_store {
    int64_t last; /* number of the last key that was made */
    struct session sessions[SESSIONS_MAX];
    struct session_line {
        struct session_key keys[SESSION_KEYS_MAX]; /* the first has the lock */
        int len;
    } lines[SESSION_NAMES_MAX];
};

/* What a client knows of its keys. */
struct owned {
    int name;
    char owner[OWNER_LEN_MAX];
    uint64_t attempt; /* 0: none */
    int64_t ends_us;  /* by its clock: of its lease */
    int is_leaving;   /* it is to be deleted */
};

/* sim_session.c */
void session_draw(struct sim *s, unsigned allowed);
void session_limit(struct sim *s);
int session_open(struct sim *s, struct sim_node *n);
void session_start(struct sim *s);
void session_attach(struct sim *s, struct sim_node *n, struct packet *p);
void session_heard(struct sim *s, struct sim_node *n, const struct packet *p);
int session_request(struct sim *s, struct sim_node *n, struct packet *p);
void session_restart(struct sim *s, struct sim_node *n);
int session_look(const struct sim *s, const struct sim_node *n,
                 const struct request *req, struct store_view *out);
/* sim_session_link.c */
void session_welcome(struct backend_conn *c, const struct packet *p);
void session_sent(struct backend_conn *c, const struct request *req);
void session_answered(struct backend_conn *c, const struct packet *p);
int64_t session_due(const struct backend_conn *c);
void session_process(struct backend_conn *c, int64_t now_us);
/* check_session.c */
void check_session_served(struct sim *s, const struct session *session,
                          const struct packet *p);
void check_session_keys(struct sim *s);
void check_session_end(struct sim *s);

#endif
