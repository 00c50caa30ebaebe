/*
 * run/event.c: what the command, and a program that started holdfast, are told.
 *
 * The command reads lines on HOLDFAST_STATUS_FD; a program that asked with
 * --json gets events, of which the last is always "end".  Neither may block the
 * supervisor: a command that does not read its lines misses later `held` lines,
 * but never `lost`; a reader of events that does not read them misses some.
 */
#include "common/say.h"
#include "run/event.h"
#include "session/holder.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Unread bytes beyond which `held` is left out. */
#define STATUS_BACKLOG_MAX 4096

void status_line(const struct run *r, const char *line)
{
    int unread = 0;
    if (r->status_fd < 0) return;
    if (strncmp(line, "held", 4) == 0
        && ioctl(r->status_fd, FIONREAD, &unread) == 0
        && unread > STATUS_BACKLOG_MAX)
        return;
    char text[64];
    int len = snprintf(text, sizeof(text), "%s\n", line);
    if (write(r->status_fd, text, (size_t)len) < 0)
        return; /* the command closed its end, which it may */
}

static void event_begin(const struct run *r, struct json *j, const char *event)
{
    json_begin(j);
    json_text(j, "event", event);
    json_text(j, "lock", r->name);
}

static void event_send(struct json *j)
{
    json_end(j);
    say_write(say_json_fd(), j->buf, j->len, 1);
}

void event_simple(const struct run *r, const char *event)
{
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, event);
    event_send(&j);
}

void event_number(const struct run *r, const char *event, const char *key,
                  int64_t value)
{
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, event);
    json_int(&j, key, value);
    event_send(&j);
}

void event_acquired(const struct run *r)
{
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, "acquired");
    json_uint(&j, "fence", r->held.fence);
    json_int(&j, "valid_ms", r->lease_ms == INT64_MAX ? -1 : r->held.valid_ms);
    json_text(&j, "guarantee", guarantee_name(r->held.guarantee));
    json_text(&j, "url", r->url);
    event_send(&j);
    for (size_t i = 1; r->s.multi && i < r->s.all_len; i++) {
        json_begin(&j);
        json_text(&j, "event", "also");
        json_text(&j, "lock", hf_lock_name(r->s.all[i]));
        json_uint(&j, "fence", r->held.fences[i]);
        event_send(&j);
    }
}

void event_held(const struct run *r, int64_t valid_ms)
{
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, "held");
    json_int(&j, "valid_ms", valid_ms);
    json_text(&j, "guarantee", guarantee_name(r->held.guarantee));
    json_end(&j);
    say_write(say_json_fd(), j.buf, j.len, 0);
}

void event_once(const struct run *r, const struct hf_once_result *result)
{
    static const char *const names[] = {
        [HF_ONCE_DONE] = "done",
        [HF_ONCE_RUNNING] = "running",
        [HF_ONCE_DIED] = "died",
    };
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, "once");
    json_text(&j, "outcome", names[result->outcome]);
    if (result->outcome == HF_ONCE_DONE) json_int(&j, "status", result->status);
    if (result->fence) json_uint(&j, "fence", result->fence);
    if (result->began_ms) json_int(&j, "began_ms", result->began_ms);
    if (result->ended_ms) json_int(&j, "ended_ms", result->ended_ms);
    if (result->host[0]) json_text(&j, "host", result->host);
    if (result->pid > 0) json_int(&j, "pid", result->pid);
    event_send(&j);
}

void event_end_of_round(const struct run *r, const char *reason, int code)
{
    struct json j;
    if (say_json_fd() < 0) return;
    event_begin(r, &j, "ended");
    json_text(&j, "reason", reason);
    json_int(&j, "exit", code);
    event_send(&j);
}

void event_end(const struct run *r, const char *reason, int code)
{
    struct json j;
    if (say_json_fd() < 0) return;
    json_begin(&j);
    json_text(&j, "event", "end");
    json_text(&j, "reason", reason);
    json_int(&j, "exit", code);
    if (r->name) json_text(&j, "lock", r->name);
    if (r->held.fence) json_uint(&j, "fence", r->held.fence);
    if (r->held.is_set)
        json_text(&j, "guarantee", guarantee_name(r->held.guarantee));
    event_send(&j);
}
