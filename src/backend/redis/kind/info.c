/*
 * info.c: what the server knows of a lock, in our words.  One rule: a lock
 * that another library made is shown as what it is, and what does not look like
 * a lock is never shown as one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis/inner/owner.h"
#include "backend/redis/kind/info.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/queue.h"
#include "backend/redis/kind/rw.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/string.h"
#include "backend/redis/redis.h"
#include "base/math.h"
#include "base/url.h"

#define LIST_COUNT "100" /* keys looked at for one page */

static void text_copy(char *out, size_t size, const char *text, size_t len)
{
    if (len >= size) len = size - 1;
    memcpy(out, text, len);
    out[len] = '\0';
}

/* The next word of `*text` (or all of it), which moves behind it. */
static void word_take(const char **text, char *out, size_t size, int rest)
{
    size_t len = rest ? strlen(*text) : strcspn(*text, " ");
    text_copy(out, size, *text, len);
    *text += len;
    if (**text == ' ') (*text)++;
}

static int64_t number_take(const char **text)
{
    char word[24];
    int64_t number = 0;
    word_take(text, word, sizeof word, 0);
    if (hf__number_parse(word, INT64_MIN + 1, INT64_MAX, &number) != 0)
        return 0;
    return number;
}

static void kind_set(struct hf_info *info, const char *kind)
{
    text_copy(info->layout, sizeof info->layout, kind, strlen(kind));
}

/* "<pid> <host> <label>" of the process that made the hold; with a minus in
 * front it is held by a ticket. */
static void maker_read(const char *text, struct hf_info *info)
{
    info->detached = *text == '-';
    if (info->detached) text++;
    info->pid = number_take(&text);
    word_take(&text, info->host, sizeof info->host, 0);
    word_take(&text, info->label, sizeof info->label, 1);
}

/* "v1 <owner> <attempt> <T> <fence> <since us> <pid> <host> <label>"; returns
 * the fence. */
static int64_t hf_read(const char *text, struct hf_info *info)
{
    char skipped[24];
    text += 3;
    for (int i = 0; i < 3; i++) word_take(&text, skipped, sizeof skipped, 0);
    text += *text == '+'; /* there is a queue for it */
    int64_t fence = number_take(&text);
    info->since_ms = number_take(&text) / US_PER_MS;
    maker_read(text, info);
    return fence < 0 || fence > BALLOT_MAX ? 0 : fence;
}

static int is_ours(const struct resp *hf)
{
    return hf && hf->type == RESP_STRING && !strncmp(hf->text, "v1 ", 3);
}

int hf__redis_info_holder(const struct resp *v, struct hf_info *info)
{
    *info = (struct hf_info){.locked = 1};
    if (is_ours(v)) {
        const char *text = v->text + 3;
        word_take(&text, info->owner, sizeof info->owner, 0);
        hf_read(v->text, info);
    } else if (hf__redis_string_is_ours(v)) {
        maker_read(hf__redis_string_read(v->text, info), info);
    } else {
        return -1;
    }
    return 0;
}

/* 1 if this attempt has made it: `v` begins with "<word><owner><between>
 * <attempt><between>".  Without an attempt in `req`, any attempt matches. */
static int is_of_attempt(const struct resp *v, const char *word, char between,
                         const struct request *req)
{
    char mark[OWNER_LEN_MAX + 32];
    if (!req->attempt) return 1;
    int len = snprintf(mark, sizeof mark, "%s%s%c%llu%c", word, req->owner,
                       between, (unsigned long long)req->attempt, between);
    return v->type == RESP_STRING && !strncmp(v->text, mark, (size_t)len);
}

/* Time left, or what PTTL says of keys that have no end or are not there. */
static int64_t ttl_ms_at(const struct resp *v, size_t i, int64_t otherwise)
{
    int64_t ms = hf__redis_resp_within(hf__redis_resp_at(v, i), -2, INT64_MAX,
                                       otherwise);
    return min64(ms, BALLOT_MAX);
}

static int64_t not_negative(int64_t n)
{
    return n < 0 ? 0 : n;
}

/* Remove ":write" behind the owner of a writer. */
static void writer_trim(char *owner)
{
    size_t len = strlen(owner), word = strlen(":write");
    if (len > word && !strcmp(owner + len - word, ":write"))
        owner[len - word] = '\0';
}

/* A hash: `owner` is the first field that names one, `count` its value.
 * Returns the holder's token, 0 if it is not told. */
