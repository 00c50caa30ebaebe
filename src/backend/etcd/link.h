/* link.h: the link: one connection to one server, and its life. */
#ifndef HF_ETCD_LINK_H
#define HF_ETCD_LINK_H

#include "backend/etcd/call.h"
#include "net/resolve.h"
#include "net/tls.h"

enum link_state {
    LINK_DOWN,       /* no socket; due_us: the next try, or never */
    LINK_FAILED,     /* a try failed where no callback may run; due at once */
    LINK_RESOLVING,  /* fd is readable once the name is resolved */
    LINK_CONNECTING, /* fd is a socket that is being connected */
    LINK_SECURING,   /* the handshake of TLS is under way */
    LINK_GREETING,   /* the password, the session's lease, the generation */
    LINK_UP
};

struct link {
    struct backend_conn *c;
    enum link_state state;
    int fd;
    struct tls *tls;
    unsigned watching; /* AWAIT_*: what env->await_fd() has */
    unsigned life;     /* counts connections; shows a loop that one ended */
    int64_t due_us;
    int64_t give_up_us;  /* end of the whole try, at all endpoints */
    unsigned failures;   /* tries since it was last up */
    int64_t active_us;   /* last time that bytes came or went */
    struct hf_error err; /* why it is not up */
    int endpoint;        /* index of the one in use */
    int endpoints_left;  /* endpoints that this try has still to visit */
    struct resolved addrs;
    int addr_next;
    nghttp2_session *session;
    struct call *calls, **calls_end;
    struct call *watch; /* the open call for watches, or NULL */
    struct bytes out;
    size_t out_done;
    int has_calls; /* messages of calls have still to be sent */
    char *token;   /* from the password; NULL without one */
    int64_t gen;   /* revision of this connection's generation; 0: none yet */
    uint64_t cluster; /* id of the cluster */
};

void hf__etcd_link_init(struct link *l, struct backend_conn *c);
/* Begin to connect, now.  Runs no callback if it fails: see LINK_FAILED. */
void hf__etcd_link_start(struct link *l);
/* The link has failed: answer its requests, tell the engine, try again
 * later. */
void hf__etcd_link_fail(struct link *l, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hf__etcd_link_ready(struct link *l, unsigned ready);
int hf__etcd_link_timer(struct link *l, int64_t now_us);
void hf__etcd_link_write(struct link *l);
/* Write after something was read.  Answers to the server's own frames (it sends
 * a ping with every message) go out with the next call, or at the next poll if
 * there is no call. */
void hf__etcd_link_write_calls(struct link *l);
/* Close the link; calls under way are freed without an answer. */
void hf__etcd_link_close(struct link *l);
/* Close the link for good, and answer all requests with `why`. */
void hf__etcd_link_drop(struct link *l, const struct hf_error *why);
/* The greeting is complete: the link may be used. */
void hf__etcd_link_up(struct link *l, int is_other);
/* When the link has to do something by itself: a deadline, or the next try. */
int64_t hf__etcd_link_due(const struct link *l);
/* Read a link that was idle for long, to learn of its end before it is used. */
void hf__etcd_link_check(struct link *l);

/* ---- greet.c ---- */
void hf__etcd_greet(struct link *l);
/* Write the generation anew, on a link that is up. */
void hf__etcd_greet_again(struct link *l);
void hf__etcd_greet_auth(struct link *l, struct call *call,
                         const Pb__AuthenticateResponse *auth);
void hf__etcd_greet_gen(struct link *l, struct call *call,
                        const Pb__PutResponse *put);
/* The session's lease was granted, or refused. */
void hf__etcd_greet_granted(struct link *l, struct call *call, int is_granted);
/* The server belongs to another cluster. */
void hf__etcd_greet_stray(struct link *l);
/* The server has refused a call of the greeting. */
void hf__etcd_greet_refused(struct link *l, const struct call *call);

#endif
