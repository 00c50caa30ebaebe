/* link.h: the link: one connection to the server, and its life. */
#ifndef HF_MYSQL_LINK_H
#define HF_MYSQL_LINK_H

#include "backend/mysql/packet.h"
#include "backend/mysql/wire.h"
#include "net/resolve.h"

struct backend_conn;

enum link_state {
    LINK_DOWN,       /* no connection; due_us is the next try, or never */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd tells when the name is resolved */
    LINK_CONNECTING, /* libmariadb connects: socket, TLS, password */
    LINK_GREETING,   /* connected; the first statements are under way */
    LINK_UP
};

#define LINK_HOST_MAX 64

/* What the server says of itself. */
struct server_facts {
    int64_t started_s; /* since when it runs, by its own clock; 0: not known */
    int64_t asked_s, uptime_s; /* what that is reckoned from */
    char host[LINK_HOST_MAX];
    int is_readonly;
    int is_galera;  /* one node of several that have the same data */
    int is_joined;  /* Galera: the node takes statements */
    int is_in_step; /* Galera: this session reads nothing old */
    int flushes;    /* every commit is on its disk before it is answered */
    int has_binlog, syncs_binlog;
};

struct link {
    struct backend_conn *c;
    enum link_state state;
    struct wire wire;
    int fd;              /* what is watched: the resolver's, or wire.fd */
    unsigned watching;   /* AWAIT_*: what env->await_fd() was told */
    unsigned life;       /* counts the connections, so that a loop notices */
    int64_t due_us;      /* what the state waits for: a try, a limit */
    int64_t give_up_us;  /* the whole try must succeed by then */
    unsigned failures;   /* tries since it was last up */
    unsigned extensions; /* of this try, see late_look() */
    int64_t active_us;   /* last time anything came or went */
    struct hf_error err; /* why it is not up */
    struct resolved addrs;
    int addr_next;
    struct packet packet; /* on its way, if packet.is_sent */
    int must_roll_back;   /* script.c */
    int64_t node_us;      /* the server's clock, as the greeting told it */
    struct server_facts facts;
    struct server_facts facts_was; /* of the connection before */
};

void hf__mysql_link_init(struct link *l, struct backend_conn *c);
/* Begin to connect, now.  Runs no callback if it fails: see LINK_FAILED. */
void hf__mysql_link_start(struct link *l);
/* The link is broken: fail all jobs, tell the engine, try again later. */
void hf__mysql_link_fail(struct link *l, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Its socket may be ready.  Returns whether anything was done. */
int hf__mysql_link_ready(struct link *l);
int hf__mysql_link_timer(struct link *l, int64_t now_us);
/* Close the connection and forget what was on its way. */
void hf__mysql_link_close(struct link *l);
/* A server that closes idle connections may have closed this one unnoticed:
 * look, before a statement is lost on it. */
void hf__mysql_link_check(struct link *l);
/* A packet was sent: wait for what libmariadb waits for. */
void hf__mysql_link_await(struct link *l);

/* ---- greet.c ---- */
/* Connected: send the first statements.  0, or -1: no memory. */
int hf__mysql_greet(struct link *l);
/* What the server says to one of them. */
void hf__mysql_greet_answer(struct link *l, const struct packet_item *item,
                            MYSQL_RES *result);
/* The packet of the greeting is answered. */
void hf__mysql_greet_end(struct link *l);

#endif