static int64_t hash_read(const struct resp *hf, const struct resp *mode,
                         const struct resp *owner, const struct resp *count,
                         struct hf_info *info)
{
    info->locked = 1;
    info->foreign = !is_ours(hf);
    kind_set(info, info->foreign ? "redisson" : "holdfast");
    info->shared = hf__redis_resp_is_text(mode, "read");
    if (owner && owner->type == RESP_STRING)
        text_copy(info->owner, sizeof info->owner, owner->text, owner->len);
    if (mode && mode->type == RESP_STRING) writer_trim(info->owner);
    info->owner_count = hf__redis_resp_number(count, 0);
    return info->foreign ? 0 : hf_read(hf->text, info);
}

static int not_a_lock(struct backend_conn *c, const char *kind,
                      struct reply *reply)
{
    snprintf(c->text, sizeof c->text,
             "%s: inspect: a %.40s is stored there, and no lock", c->endpoint,
             kind);
    reply->verdict = V_ERROR;
    reply->status = HF_CONFLICT;
    reply->text = c->text;
    return 0;
}

/* A string is a lock of ours, or most likely one of another library that uses
 * SET name value NX PX. */
static void string_read(const struct resp *text, const struct request *req,
                        struct hf_info *info)
{
    info->locked = 1;
    info->foreign = !hf__redis_string_is_ours(text);
    kind_set(info, info->foreign ? "string" : "holdfast");
    if (!info->foreign) {
        maker_read(hf__redis_string_read(text->text, info), info);
        info->mine = req->owner[0] && !strcmp(info->owner, req->owner)
                     && is_of_attempt(text, STRING_MARK, ':', req);
        info->count = info->mine ? info->owner_count : 0;
        return;
    }
    info->owner_count = 1;
    if (text && text->type == RESP_STRING)
        text_copy(info->owner, sizeof info->owner, text->text, text->len);
}

static int kind_read(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    const struct resp *kind = hf__redis_resp_at(v, 0);
    const struct resp *count = hf__redis_resp_at(v, 5);
    if (!kind || kind->type != RESP_STRING) return -1;
    if (!strcmp(kind->text, "none")) return 0;
    if (!strcmp(kind->text, "string")) {
        const struct resp *text = hf__redis_resp_at(v, 8);
        if (c->info.ttl_ms < 0 && !hf__redis_string_is_ours(text))
            return not_a_lock(c, "string without an expiry", reply);
        string_read(text, req, &c->info);
        return 0;
    }
    if (strcmp(kind->text, "hash") != 0
        || hf__redis_resp_at(v, 8)->type != RESP_STRING)
        return not_a_lock(c, kind->text, reply);
    reply->fence =
        hash_read(hf__redis_resp_at(v, 6), hf__redis_resp_at(v, 7),
                  hf__redis_resp_at(v, 8), hf__redis_resp_at(v, 9), &c->info);
    int is_rw = hf__redis_resp_at(v, 7)->type == RESP_STRING;
    c->info.mine =
        count && count->type == RESP_STRING
        && is_of_attempt(hf__redis_resp_at(v, is_rw ? 13 : 6), "v1 ", ' ', req);
    c->info.count = c->info.mine ? hf__redis_resp_number(count, 0) : 0;
    c->info.readers = hf__redis_resp_number_at(v, 10, 0);
    /* A request about one attempt wants to know how long that lasts. */
    if (is_rw && c->info.mine && req->attempt)
        c->info.ttl_ms = ttl_ms_at(v, 14, -2);
    return 0;
}

static int read_inspect(struct backend_conn *c, const struct request *req,
                        const struct resp *v, struct reply *reply)
{
    if (!hf__redis_resp_is_array(v, 15)) return -1;
    reply->node_us = hf__redis_resp_number_at(v, 2, -1);
    reply->counter = not_negative(hf__redis_resp_number_at(v, 3, 0));
    c->info = (struct hf_info){
        .ttl_ms = ttl_ms_at(v, 1, -2),
        .fence = (uint64_t)reply->counter,
        .now_ms = reply->node_us / US_PER_MS,
        .waiters = hf__redis_resp_number_at(v, 4, -1),
        .queued = hf__redis_resp_number_at(v, 11, 0),
        .position = hf__redis_resp_number_at(v, 12, 0),
    };
    reply->verdict = V_GRANTED;
    reply->info = &c->info;
    int rc = kind_read(c, req, v, reply);
    /* Without the counter the holder's own token is the highest we know. */
    if (!c->info.fence) c->info.fence = (uint64_t)reply->fence;
    return rc;
}

