/*
 * common/say.c: sentences for people, on stderr, one write(2) each so that
 * lines of several processes do not mix.  With --json they become events
 * instead.
 *
 * While a lock is held for a command, nothing here waits for a reader of stderr
 * that does not read: the lock would not be renewed meanwhile.
 */
#include "common/json.h"
#include "common/say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READER_WAIT_MS 100 /* once, for a reader that stopped reading */

static struct {
    int quiet;
    int verbose;
    int json_fd;
    int is_hasty; /* see say_hasty() */
    int is_stuck; /* the last line could not be written in time */
} say = {0, 0, -1, 0, 0};

void say_setup(int quiet, int verbose, int json_fd)
{
    say.quiet = quiet;
    say.verbose = verbose;
    say.json_fd = json_fd;
}

int say_json_fd(void)
{
    return say.json_fd;
}

int write_all(int fd, const char *buf, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, buf, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        buf += n;
        len -= (size_t)n;
    }
    return 0;
}

void say_hasty(int is_hasty)
{
    say.is_hasty = is_hasty;
    say.is_stuck = 0;
}

/* A pipe that is ready takes PIPE_BUF bytes at once. */
static int is_ready(int fd, int is_needed)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int wait_ms = is_needed && !say.is_stuck ? READER_WAIT_MS : 0;
    int n = poll(&p, 1, wait_ms);
    if (is_needed) say.is_stuck = n == 0;
    return n != 0;
}

void say_write(int fd, const char *buf, size_t len, int is_needed)
{
    if (!say.is_hasty || is_ready(fd, is_needed)) (void)write_all(fd, buf, len);
}

static void say_event(const char *level, const char *text)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "event", "message");
    json_text(&j, "level", level);
    json_text(&j, "text", text);
    json_end(&j);
    say_write(say.json_fd, j.buf, j.len, 1);
}

static void say_line(const char *level, const char *format, va_list args)
{
    char text[4096];
    char line[sizeof(text) + 16];
    vsnprintf(text, sizeof(text), format, args);
    if (say.json_fd >= 0) say_event(level, text);
    if (say.json_fd == STDERR_FILENO) return;
    int len = snprintf(line, sizeof(line), "holdfast: %s\n", text);
    say_write(STDERR_FILENO, line, (size_t)len, 1);
}

void say_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say_line("error", format, args);
    va_end(args);
}

void say_warn(const char *format, ...)
{
    if (say.quiet) return;
    va_list args;
    va_start(args, format);
    say_line("warning", format, args);
    va_end(args);
}

void say_note(const char *format, ...)
{
    if (!say.verbose || say.quiet) return;
    va_list args;
    va_start(args, format);
    say_line("note", format, args);
    va_end(args);
}
