/*
 * run/output.c: once --store-output: the command's standard output goes through
 * the supervisor, which keeps its first bytes for --losers status.
 *
 * While the command runs nothing is read that cannot be passed on, and nothing
 * is written that could block: the lock has to be renewed meanwhile.
 */
#include "common/say.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define CHUNK 4096         /* POSIX: a pipe that is writable takes PIPE_BUF */
#define REST_MAX (1 << 17) /* twice what a pipe holds */

static char kept[HF_ONCE_RESULT_MAX];
static size_t kept_len;
static int kept_cut;
static char buffer[CHUNK + REST_MAX]; /* what is not passed on yet */

int output_open(struct run *r)
{
    int fds[2];
    r->out.fd = r->out.child_fd = -1;
    if (!r->o->store_output) return 0;
    if (pipe2(fds, O_CLOEXEC) != 0) return errno;
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    r->out.fd = fds[0];
    r->out.child_fd = fds[1];
    return 0;
}

void output_give(struct run *r)
{
    if (r->out.child_fd >= 0) (void)dup2(r->out.child_fd, STDOUT_FILENO);
}

void output_forget(struct run *r)
{
    if (r->out.child_fd >= 0) close(r->out.child_fd);
    r->out.child_fd = -1;
}

int output_wants_read(const struct run *r)
{
    return r->out.fd >= 0 && r->out.len == 0;
}

int output_wants_write(const struct run *r)
{
    return r->out.len > 0;
}

static void output_close(struct run *r)
{
    if (r->out.fd >= 0) close(r->out.fd);
    r->out.fd = -1;
}

static void output_keep(const char *data, size_t len)
{
    size_t room = sizeof(kept) - kept_len;
    if (len > room) kept_cut = 1;
    if (len > room) len = room;
    memcpy(kept + kept_len, data, len);
    kept_len += len;
}

/* Read behind what is waiting, at most `max` bytes.  0 if there is no more. */
static int output_read(struct run *r, size_t max)
{
    struct output *o = &r->out;
    ssize_t n = read(o->fd, buffer + o->at + o->len, max);
    if (n < 0 && errno == EINTR) return 1;
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) {
        output_close(r);
        return 0;
    }
    output_keep(buffer + o->at + o->len, (size_t)n);
    o->len += (size_t)n;
    return 1;
}

/* The reader of our output is gone: close the pipe, so that the command gets
 * SIGPIPE as it would without us. */
static void output_broken(struct run *r)
{
    r->out.at = r->out.len = 0;
    output_close(r);
}

static void output_write(struct run *r)
{
    struct output *o = &r->out;
    ssize_t n = write(STDOUT_FILENO, buffer + o->at, o->len);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (n < 0) {
        output_broken(r);
        return;
    }
    o->at += (size_t)n;
    o->len -= (size_t)n;
    if (o->len == 0) o->at = 0;
}

void output_step(struct run *r)
{
    if (output_wants_write(r))
        output_write(r);
    else if (output_wants_read(r))
        (void)output_read(r, CHUNK);
}

/* Read what is in the pipe now, and no more than there is room for: a
 * descendant that is left behind may write for ever. */
void output_drain(struct run *r)
{
    struct output *o = &r->out;
    size_t used = o->at + o->len;
    while (o->fd >= 0 && used < sizeof(buffer)
           && output_read(r, sizeof(buffer) - used))
        used = o->at + o->len;
    output_close(r);
    if (kept_cut)
        say_warn("%s: only the first %d bytes of the output are stored",
                 r->s.shown, HF_ONCE_RESULT_MAX);
}

void output_end_all(struct run *r)
{
    (void)write_all(STDOUT_FILENO, buffer + r->out.at, r->out.len);
    r->out.len = 0;
}

const char *output_kept(const struct run *r, size_t *len)
{
    *len = kept_len;
    return r->o->store_output && kept_len ? kept : NULL;
}
