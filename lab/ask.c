/*
 * ask.c: see ask.h.  One rule: what does not fit is left out, never waited for.
 */
#include "lab/ask.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lab/own.h"

#define SAY_S 10

struct asking {
    int fd;
    char in[4096];
    size_t at, len;
    char *out;
    size_t used, size;
};

static int asking_byte(struct asking *a)
{
    if (a->at == a->len) {
        ssize_t n;
        do n = read(a->fd, a->in, sizeof a->in);
        while (n < 0 && errno == EINTR);
        if (n <= 0) return -1;
        a->at = 0;
        a->len = (size_t)n;
    }
    return (unsigned char)a->in[a->at++];
}

static void asking_put(struct asking *a, char c)
{
    if (a->used + 1 < a->size) a->out[a->used++] = c;
    a->out[a->used] = 0;
}

static int line_read(struct asking *a, char *line, size_t size)
{
    size_t len = 0;
    for (;;) {
        int c = asking_byte(a);
        if (c < 0) return -1;
        if (c == '\r') continue;
        if (c == '\n') break;
        if (len + 1 < size) line[len++] = (char)c;
    }
    line[len] = 0;
    return 0;
}

static void text_put(struct asking *a, const char *text)
{
    while (*text) asking_put(a, *text++);
}

static int reply_read(struct asking *a)
{
    char line[1024];
    if (line_read(a, line, sizeof line) < 0) return -1;
    long n = strtol(line + 1, NULL, 10);
    if (line[0] == '-') text_put(a, line);
    if (line[0] == '+' || line[0] == ':') text_put(a, line + 1);
    if ((line[0] == '$' || line[0] == '*') && n < 0) text_put(a, "(nil)");
    if (line[0] == '$' && n >= 0) {
        for (long i = 0; i < n + 2; i++) {
            int c = asking_byte(a);
            if (c < 0) return -1;
            if (i < n) asking_put(a, (char)c);
        }
    }
    for (long i = 0; line[0] == '*' && i < n; i++) {
        if (reply_read(a) < 0) return -1;
        asking_put(a, '\n');
    }
    return 0;
}

int lab_ask_connect(const char *ip, int port)
{
    struct timeval patience = {SAY_S, 0};
    if (!ip) ip = "127.0.0.1";
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port)};
    /* A command is two sends: the second would wait 40 ms for an ACK. */
    int at_once = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, ip, &to.sin_addr);
    if (fd >= 0
        && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)
               == 0
        && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once)
               == 0
        && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    lab__fail("%s:%d: cannot be connected to: %s", ip, port, strerror(errno));
    if (fd >= 0) close(fd);
    return LAB_FAILED;
}

const char *lab_ask_say(int fd, const char *line, char *out, size_t size)
{
    struct asking a = {.fd = fd, .out = out, .size = size};
    size_t len = strlen(line);
    out[0] = 0;
    int is_sent = send(fd, line, len, MSG_NOSIGNAL) == (ssize_t)len
                  && send(fd, "\r\n", 2, MSG_NOSIGNAL) == 2;
    if (!is_sent || reply_read(&a) < 0) text_put(&a, "(no answer)");
    return out;
}
