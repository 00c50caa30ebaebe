/*
 * wire.c: see wire.h.  One rule: a server that is silent for LAB_PATIENCE_MS
 * has hung up.
 */
#include "lab/wire.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "lab/wait.h"

void lab_wire_add(struct lab_wire_text *t, const char *bytes, size_t len)
{
    size_t room = t->size - t->len - 1;
    if (len > room) len = room;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
}

void lab_wire_field(struct lab_wire_text *t, int i, const char *bytes,
                    size_t len)
{
    if (i == 0 && t->len > 0) lab_wire_add(t, "\n", 1);
    if (i > 0) lab_wire_add(t, "|", 1);
    if (bytes) lab_wire_add(t, bytes, len);
}

int lab_wire_send(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len > 0) {
        ssize_t n = send(fd, at, len, MSG_NOSIGNAL);
        if (n <= 0) return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int lab_wire_read(int fd, void *bytes, size_t len)
{
    char *at = bytes;
    while (len > 0) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t n =
            poll(&p, 1, LAB_PATIENCE_MS) > 0 ? recv(fd, at, len, 0) : -1;
        if (n <= 0) return -1;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}
