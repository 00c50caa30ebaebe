/*
 * report.c: what a store tells about its locks: views, infos and pages.
 * One rule: looking changes nothing.
 */
#include <string.h>

#include "rules/hold.h"
#include "rules/model.h"
#include "rules/queue.h"
#include "rules/report.h"
#include "rules/rw.h"
#include "rules/store.h"
#include "rules/table.h"
#include "base/glob.h"

/* Copy the word at `text` (to its end if `rest`), cut to fit; the next one. */
static const char *word_take(const char *text, char *out, size_t size, int rest)
{
    size_t len = rest ? strlen(text) : strcspn(text, " ");
    size_t keep = len < size ? len : size - 1;
    memcpy(out, text, keep);
    out[keep] = '\0';
    return text[len] == ' ' ? text + len + 1 : text + len;
}

void hf__rules_report_holder(const char *text, struct hf_info *info)
{
    char pid[24];
    text = word_take(text, pid, sizeof pid, 0);
    for (const char *p = pid; *p >= '0' && *p <= '9' && p - pid < 18; p++)
        info->pid = info->pid * 10 + (*p - '0');
    text = word_take(text, info->host, sizeof info->host, 0);
    word_take(text, info->label, sizeof info->label, 1);
}

/* Without an attempt, any of the owner's is meant. */
static int is_asked_for(const struct held *held, const struct request *req)
{
    return req->owner[0] && !strcmp(held->owner, req->owner)
           && (!req->attempt || req->attempt == held->attempt);
}

static void describe_held(const struct held *held, int64_t now_us,
                          const struct request *req, struct hf_info *info)
{
    info->locked = 1;
    word_take("holdfast", info->layout, sizeof info->layout, 1);
    info->detached = held->detached;
    info->ttl_ms = held->expires_ms - us_to_ms(now_us);
    info->owner_count = held->count;
    info->since_ms = us_to_ms(held->since_us);
    word_take(held->owner, info->owner, sizeof info->owner, 1);
    if (is_asked_for(held, req)) {
        info->mine = 1;
        info->count = held->count;
    }
    hf__rules_report_holder(held->info, info);
}

int64_t hf__rules_report_info(const struct entry *e, int64_t now_us,
                              const struct request *req, struct hf_info *info)
{
    *info = (struct hf_info){
        .ttl_ms = -2, .waiters = -1, .now_ms = us_to_ms(now_us)};
    if (!e) return 0;
    info->fence = (uint64_t)e->counter;
    info->queued = hf__rules_queue_count(e, req->owner, &info->position);
    if (!e->held || held_is_over(e->held, now_us))
        return hf__rules_rw_info(e, now_us, req, info);
    describe_held(e->held, now_us, req, info);
    return e->held->fence;
}

/* ---- lists ------------------------------------------------------------ */

static int entry_is_wanted(const struct entry *e, int64_t now_us,
                           const char *pattern)
{
    int is_held = e->held && !held_is_over(e->held, now_us);
    if (!is_held && !hf__rules_rw_is_held(e, now_us)) return 0;
    return !pattern || hf__glob_match(pattern, e->name, e->name_len);
}

void hf__rules_report_list(struct store *s, int64_t now_us,
                           const struct request *req, struct reply *rep)
{
    if (!s->rows)
        s->rows = hf__alloc(s->alloc, STORE_PAGE_ROWS * sizeof *s->rows);
    if (!s->rows) {
        rep->status = HF_NOMEM;
        rep->text = "list: out of memory";
        return;
    }
    size_t len = s->table.len;
    size_t i = req->cursor < len ? (size_t)req->cursor : len;
    size_t end = len - i < STORE_PAGE_STEPS ? len : i + STORE_PAGE_STEPS;
    for (; i < end && rep->rows_len < STORE_PAGE_ROWS; i++) {
        struct entry *e = s->table.entries[i];
        if (!entry_is_wanted(e, now_us, req->name)) continue;
        struct list_row *row = &s->rows[rep->rows_len++];
        row->name = e->name;
        row->name_len = e->name_len;
        hf__rules_report_info(e, now_us, req, &row->info);
    }
    rep->verdict = V_GRANTED;
    rep->rows = s->rows;
    rep->cursor = i < len ? i : 0;
}

/* ---- views ------------------------------------------------------------ */

static int entry_view(const struct entry *e, int64_t now_us,
                      struct store_view *out)
{
    const struct held *held = e->held;
    int locked = held && !held_is_over(held, now_us);
    if (!out) return locked;
    *out = (struct store_view){.name = e->name,
                               .name_len = e->name_len,
                               .counter = e->counter,
                               .locked = locked,
                               .owner = ""};
    if (!locked) return 0;
    out->owner = held->owner;
    out->attempt = held->attempt;
    out->ballot = held->ballot;
    out->fence = held->fence;
    out->count = held->count;
    out->expires_us = (held->expires_ms + 1) * US_PER_MS;
    return 1;
}

int hf__rules_store_look(const struct store *s, int64_t now_us,
                         const char *name, size_t name_len,
                         struct store_view *out)
{
    const struct entry *e = hf__rules_table_find(&s->table, name, name_len);
    if (e) return entry_view(e, now_us, out);
    if (out)
        *out = (struct store_view){
            .name = name, .name_len = name_len, .owner = ""};
    return 0;
}

int hf__rules_store_at(const struct store *s, int64_t now_us, size_t place,
                       struct store_view *out)
{
    if (place >= s->table.len) return 0;
    entry_view(s->table.entries[place], now_us, out);
    return 1;
}

/* ---- the last request -------------------------------------------------- */

int hf__rules_store_handed(const struct store *s, struct handoff *out)
{
    *out = s->handoff;
    return s->handoff.owner != NULL;
}

int hf__rules_store_has_news(const struct store *s)
{
    return s->has_news;
}

int hf__rules_store_is_news(const struct store *s, const struct request *req,
                            const struct reply *rep)
{
    int is_done = rep->verdict == V_GRANTED;
    switch (req->verb) {
    case VERB_BREAK:
        return rep->info && rep->info->locked;
    case VERB_TALLY:
        return is_done && req->tally != TALLY_READ;
    case VERB_PROPOSE:
        /* At a barrier it may have been the last party. */
        if (is_done && req->kind == KIND_BARRIER) return 1;
        /* It may have told the number of permits, for which others wait. */
        if (req->capacity > 0 && hf__rules_store_has_news(s)) return 1;
        return is_done && hf__rules_store_owes_permits(s, req);
    case VERB_RELEASE:
        if (request_is_rw(req)) return hf__rules_store_has_news(s);
        if (is_done || hf__rules_store_owes_permits(s, req)) return 1;
        /* The last waiter may have left the queue of a lock that is free. */
        return req->kind == KIND_PLAIN && req->flags & REQ_QUEUE
               && rep->verdict == V_ABSENT;
    default:
        return 0;
    }
}
