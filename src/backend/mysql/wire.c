/*
 * wire.c: see wire.h.  One rule: whatever libmariadb is in the middle of, it is
 * led to an end before the connection is closed, so that nothing is left of it.
 */
#include "backend/mysql/wire.h"

#include <errmsg.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ENDS_MAX 32 /* steps of a call that is told that its time is over */

/* TLS writes without asking for silence: a server that has hung up would end
 * the process, whose own choice SIGPIPE is. */
struct pipe_quiet {
    int is_on;
    sigset_t was;
};

static void quiet_begin(const struct wire *w, struct pipe_quiet *q)
{
    sigset_t pipe_only;
    q->is_on = w->is_tls;
    if (!q->is_on) return;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    q->is_on = pthread_sigmask(SIG_BLOCK, &pipe_only, &q->was) == 0;
}

static void quiet_end(const struct pipe_quiet *q)
{
    static const struct timespec now = {0, 0};
    sigset_t pipe_only;
    if (!q->is_on || sigismember(&q->was, SIGPIPE)) return;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    while (sigtimedwait(&pipe_only, NULL, &now) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, &q->was, NULL);
}

/* A program that this process starts must not keep the connection. */
static void socket_take(struct wire *w)
{
    int fd = (int)mysql_get_socket(w->my);
    if (fd >= 0 && fd != w->fd) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    w->fd = fd;
}

static void wants_set(struct wire *w, int status)
{
    socket_take(w);
    w->wants = (status & MYSQL_WAIT_READ ? AWAIT_READ : 0)
               | (status & MYSQL_WAIT_WRITE ? AWAIT_WRITE : 0);
    w->is_new = status == 0;
}

/* ---- the name in the certificate ---- */

/* libmariadb compares the certificate with the host it was given, and that is
 * an address.  It keeps the host from the moment it connects. */
static void name_set(struct wire *w)
{
    if (!w->name || !w->my->host || !strcmp(w->my->host, w->name)) return;
    char *name = strdup(w->name); /* freed by libmariadb */
    if (!name) return;
    free(w->my->host);
    w->my->host = name;
}

/* Exported by libmariadb, but in no header of it: calls `fn` after whatever is
 * read.  Without it, a server whose first words are there at once is refused.
 */
int ma_pvio_register_callback(my_bool begins,
                              void (*fn)(int mode, MYSQL *my,
                                         const unsigned char *bytes,
                                         size_t len)) __attribute__((weak));

static _Thread_local struct wire
    *connecting; /* inside a call, by this thread */

/* The server's first words were read; the handshake follows, perhaps without a
 * wait in between. */
static void words_read(int mode, MYSQL *my, const unsigned char *bytes,
                       size_t len)
{
    (void)mode, (void)bytes, (void)len;
    if (connecting && connecting->my == my) name_set(connecting);
}

static void words_listen(void)
{
    if (ma_pvio_register_callback) ma_pvio_register_callback(1, words_read);
}

void hf__mysql_wire_name(struct wire *w)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (w && w->name) pthread_once(&once, words_listen);
    connecting = w;
}

static void call_begun(struct wire *w, enum wire_call call, int status)
{
    w->call = call;
    wants_set(w, status);
}

/* ---- going on ---- */

static int call_continue(struct wire *w, int ready)
{
    switch (w->call) {
    case CALL_NONE:
    case CALL_TOLD:
        break;
    case CALL_CONNECT:
        hf__mysql_wire_name(w);
        ready = mysql_real_connect_cont(&w->connected, w->my, ready);
        hf__mysql_wire_name(NULL);
        return ready;
    case CALL_QUERY:
        return mysql_real_query_cont(&w->rc, w->my, ready);
    case CALL_STORE:
        return mysql_store_result_cont(&w->result, w->my, ready);
    case CALL_NEXT:
        return mysql_next_result_cont(&w->rc, w->my, ready);
    }
    return 0;
}

/* The engine asks without knowing.  A read or write that is not ready yet comes
 * to nothing, but libmariadb would believe that it is connected. */
