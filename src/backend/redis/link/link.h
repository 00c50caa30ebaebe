/* link.h: a link: one socket to one server, and its life. */
#ifndef HF_REDIS_LINK_LINK_H
#define HF_REDIS_LINK_LINK_H

#include "backend/redis/link/resp.h"
#include "backend/redis/link/wire.h"
#include "net/resolve.h"
#include "net/tls.h"

struct backend_conn;

enum link_state {
    LINK_DOWN,       /* no socket; due_us is the next try, or never */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd tells when the name is resolved */
    LINK_CONNECTING, /* fd is a socket under way */
    LINK_SECURING,   /* connected; the handshake of TLS is under way */
    LINK_GREETING,   /* connected; AUTH, SELECT and so on are answered */
    LINK_UP
};

/* One socket and what is on its way. */
struct link {
    struct backend_conn *c;
    int is_sub;
    enum link_state state;
    int fd;
    struct tls *tls;     /* what goes over fd; NULL: in the clear */
    unsigned watching;   /* WATCH_*: what env->watch() was told */
    unsigned life;       /* counts the sockets, so that a loop notices */
    int64_t due_us;      /* what the state waits for: a try, a limit */
    int64_t give_up_us;  /* the whole try must succeed by then */
    int64_t retry_us;    /* no new try before this */
    unsigned failures;   /* tries since it was last up */
    unsigned extensions; /* of this try, see late_look() */
    int64_t asked_us;    /* when TIME was asked for */
    int64_t active_us;   /* last time anything came or went */
    int64_t owed_us;     /* since when the server owes an answer, if it does */
    struct hf_error err; /* why it is not up */
    struct resolved addrs;
    int addr_next;
    int64_t node_us; /* the server's clock, as it was last told */
    int64_t told_us; /* main: when that came in */
    struct reader in;
    struct bytes out;
    size_t out_done;   /* bytes of `out` the kernel has */
    uint64_t out_base; /* place in the stream of out.data[0] */
    struct flights flights;
    int64_t ping_us; /* sub: last sign of life, or the ping's time */
    int ping_sent;
};

/* ---- link.c: its life ---- */
void hf__redis_link_init(struct link *l, struct backend_conn *c, int is_sub);
/* Begin to connect, now.  Runs no callback if it fails: see LINK_FAILED. */
void hf__redis_link_start(struct link *l);
/* The link is broken: answer its requests, tell the engine, try again later. */
void hf__redis_link_fail(struct link *l, int status, int sys_errno,
                         const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A try failed where callbacks are not allowed: the timer tells. */
void hf__redis_link_fail_later(struct link *l, int status, int sys_errno,
                               const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* It is not connected yet, and its fd is ready: take the next step.  Returns
 * whether anything was done. */
int hf__redis_link_go_on(struct link *l);
int hf__redis_link_timer(struct link *l, int64_t now_us);
/* Close the socket and forget what was on its way, without a reply. */
void hf__redis_link_close(struct link *l);
void hf__redis_link_free(struct link *l);
/* The address that it is connected to, or tries. */
const struct stream_addr *hf__redis_link_addr(const struct link *l);

/* ---- secure.c: from a socket to the first words ---- */
/* The socket is connected: TLS, if it is asked for, and the greeting. */
void hf__redis_link_connected(struct link *l);
/* Go on with the handshake.  Returns whether anything was done. */
int hf__redis_link_secure(struct link *l);

/* ---- greet.c: the first words ---- */
/* 0, or -1: no memory. */
int hf__redis_greet(struct link *l);
/* The answer to one of them. */
void hf__redis_greet_reply(struct link *l, const struct flight *f,
                           const struct resp *v);

#endif