static int row_read(const struct resp *v, const struct request *req,
                    int64_t now_us, struct list_row *row)
{
    const struct resp *name = hf__redis_resp_at(v, 0);
    if (!hf__redis_resp_is_array(v, 8) || !name || name->type != RESP_STRING)
        return -1;
    *row = (struct list_row){.name = name->text, .name_len = name->len};
    struct hf_info *info = &row->info;
    info->ttl_ms = ttl_ms_at(v, 1, -1);
    info->fence = (uint64_t)not_negative(hf__redis_resp_number_at(v, 2, 0));
    info->now_ms = now_us / US_PER_MS;
    info->waiters = hf__redis_resp_number_at(v, 7, -1);
    info->queued = -1;
    if (hf__redis_resp_is_text(hf__redis_resp_at(v, 4), "string")) {
        string_read(hf__redis_resp_at(v, 3), req, info);
        return 0;
    }
    int64_t fence =
        hash_read(hf__redis_resp_at(v, 3), hf__redis_resp_at(v, 4),
                  hf__redis_resp_at(v, 5), hf__redis_resp_at(v, 6), info);
    if (fence > 0) info->fence = (uint64_t)fence; /* of a reader */
    if (req->owner[0] && !strcmp(info->owner, req->owner)) {
        info->mine = 1;
        info->count = info->owner_count;
    }
    return 0;
}

/* A name that no call could take is not a lock's. */
static int is_name(const struct resp *name)
{
    return name && name->type == RESP_STRING && name->len > 0
           && name->len <= NAME_LEN_MAX && !memchr(name->text, 0, name->len);
}

static int rows_need(struct backend_conn *c, size_t rows)
{
    if (rows <= c->rows_size) return 0;
    struct list_row *more =
        hf__realloc(c->env->alloc, c->rows, rows * sizeof *more);
    if (!more) return -1;
    c->rows = more;
    c->rows_size = rows;
    return 0;
}

static int read_list(struct backend_conn *c, const struct request *req,
                     const struct resp *v, struct reply *reply)
{
    if (!hf__redis_resp_is_array(v, 2) || v->first->type != RESP_STRING)
        return -1;
    if (rows_need(c, v->len) != 0) {
        snprintf(c->text, sizeof c->text, "%s: list: out of memory",
                 c->endpoint);
        reply->status = HF_NOMEM;
        reply->text = c->text;
        return 0;
    }
    reply->node_us = hf__redis_resp_number(v->first->next, -1);
    /* Cursors use all 64 bits. */
    reply->cursor = strtoull(v->first->text, NULL, 10);
    for (const struct resp *at = v->first->next->next; at; at = at->next) {
        if (!is_name(hf__redis_resp_at(at, 0))) continue;
        struct list_row *row = &c->rows[reply->rows_len];
        if (row_read(at, req, reply->node_us, row) != 0) return -1;
        if (c->no_fence) row->info.fence = 0;
        reply->rows_len++;
    }
    reply->verdict = V_GRANTED;
    reply->rows = c->rows;
    return 0;
}

/* ---- requests to commands ---- */

static void build_inspect(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    int has_fence = !c->no_fence && !hf__redis_is_alone(c, req);
    int has_queue = has_fence && hf__redis_queue_has_key(c, req);
    hf__redis_cmd_script(cmd, 1 + has_fence + 2 * has_queue);
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    if (has_fence)
        hf__redis_cmd_key(cmd, hf__redis_fence_prefix, req->name,
                          req->name_len);
    if (has_queue) hf__redis_queue_put_keys(cmd, req);
    hf__redis_rw_put_field(cmd, req);
    hf__redis_cmd_key(cmd, hf__redis_channel_prefix, req->name, req->name_len);
    hf__redis_cmd_key(cmd, hf__redis_rw_channel_prefix, req->name,
                      req->name_len);
    hf__redis_cmd_side_key(cmd, req->name, req->name_len, "");
    if (c->is_sharded) hf__redis_cmd_text(cmd, "c");
}

static void build_list(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script(cmd, 0);
    hf__redis_cmd_printf(cmd, "%llu", (unsigned long long)req->cursor);
    hf__redis_cmd_text(cmd, req->name ? req->name : "*");
    hf__redis_cmd_text(cmd, LIST_COUNT);
    hf__redis_put_letters(cmd, "s", c->is_string, "c", c->is_sharded);
}

REDIS_CALL(inspect, build_inspect, read_inspect, 0);
REDIS_CALL(list, build_list, read_list, 0);
