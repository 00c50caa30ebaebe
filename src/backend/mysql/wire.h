/*
 * wire.h: one connection of libmariadb, whose calls do not block: each is
 * begun, and continued when the socket is ready.
 */
#ifndef HF_MYSQL_WIRE_H
#define HF_MYSQL_WIRE_H

#include <mysql.h>

#include "backend/sql/server.h"
#include "net/stream.h"

#define ADDRESS_MAX 64 /* of IPv6, with the name of an interface */

/* What is under way. */
enum wire_call {
    CALL_NONE,
    CALL_CONNECT,
    CALL_QUERY, /* statements were sent: their first result */
    CALL_STORE, /* the rows of a result */
    CALL_TOLD,  /* a result was told, and the next step asks for another */
    CALL_NEXT   /* the next result */
};

/* What came of a step. */
enum wire_said {
    WIRE_WAITS,     /* nothing: the socket is waited for */
    WIRE_CONNECTED, /* statements can be sent */
    WIRE_RESULT,    /* one statement is done; `result` has its rows */
    WIRE_DONE,      /* all of them are */
    WIRE_ERROR,     /* the server has refused one; those behind it were not
                     * carried out */
    WIRE_LOST       /* the connection does not do, or no longer */
};

struct wire {
    MYSQL *my; /* NULL: no connection */
    enum wire_call call;
    int fd;           /* of libmariadb; -1: none */
    unsigned wants;   /* AWAIT_*: what the call waits for */
    int is_new;       /* the call has just ended, and is not told yet */
    int rc;           /* what it returned */
    MYSQL *connected; /* the same, of a connect */
    MYSQL_RES *result;
    int is_tls;
    char address[ADDRESS_MAX]; /* libmariadb reads it until it is connected */
    const char
        *name; /* that the server's certificate must have; NULL: its address */
};

/* connect.c: begin to connect to the address (NULL: the unix socket).  0,
 * or -1: no memory. */
int hf__mysql_wire_open(struct wire *w, const struct server *p,
                        const struct stream_addr *addr);

/* Around each call of libmariadb that connects: `w`, then NULL. */
void hf__mysql_wire_name(struct wire *w);

/* The connect was begun, and waits for `status`, MYSQL_WAIT_*. */
void hf__mysql_wire_connect(struct wire *w, int status);

/* Send statements, separated by semicolons; nothing else is under way.  `text`
 * must stay until the first result. */
void hf__mysql_wire_send(struct wire *w, const char *text, size_t len);

/* Go on.  To be called until it says WIRE_WAITS, WIRE_DONE, WIRE_ERROR or
 * WIRE_LOST; a result is gone with the next call. */
enum wire_said hf__mysql_wire_step(struct wire *w);

/* Close it, whatever is under way, without waiting. */
void hf__mysql_wire_close(struct wire *w);

#endif
