/*
 * peer.c: starting and asking a service.  One rule: the command is given from
 * outside, as java=, go=, py= or node=; nothing is searched for here.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

static const char *peer_command(const struct peer *p)
{
    return test_arg(p->language);
}

/* The child: the shell reads the command's quotes and makes way for it. */
static int peer_exec(struct lab_proc *self, const void *arg)
{
    const struct peer *p = arg;
    char command[4096];
    snprintf(command, sizeof command, "exec %s %d %" PRId64 "%s",
             peer_command(p), p->port, p->watchdog_ms,
             p->is_cluster ? " cluster" : "");
    if (dup2(self->from_fd, 0) < 0 || dup2(self->to_fd, 1) < 0) return 126;
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    return 127;
}

void peer_start(struct peer *p, const struct lab_server *r, int64_t watchdog_ms)
{
    if (!p->language) p->language = "java";
    if (!peer_command(p))
        TEST_FAIL("no %s= is given: use `make interop`", p->language);
    p->port = r->port;
    p->watchdog_ms = watchdog_ms;
    proc_start(&p->proc, peer_exec, p);
    const char *line = peer_hear(p, PEER_START_MS);
    if (!line) TEST_FAIL("the peer does not start: %s", peer_command(p));
    CHECK_STR(line, "ready");
}

void peer_begin(struct peer *p, struct lab_server *r, int64_t watchdog_ms)
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

int peer_waits(struct peer *p)
{
    return peer_hear(p, 300) == NULL;
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
    struct lab_server *server;
    const char *name;
    int wanted;
};

int64_t peer_waiters(struct lab_server *r, const char *name)
{
    const char *open = strchr(name, '{') ? "" : "{";
    const char *reply =
        redis_say(r, "PUBSUB NUMSUB redisson_lock__channel:%s%s%s", open, name,
                  *open ? "}" : "");
    const char *count = strchr(reply, '\n');
    return count ? strtoll(count + 1, NULL, 10) : 0;
}

static int is_listened_to(void *arg)
{
    const struct listening *l = arg;
    return peer_waiters(l->server, l->name) >= l->wanted;
}

int peer_until_waiters(struct lab_server *r, const char *name, int wanted)
{
    struct listening l = {r, name, wanted};
    return rig_until(is_listened_to, &l);
}

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    o.backoff = w->backoff;
    w->status = hf_lock_acquire(w->lock, &o, &w->hold, NULL);
    w->ended_ms = rig_now_ms();
}

static void waiter_spawn(struct waiter *w, hf_lock *lock, int32_t backoff)
{
    *w = (struct waiter){lock, NULL, backoff, HF_INTERNAL, 0};
    rig_spawn(waiter_run, w);
}

void waiter_start_polling(struct waiter *w, hf_lock *lock, int32_t backoff)
{
    waiter_spawn(w, lock, backoff);
    rig_pause_ms(300);
}

void waiter_start(struct waiter *w, struct lab_server *r, hf_lock *lock)
{
    waiter_spawn(w, lock, HF_BACKOFF_NONE);
    CHECK(peer_until_waiters(r, hf_lock_name(lock), 1));
    rig_pause_ms(100); /* it tries once more after it has subscribed */
}

struct queue {
    hf_lock *lock;
    int wanted;
};

static int is_queued(void *arg)
{
    struct queue *q = arg;
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(q->lock, &info, NULL) == HF_OK
           && info.queued == q->wanted;
}

int lock_until_queued(hf_lock *lock, int wanted)
{
    struct queue q = {lock, wanted};
    return rig_until(is_queued, &q);
}

void waiter_start_queued(struct waiter *w, hf_lock *lock, int wanted)
{
    waiter_spawn(w, lock, HF_BACKOFF_NONE);
    CHECK(lock_until_queued(lock, wanted));
}
