/*
 * resolve.c: name resolution in a short-lived thread.  One rule: the thread
 * shares nothing with its starter but one end of a socket pair, so that giving
 * up is closing the other end, at any time, even with the client gone.
 */
#include "net/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_LEN_MAX 1024
#define STACK_SIZE (256 * 1024)

/* The thread's own.  From malloc and not from the client's allocator, for it
 * may outlive the client. */
struct job {
    int fd;
    int port;
    struct resolved answer;
    char host[HOST_LEN_MAX];
};

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

static int lookup(const char *host, int port, int flags, struct resolved *out)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = flags | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    char service[16];
    memset(out, 0, sizeof *out);
    snprintf(service, sizeof service, "%d", port);
    out->code = getaddrinfo(host, service, &hints, &list);
    if (out->code != 0) return -1;
    addresses_take(list, out);
    freeaddrinfo(list);
    if (out->count == 0) out->code = EAI_NONAME;
    return out->code == 0 ? 0 : -1;
}

int hf__resolve_numeric(const char *host, int port, struct resolved *out)
{
    return lookup(host, port, AI_NUMERICHOST, out);
}

static void *job_run(void *arg)
{
    struct job *j = arg;
    lookup(j->host, j->port, AI_ADDRCONFIG, &j->answer);
    /* A host that has only a loopback is told of no address by ADDRCONFIG. */
    if (j->answer.code != 0) lookup(j->host, j->port, 0, &j->answer);
    const char *from = (const char *)&j->answer;
    size_t left = sizeof j->answer;
    while (left > 0) {
        ssize_t n = send(j->fd, from, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        from += n;
        left -= (size_t)n;
    }
    close(j->fd);
    free(j);
    return NULL;
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

int hf__resolve_start(const char *host, int port)
{
    size_t len = strlen(host);
    int pair[2] = {-1, -1};
    int code = ENAMETOOLONG;
    if (len >= HOST_LEN_MAX) goto out;
    struct job *j = calloc(1, sizeof *j);
    code = ENOMEM;
    if (!j) goto out;
    code = pair_make(pair) == 0 ? 0 : errno;
    if (code == 0) {
        j->fd = pair[1];
        j->port = port;
        memcpy(j->host, host, len + 1);
        code = thread_start(j);
    }
    if (code == 0) return pair[0];
    free(j);
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
