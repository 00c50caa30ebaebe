/* ear.c: see ear.h.  One rule: what was read behind a text is kept. */
#include "lib/ear.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lib/rig.h"

static int sock = -1;
static char heard[4096];
static size_t heard_len;

static void ear_close(void *arg)
{
    (void)arg;
    if (sock >= 0) close(sock);
    sock = -1;
}

int ear_hears(const char *text)
{
    struct pollfd p = {.fd = sock, .events = POLLIN};
    for (;;) {
        heard[heard_len] = '\0';
        const char *at = strstr(heard, text);
        if (at) {
            at += strlen(text);
            heard_len = strlen(at);
            memmove(heard, at, heard_len);
            return 1;
        }
        size_t room = sizeof heard - 1 - heard_len;
        if (room == 0 || poll(&p, 1, RIG_PATIENCE_MS) != 1) return 0;
        ssize_t n = read(sock, heard + heard_len, room);
        if (n <= 0) return 0;
        heard_len += (size_t)n;
    }
}

void ear_open(const struct lab_server *r, const char *channel)
{
    char line[200];
    int len = snprintf(line, sizeof line, "SUBSCRIBE %s\r\n", channel);
    ear_close(NULL);
    heard_len = 0;
    sock = lab_ask_connect(r->ip, r->port);
    CHECK(sock >= 0);
    test_cleanup(ear_close, NULL);
    CHECK_INT(write(sock, line, (size_t)len), len);
    CHECK(ear_hears(":1\r\n"));
}
