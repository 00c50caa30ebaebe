/* link.h: the link: one connection of libpq, and its life. */
#ifndef HF_POSTGRES_LINK_H
#define HF_POSTGRES_LINK_H

#include <libpq-fe.h>

#include "backend/postgres/flight.h"
#include "net/resolve.h"

struct backend_conn;

enum link_state {
    LINK_DOWN,       /* no connection; due_us is the next try, or never */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd tells when the name is resolved */
    LINK_CONNECTING, /* libpq connects: socket, TLS, password */
    LINK_GREETING,   /* connected; the first statements are under way */
    LINK_UP
};

struct link {
    struct backend_conn *c;
    enum link_state state;
    PGconn *pg;
    int fd;              /* what is watched; libpq's from CONNECTING on */
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
    struct flights flights;
    unsigned prepared;  /* by bit of enum statement */
    int64_t node_us;    /* the server's clock, as the greeting told it */
    int64_t started_us; /* since when the server runs; 0: not known yet */
    int is_durable;     /* a crash of the server's host loses nothing */
    int64_t timeline;   /* another one after each promotion of a standby */
    int64_t system;     /* made with the data (initdb); 0: not told */
    int is_system_asked;
    int64_t started_was; /* the same, of the connection before */
};

void hf__postgres_link_init(struct link *l, struct backend_conn *c);
/* Begin to connect, now.  Runs no callback if it fails: see LINK_FAILED. */
void hf__postgres_link_start(struct link *l);
/* The link is broken: fail all jobs, tell the engine, try again later. */
void hf__postgres_link_fail(struct link *l, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hf__postgres_link_ready(struct link *l, unsigned ready);
int hf__postgres_link_timer(struct link *l, int64_t now_us);
void hf__postgres_link_await(struct link *l, unsigned events);
/* Close the connection and forget what was on its way. */
void hf__postgres_link_close(struct link *l);
/* A server that closes idle connections may have closed this one unnoticed:
 * look, before a statement is lost on it. */
void hf__postgres_link_check(struct link *l);
/* Let libpq send what it has. */
void hf__postgres_link_write(struct link *l);

/* ---- connect.c ---- */
/* A connection to the address (NULL: the unix socket), just begun.  NULL: no
 * memory. */
PGconn *hf__postgres_connect(struct backend_conn *c,
                             const struct stream_addr *addr);

/* ---- greet.c ---- */
/* Connected: send the first statements.  0, or -1: no memory. */
int hf__postgres_greet(struct link *l);
/* What the server says to one of them. */
void hf__postgres_greet_answer(struct link *l, const struct flight *f,
                               const PGresult *result);

#endif