static int ready_bits(const struct wire *w)
{
    struct pollfd p = {.fd = w->fd};
    if (w->call != CALL_CONNECT)
        return (w->wants & AWAIT_READ ? MYSQL_WAIT_READ : 0)
               | (w->wants & AWAIT_WRITE ? MYSQL_WAIT_WRITE : 0);
    if (w->wants & AWAIT_READ) p.events |= POLLIN;
    if (w->wants & AWAIT_WRITE) p.events |= POLLOUT;
    if (w->fd < 0 || poll(&p, 1, 0) <= 0) return 0;
    return (w->wants & AWAIT_READ && p.revents & ~POLLOUT ? MYSQL_WAIT_READ : 0)
           | (w->wants & AWAIT_WRITE && p.revents & ~POLLIN ? MYSQL_WAIT_WRITE
                                                            : 0);
}

static enum wire_said step(struct wire *w);

static enum wire_said failed(struct wire *w)
{
    unsigned code = mysql_errno(w->my);
    w->call = CALL_NONE;
    int is_own = code == 0 || IS_MARIADB_ERROR(code)
                 || (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR);
    return is_own ? WIRE_LOST : WIRE_ERROR;
}

/* A statement has an answer: its rows are still to come, or it has none. */
static enum wire_said answered(struct wire *w)
{
    if (w->rc != 0) return failed(w);
    if (mysql_field_count(w->my) > 0) {
        call_begun(w, CALL_STORE, mysql_store_result_start(&w->result, w->my));
        return step(w);
    }
    w->call = CALL_TOLD;
    return WIRE_RESULT;
}

static enum wire_said stored(struct wire *w)
{
    if (!w->result) return failed(w);
    w->call = CALL_TOLD;
    return WIRE_RESULT;
}

static enum wire_said call_ended(struct wire *w)
{
    w->is_new = 0;
    switch (w->call) {
    case CALL_NONE:
    case CALL_TOLD:
        return WIRE_DONE;
    case CALL_CONNECT:
        w->call = CALL_NONE;
        return w->connected ? WIRE_CONNECTED : WIRE_LOST;
    case CALL_QUERY:
    case CALL_NEXT:
        return answered(w);
    case CALL_STORE:
        return stored(w);
    }
    return WIRE_LOST;
}

/* A result was told: is there another? */
static enum wire_said next(struct wire *w)
{
    if (w->result) mysql_free_result(w->result);
    w->result = NULL;
    if (!mysql_more_results(w->my)) {
        w->call = CALL_NONE;
        return WIRE_DONE;
    }
    call_begun(w, CALL_NEXT, mysql_next_result_start(&w->rc, w->my));
    return step(w);
}

static enum wire_said step(struct wire *w)
{
    if (w->call == CALL_NONE) return WIRE_WAITS;
    if (w->call == CALL_TOLD) return next(w);
    if (w->is_new) return call_ended(w);
    if (w->call == CALL_CONNECT) name_set(w);
    int ready = ready_bits(w);
    if (ready == 0) return WIRE_WAITS;
    wants_set(w, call_continue(w, ready));
    return w->is_new ? call_ended(w) : WIRE_WAITS;
}

enum wire_said hf__mysql_wire_step(struct wire *w)
{
    struct pipe_quiet quiet;
    quiet_begin(w, &quiet);
    enum wire_said said = step(w);
    quiet_end(&quiet);
    return said;
}

void hf__mysql_wire_connect(struct wire *w, int status)
{
    call_begun(w, CALL_CONNECT, status);
}

void hf__mysql_wire_send(struct wire *w, const char *text, size_t len)
{
    struct pipe_quiet quiet;
    quiet_begin(w, &quiet);
    call_begun(w, CALL_QUERY,
               mysql_real_query_start(&w->rc, w->my, text, (unsigned long)len));
    quiet_end(&quiet);
}

void hf__mysql_wire_close(struct wire *w)
{
    struct pipe_quiet quiet;
    if (!w->my) return;
    quiet_begin(w, &quiet);
    if (w->fd >= 0) shutdown(w->fd, SHUT_RDWR); /* it would say goodbye */
    if (w->call != CALL_NONE && w->call != CALL_TOLD && !w->is_new)
        for (int i = 0; i < ENDS_MAX; i++)
            if (call_continue(w, MYSQL_WAIT_TIMEOUT) == 0) break;
    if (w->result) mysql_free_result(w->result);
    mysql_close(w->my);
    quiet_end(&quiet);
    *w = (struct wire){.fd = -1};
}
