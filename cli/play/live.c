/*
 * play/live.c: a line on standard output for each event of a run, as it comes.
 */
#include "play/run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/json.h"
#include "common/say.h"

static const char *lane_name(const struct play *p, int lane)
{
    return lane >= 0 ? p->record.lanes[lane].name : "nobody";
}

/* The words for kinds that need no more than themselves. */
static const char *kind_words(int kind)
{
    switch (kind) {
    case EVENT_ASKS:
        return "asks for the lock";
    case EVENT_TAKEN:
        return "does not get the lock";
    case EVENT_PAUSED:
        return "is paused (SIGSTOP)";
    case EVENT_RESUMED:
        return "wakes up (SIGCONT)";
    case EVENT_KILLED:
        return "is killed (SIGKILL)";
    default:
        return "";
    }
}

static const char *fence_words(uint64_t fence, char *out, size_t size)
{
    out[0] = 0;
    if (fence) snprintf(out, size, ", fence %llu", (unsigned long long)fence);
    return out;
}

const char *event_words(const struct play *p, const struct event *e, char *out,
                        size_t size)
{
    char fence[40];
    const char *other = lane_name(p, e->other);
    fence_words(e->fence, fence, sizeof(fence));
    switch (e->kind) {
    case EVENT_BELIEVES:
        snprintf(out, size, "%s%s", e->text[0] ? e->text : "has the lock",
                 fence);
        break;
    case EVENT_HAS:
        if (e->other == NO_LANE)
            snprintf(out, size, "the lock is free");
        else
            snprintf(out, size, "the lock belongs to %s", other);
        break;
    case EVENT_ACCEPTED:
        snprintf(out, size, "takes a write of %s%s", other, fence);
        break;
    case EVENT_REFUSED:
        snprintf(out, size, "refuses a write of %s%s", other, fence);
        break;
    default:
        snprintf(out, size, "%s", e->text[0] ? e->text : kind_words(e->kind));
    }
    return out;
}

/* Renewals are many, and are seen in the drawing. */
static int is_renewal(const struct play *p, const struct event *e)
{
    if (e->kind != EVENT_BELIEVES) return 0;
    for (int i = (int)(e - p->record.events) - 1; i >= 0; i--) {
        const struct event *before = &p->record.events[i];
        if (before->lane != e->lane) continue;
        if (before->kind == EVENT_BELIEVES) return before->fence == e->fence;
        if (before->kind == EVENT_ENDS) return 0;
    }
    return 0;
}

static void event_json(const struct play *p, const struct event *e)
{
    static const char *const kinds[] = {
        "asks",   "taken",   "believes", "ends",     "paused",  "resumed",
        "killed", "started", "has",      "accepted", "refused", "note"};
    struct json j;
    json_begin(&j);
    json_text(&j, "event", kinds[e->kind]);
    json_text(&j, "way", p->way == WAY_NAIVE ? "naive" : "holdfast");
    json_int(&j, "at_us", e->at_us);
    json_text(&j, "lane", lane_name(p, e->lane));
    if (e->other != NO_LANE) json_text(&j, "client", lane_name(p, e->other));
    if (e->fence) json_uint(&j, "fence", e->fence);
    if (e->kind == EVENT_BELIEVES && e->until_us != UNTIL_TOLD)
        json_int(&j, "until_us", e->until_us);
    if (e->text[0]) json_text(&j, "text", e->text);
    json_end(&j);
    (void)write_all(STDOUT_FILENO, j.buf, j.len);
}

void live_begin(const struct play *p)
{
    int is_naive = p->way == WAY_NAIVE;
    if (p->is_json || p->is_quiet) return;
    printf("%s: %s\n", is_naive ? "The naive way" : "With holdfast",
           is_naive ? p->scene->naive_way : p->scene->holdfast_way);
    (void)fflush(stdout);
}

void live_event(const struct play *p, const struct event *e)
{
    char words[2 * EVENT_TEXT_MAX];
    if (p->is_json) {
        event_json(p, e);
        return;
    }
    if (p->is_quiet || is_renewal(p, e)) return;
    printf("%8.3f s  %-26s %s\n", (double)e->at_us / 1e6, lane_name(p, e->lane),
           event_words(p, e, words, sizeof(words)));
    (void)fflush(stdout);
}

void live_verdict(const struct play *p)
{
    struct json j;
    if (!p->is_json) {
        if (!p->is_quiet) printf("   verdict: %s\n\n", p->verdict);
        (void)fflush(stdout);
        return;
    }
    json_begin(&j);
    json_text(&j, "event", "verdict");
    json_text(&j, "scenario", p->name);
    json_text(&j, "way", p->way == WAY_NAIVE ? "naive" : "holdfast");
    json_int(&j, "overlap_us", p->overlap_us);
    json_int(&j, "accepted", p->accepted);
    json_int(&j, "refused", p->refused);
    json_int(&j, "stale", p->stale);
    json_bool(&j, "ok", !(p->faults & (p->scene->faults | FAULT_VOID)));
    json_text(&j, "text", p->verdict);
    json_end(&j);
    (void)write_all(STDOUT_FILENO, j.buf, j.len);
}
