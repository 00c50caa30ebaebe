/*
 * peer.c: starting and asking a Java service.  One rule: the command is given
 * from outside, by java= or HF_INTEROP_JAVA; nothing is searched for here.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

static const char *peer_command(void)
{
    const char *command = test_arg("java");
    return command ? command : getenv("HF_INTEROP_JAVA");
}

/* The child: the shell reads the command's quotes and makes way for it. */
static int peer_exec(struct proc *self, const void *arg)
{
    const struct peer *p = arg;
    char command[4096];
    snprintf(command, sizeof command, "exec %s %d %" PRId64, peer_command(),
             p->port, p->watchdog_ms);
    if (dup2(self->from_fd, 0) < 0 || dup2(self->to_fd, 1) < 0) return 126;
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    return 127;
}

void peer_start(struct peer *p, const struct redis *r, int64_t watchdog_ms)
{
    if (!peer_command())
        TEST_FAIL("no Java: HF_INTEROP_JAVA is not set: use `make interop`");
    p->port = r->port;
    p->watchdog_ms = watchdog_ms;
    proc_start(&p->proc, peer_exec, p);
    const char *line = peer_hear(p, PEER_START_MS);
    if (!line) TEST_FAIL("the peer does not start: %s", peer_command());
    CHECK_STR(line, "ready");
}

void peer_begin(struct peer *p, struct redis *r, int64_t watchdog_ms)
{
    redis_begin(r, NULL);
    rig_begin_at(r->url);
    peer_start(p, r, watchdog_ms);
}

static void line_format(char line[PROC_LINE_MAX], const char *format,
                        va_list ap)
{
    int n = vsnprintf(line, PROC_LINE_MAX, format, ap);
    CHECK(n > 0 && n < PROC_LINE_MAX - 1);
}

void peer_say(struct peer *p, const char *format, ...)
{
    char line[PROC_LINE_MAX];
    va_list ap;
    va_start(ap, format);
    line_format(line, format, ap);
    va_end(ap);
    proc_say(&p->proc, "%s", line);
}

const char *peer_hear(struct peer *p, int64_t timeout_ms)
{
    return proc_hear(&p->proc, p->line, timeout_ms) ? p->line : NULL;
}

static const char *line_ask(struct peer *p, const char *line)
{
    proc_say(&p->proc, "%s", line);
    const char *answer = peer_hear(p, RIG_PATIENCE_MS);
    if (!answer) TEST_FAIL("%s: no answer", line);
    return answer;
}

const char *peer_ask(struct peer *p, const char *format, ...)
{
    char line[PROC_LINE_MAX];
    va_list ap;
    va_start(ap, format);
    line_format(line, format, ap);
    va_end(ap);
    return line_ask(p, line);
}

int64_t peer_number(struct peer *p, const char *format, ...)
{
    char line[PROC_LINE_MAX];
    char *end;
    va_list ap;
    va_start(ap, format);
    line_format(line, format, ap);
    va_end(ap);
    const char *answer = line_ask(p, line);
    int64_t n = strtoll(answer, &end, 10);
    if (end == answer || *end) TEST_FAIL("%s: %s", line, answer);
    return n;
}

void peer_kill(struct peer *p)
{
    proc_signal(&p->proc, SIGKILL);
    CHECK_INT(proc_wait(&p->proc, RIG_PATIENCE_MS), -SIGKILL);
}

struct listening {
    struct redis *server;
    const char *name;
    int wanted;
};

static int is_listened_to(void *arg)
{
    const struct listening *l = arg;
    const char *open = strchr(l->name, '{') ? "" : "{";
    const char *reply =
        redis_say(l->server, "PUBSUB NUMSUB redisson_lock__channel:%s%s%s",
                  open, l->name, *open ? "}" : "");
    const char *count = strchr(reply, '\n');
    return count && strtol(count + 1, NULL, 10) >= l->wanted;
}

int peer_until_waiters(struct redis *r, const char *name, int wanted)
{
    struct listening l = {r, name, wanted};
    return rig_until(is_listened_to, &l);
}

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, w->holder, RIG_WAIT_MS, NULL);
    w->ended_ms = rig_now_ms();
}

void waiter_start(struct waiter *w, struct redis *r, hf_lock *lock)
{
    *w = (struct waiter){lock, hf_holder_new(), HF_INTERNAL, 0};
    rig_spawn(waiter_run, w);
    CHECK(peer_until_waiters(r, hf_lock_name(lock), 1));
    rig_pause_ms(100); /* it tries once more after it has subscribed */
}
