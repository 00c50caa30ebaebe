/*
 * resolve.c: name resolution in threads of its own, for getaddrinfo() cannot be
 * told to stop.
 *
 * One rule: a name is looked up once at a time in the whole process.  A second
 * connection that wants the name meanwhile waits for the same answer, by a
 * socket pair of its own; giving up is closing one end, at any time.  So a
 * resolver that does not answer costs one thread for each name, however often
 * it is tried, and that thread may outlive the client: the shared library is
 * linked so that it stays loaded (-z nodelete).
 */
#include "net/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_LEN_MAX 1024
#define STACK_SIZE (256 * 1024)

/* The end of a socket pair that the answer is written to. */
struct waiter {
    struct waiter *next;
    int fd;
    int port;
};

/* One name that is being looked up.  From malloc and not from a client's
 * allocator, for it may outlive every client. */
struct job {
    struct job *next;
    struct waiter *waiters;
    char host[HOST_LEN_MAX];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct job *jobs; /* guarded by the mutex, and so are their waiters */

static void addresses_take(const struct addrinfo *list, struct resolved *out)
{
    for (; list && out->count < RESOLVE_ADDRS_MAX; list = list->ai_next) {
        struct stream_addr *a = &out->addrs[out->count];
        if (list->ai_addrlen > sizeof a->sa) continue;
        memcpy(&a->sa, list->ai_addr, list->ai_addrlen);
        a->len = list->ai_addrlen;
        out->count++;
    }
}

static void port_set(struct resolved *r, int port)
{
    for (int i = 0; i < r->count; i++) {
        struct sockaddr_storage *sa = &r->addrs[i].sa;
        if (sa->ss_family == AF_INET)
            ((struct sockaddr_in *)sa)->sin_port = htons((uint16_t)port);
        else if (sa->ss_family == AF_INET6)
            ((struct sockaddr_in6 *)sa)->sin6_port = htons((uint16_t)port);
    }
}

static int lookup(const char *host, int flags, struct resolved *out)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags};
    struct addrinfo *list = NULL;
    memset(out, 0, sizeof *out);
    out->code = getaddrinfo(host, NULL, &hints, &list);
    if (out->code != 0) return -1;
    addresses_take(list, out);
    freeaddrinfo(list);
    if (out->count == 0) out->code = EAI_NONAME;
    return out->code == 0 ? 0 : -1;
}

int hf__resolve_numeric(const char *host, int port, struct resolved *out)
{
    int rc = lookup(host, AI_NUMERICHOST, out);
    port_set(out, port);
    return rc;
}

/* ---- waiters ---- */

static void waiter_free(struct waiter *w)
{
    close(w->fd);
    free(w);
}

/* Tries that were given up: nobody has the other end any more. */
static void waiters_prune(struct job *j)
{
    for (struct waiter **at = &j->waiters; *at;) {
        struct waiter *w = *at;
        struct pollfd p = {.fd = w->fd};
        if (poll(&p, 1, 0) == 1 && (p.revents & POLLHUP)) {
            *at = w->next;
            waiter_free(w);
        } else {
            at = &w->next;
        }
    }
}

/* It fits into the socket: nothing here waits. */
static void waiter_tell(struct waiter *w, struct resolved *answer)
{
    port_set(answer, w->port);
    const char *from = (const char *)answer;
    size_t left = sizeof *answer;
    while (left > 0) {
        ssize_t n = send(w->fd, from, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        from += n;
        left -= (size_t)n;
    }
}

/* ---- jobs ---- */

static struct job *job_find(const char *host)
{
    struct job *j = jobs;
    while (j && strcmp(j->host, host) != 0) j = j->next;
    return j;
}

static void job_unlink(const struct job *j)
{
    struct job **at = &jobs;
    while (*at != j) at = &(*at)->next;
    *at = j->next;
}

static void job_free(struct job *j)
{
    while (j->waiters) {
        struct waiter *w = j->waiters;
        j->waiters = w->next;
        waiter_free(w);
    }
    free(j);
}

static void *job_run(void *arg)
{
    struct job *j = arg;
    struct resolved answer;
    lookup(j->host, AI_ADDRCONFIG, &answer);
    /* A host that has only a loopback is told of no address by ADDRCONFIG. */
    if (answer.code != 0) lookup(j->host, 0, &answer);
    pthread_mutex_lock(&mutex);
    job_unlink(j);
    pthread_mutex_unlock(&mutex);
    for (struct waiter *w = j->waiters; w; w = w->next) waiter_tell(w, &answer);
    job_free(j);
    return NULL;
}

/* No thread of the parent's runs in a child: nothing is looked up there.  The
 * mutex may be that of a thread which is not there either. */
static void fork_child(void)
{
    if (pthread_mutex_trylock(&mutex) != 0) {
        pthread_mutex_init(&mutex, NULL);
        jobs = NULL;
        return;
    }
    while (jobs) {
        struct job *j = jobs;
        jobs = j->next;
        job_free(j);
    }
    pthread_mutex_unlock(&mutex);
}

static void fork_register(void)
{
    pthread_atfork(NULL, NULL, fork_child);
}

static int thread_start(struct job *j)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    int rc = pthread_attr_init(&attr);
    if (rc != 0) return rc;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attr, STACK_SIZE);
    /* The program's signals are none of this thread's business. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, &attr, job_run, j);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

static int pair_make(int pair[2])
{
#ifdef SOCK_CLOEXEC
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return -1;
    (void)fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(pair[1], F_SETFD, FD_CLOEXEC);
#endif
    return fcntl(pair[0], F_SETFL, O_NONBLOCK);
}

/* 0, or an errno: no thread, and no job. */
static int job_begin(const char *host, struct waiter *w)
{
    struct job *j = calloc(1, sizeof *j);
    if (!j) return ENOMEM;
    memcpy(j->host, host, strlen(host) + 1);
    j->waiters = w;
    j->next = jobs;
    jobs = j;
    int code = thread_start(j);
    if (code != 0) {
        jobs = j->next;
        free(j);
    }
    return code;
}

/* 0, or an errno.  `w` is taken if it is 0. */
static int job_join(const char *host, struct waiter *w)
{
    int code = 0;
    pthread_once(&once, fork_register);
    pthread_mutex_lock(&mutex);
    struct job *j = job_find(host);
    if (j) {
        waiters_prune(j);
        w->next = j->waiters;
        j->waiters = w;
    } else {
        code = job_begin(host, w);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

int hf__resolve_start(const char *host, int port)
{
    int pair[2] = {-1, -1};
    int code = ENAMETOOLONG;
    if (strlen(host) >= HOST_LEN_MAX) goto out;
    struct waiter *w = calloc(1, sizeof *w);
    code = ENOMEM;
    if (!w) goto out;
    code = pair_make(pair) == 0 ? 0 : errno;
    if (code == 0) {
        w->fd = pair[1];
        w->port = port;
        code = job_join(host, w);
    }
    if (code == 0) return pair[0];
    free(w);
out:
    if (pair[0] >= 0) close(pair[0]);
    if (pair[1] >= 0) close(pair[1]);
    errno = code;
    return -1;
}

int hf__resolve_take(int fd, struct resolved *out)
{
    /* Whole or not at all: the bytes stay in the socket until all are there. */
    ssize_t n = recv(fd, out, sizeof *out, MSG_PEEK);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (n == 0) {
        errno = ECONNRESET;
        return -1;
    }
    return n == (ssize_t)sizeof *out ? 1 : 0;
}

const char *hf__resolve_text(int code)
{
    return gai_strerror(code);
}
