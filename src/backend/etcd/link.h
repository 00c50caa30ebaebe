/* link.h: the link: one connection to one server, and its life. */
#ifndef HF_ETCD_LINK_H
#define HF_ETCD_LINK_H

#include "backend/etcd/call.h"
#include "net/resolve.h"
#include "net/tls.h"

enum link_state {
    LINK_DOWN,       /* no socket; due_us is the next try, or never */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd tells when the name is resolved */
    LINK_CONNECTING, /* fd is a socket under way */
    LINK_SECURING,   /* the handshake of TLS is under way */
    LINK_GREETING,   /* the password, the session's lease, the generation */
    LINK_UP
};

struct link {
    struct backend_conn *c;
    enum link_state state;
    int fd;
    struct tls *tls;
    unsigned watching; /* AWAIT_*: what env->await_fd() was told */
    unsigned life;     /* counts the connections, so that a loop notices */
    int64_t due_us;
    int64_t give_up_us;  /* the whole try, at all endpoints */
    unsigned failures;   /* tries since it was last up */
    int64_t active_us;   /* last time anything came or went */
    struct hf_error err; /* why it is not up */
    int endpoint;        /* which one */
    int endpoints_left;  /* that are not tried yet, in this try */
    struct resolved addrs;
    int addr_next;
    nghttp2_session *session;
    struct call *calls, **calls_end;
    struct call *watch; /* the open one; NULL: none */
    struct bytes out;
    size_t out_done;
    int has_calls; /* messages of calls that the session has not let out */
    char *token;   /* after a password; NULL: none */
    int64_t gen; /* the revision of this connection's generation; 0: none yet */
    uint64_t cluster; /* its id */
};

void hf__etcd_link_init(struct link *l, struct backend_conn *c);
/* Begin to connect, now.  Runs no callback if it fails: see LINK_FAILED. */
void hf__etcd_link_start(struct link *l);
/* The link is broken: answer its requests, tell the engine, try again later. */
void hf__etcd_link_fail(struct link *l, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hf__etcd_link_ready(struct link *l, unsigned ready);
int hf__etcd_link_timer(struct link *l, int64_t now_us);
void hf__etcd_link_write(struct link *l);
/* The same after something was read; but what answers the server's own frames
 * (it pings with every message) goes out with the next call, or at the next
 * poll if there is none. */
void hf__etcd_link_write_calls(struct link *l);
/* Close it and forget what was on its way. */
void hf__etcd_link_close(struct link *l);
/* The same for good: answer all requests by `why`. */
void hf__etcd_link_drop(struct link *l, const struct hf_error *why);
/* The greeting is over. */
void hf__etcd_link_up(struct link *l, int is_other);
/* An old link is looked at before it is used. */
int64_t hf__etcd_link_due(const struct link *l);
void hf__etcd_link_check(struct link *l);

/* ---- greet.c ---- */
void hf__etcd_greet(struct link *l);
/* Also in use: the generation was lost, and is made anew. */
void hf__etcd_greet_again(struct link *l);
void hf__etcd_greet_auth(struct link *l, struct call *call,
                         const Pb__AuthenticateResponse *auth);
void hf__etcd_greet_gen(struct link *l, struct call *call,
                        const Pb__PutResponse *put);
/* The session's lease was granted, or not. */
void hf__etcd_greet_granted(struct link *l, struct call *call, int is_granted);
/* It is of another cluster. */
void hf__etcd_greet_stray(struct link *l);
/* It was refused. */
void hf__etcd_greet_refused(struct link *l, const struct call *call);

#endif
