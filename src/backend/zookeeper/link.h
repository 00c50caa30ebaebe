/*
 * link.h: the link: one socket to one server, and its life.
 */
#ifndef HF_ZOOKEEPER_LINK_H
#define HF_ZOOKEEPER_LINK_H

#include "backend/zookeeper/jute.h"
#include "holdfast/status.h"
#include "net/resolve.h"
#include "net/tls.h"

struct backend_conn;

enum link_state {
    LINK_DOWN,       /* no socket; due_us: the next try */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd is readable once the name is resolved */
    LINK_CONNECTING, /* fd is a socket that is being connected */
    LINK_SECURING,   /* connected; the handshake of TLS is under way */
    LINK_ATTACHING,  /* the session was asked for */
    LINK_GREETING,   /* there is a session; the first calls are under way */
    LINK_UP
};

struct link {
    enum link_state state;
    int fd;
    struct tls *tls;
    unsigned watching; /* AWAIT_* */
    unsigned life;     /* counts sockets; shows a loop that one ended */
    int64_t due_us;
    int64_t give_up_us;
    unsigned failures;
    unsigned extensions;
    int64_t active_us;
    struct hf_error err; /* why it is not up */
    struct resolved addrs;
    int addr_next;
    struct jute_out out;
    size_t out_done;
    char *in;
    size_t in_len, in_size;
};

/* Begin to connect now.  Runs no callback if that fails. */
void hf__zookeeper_link_start(struct backend_conn *c);
/* The link has failed: answer the jobs, tell the engine, try the next host
 * later. */
void hf__zookeeper_link_fail(struct backend_conn *c, int status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hf__zookeeper_link_ready(struct backend_conn *c, unsigned ready);
int hf__zookeeper_link_timer(struct backend_conn *c, int64_t now_us);
void hf__zookeeper_link_write(struct backend_conn *c);
/* The greeting is complete: the link may be used. */
void hf__zookeeper_link_is_up(struct backend_conn *c);
/* Close the socket; no job is answered. */
void hf__zookeeper_link_close(struct backend_conn *c);
void hf__zookeeper_link_free(struct backend_conn *c);

#endif
