/*
 * session/holder.c: who holds a lock, in words and as JSON.  What is unknown
 * is left out, never guessed.
 */
#include "common/duration.h"
#include "common/text.h"
#include "session/holder.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Append to `out` at `*len`, cutting at `size`. */
__attribute__((format(printf, 4, 5))) static void append(char *out, size_t size,
                                                         size_t *len,
                                                         const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + *len, size - *len, format, args);
    va_end(args);
    if (n > 0) *len += (size_t)n;
    if (*len >= size) *len = size - 1;
}

static void append_who(const struct hf_info *info, char *out, size_t size,
                       size_t *len)
{
    char shown[4 * HF_OWNER_MAX];
    if (info->host[0])
        append(out, size, len, "%s",
               text_escape(info->host, shown, sizeof(shown)));
    else if (info->owner[0])
        append(out, size, len, "%s",
               text_escape(info->owner, shown, sizeof(shown)));
    else
        append(out, size, len, info->shared ? "readers" : "another process");
    if (info->pid > 0 && info->detached)
        append(out, size, len, " ticket of pid %" PRId64, info->pid);
    else if (info->pid > 0)
        append(out, size, len, " pid %" PRId64, info->pid);
    else if (info->detached)
        append(out, size, len, " by a ticket");
    if (info->label[0])
        append(out, size, len, " (%s)",
               text_escape(info->label, shown, sizeof(shown)));
    if (info->shared) append(out, size, len, ", shared");
    if (info->shared && info->readers > 1)
        append(out, size, len, " with %" PRId64 " more", info->readers - 1);
}

static void append_times(const struct hf_info *info, char *out, size_t size,
                         size_t *len)
{
    char time[32];
    if (info->since_ms > 0 && info->now_ms >= info->since_ms)
        append(
            out, size, len, ", for %s",
            duration_text(info->now_ms - info->since_ms, time, sizeof(time)));
    if (info->fence)
        append(out, size, len, ", %sfence %" PRIu64,
               info->foreign ? "last " : "", info->fence);
    if (info->ttl_ms >= 0)
        append(out, size, len, ", lease %s left",
               duration_text(info->ttl_ms, time, sizeof(time)));
}

/* Usual values are only told if `all` is set. */
static void append_rest(const struct hf_info *info, int all, char *out,
                        size_t size, size_t *len)
{
    if (info->owner_count > 1 || (all && info->owner_count == 1))
        append(out, size, len, ", count %" PRId64, info->owner_count);
    if (info->waiters > 0 || (all && info->waiters == 0))
        append(out, size, len, ", %" PRId64 " waiting", info->waiters);
    if (info->queued > 0)
        append(out, size, len, ", %" PRId64 " queued", info->queued);
    if (info->position > 0)
        append(out, size, len, ", we are number %" PRId64, info->position);
    if (info->permits > 0)
        append(out, size, len, ", %" PRId64 " of %" PRId64 " permits free",
               info->available, info->permits);
    if (info->layout[0] && (all || info->foreign)) {
        char shown[4 * HF_LAYOUT_MAX];
        append(out, size, len, ", kind %s",
               text_escape(info->layout, shown, sizeof(shown)));
    }
    if (info->nodes > 0 && (all || info->nodes_agree < info->nodes))
        append(out, size, len, ", on %d of %d nodes", info->nodes_agree,
               info->nodes);
    if (info->guarantee == HF_GUARANTEE_LOCAL)
        append(out, size, len, ", on this host only");
    else if (all)
        append(out, size, len, ", guarantee store");
}

const char *guarantee_name(int guarantee)
{
    return guarantee == HF_GUARANTEE_LOCAL ? "local" : "store";
}

const char *holder_name(const struct hf_info *info, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    append_who(info, out, size, &len);
    return out;
}

static const char *holder_say(const struct hf_info *info, int all, char *out,
                              size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    append_who(info, out, size, &len);
    append_times(info, out, size, &len);
    append_rest(info, all, out, size, &len);
    return out;
}

const char *holder_text(const struct hf_info *info, char *out, size_t size)
{
    return holder_say(info, 0, out, size);
}

const char *holder_details(const struct hf_info *info, char *out, size_t size)
{
    return holder_say(info, 1, out, size);
}

void holder_json(struct json *j, const char *name, const struct hf_info *info)
{
    json_text(j, "lock", name);
    json_bool(j, "held", info->locked);
    json_uint(j, "fence", info->fence);
    if (info->waiters >= 0) json_int(j, "waiters", info->waiters);
    if (info->queued >= 0) json_int(j, "queued", info->queued);
    if (info->position > 0) json_int(j, "position", info->position);
    if (info->permits > 0) {
        json_int(j, "permits", info->permits);
        json_int(j, "available", info->available);
    }
    json_text(j, "guarantee", guarantee_name(info->guarantee));
    if (!info->locked) return;
    if (info->layout[0]) json_text(j, "layout", info->layout);
    json_bool(j, "shared", info->shared);
    if (info->readers > 0) json_int(j, "readers", info->readers);
    json_bool(j, "detached", info->detached);
    json_bool(j, "foreign", info->foreign);
    if (info->ttl_ms >= 0) json_int(j, "ttl_ms", info->ttl_ms);
    if (info->owner_count > 0) json_int(j, "count", info->owner_count);
    if (info->since_ms > 0) json_int(j, "since_ms", info->since_ms);
    if (info->now_ms > 0) json_int(j, "now_ms", info->now_ms);
    if (info->owner[0]) json_text(j, "owner", info->owner);
    if (info->host[0]) json_text(j, "host", info->host);
    if (info->pid > 0) json_int(j, "pid", info->pid);
    if (info->label[0]) json_text(j, "label", info->label);
}
