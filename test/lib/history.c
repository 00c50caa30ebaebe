/*
 * history.c: see history.h.  One rule: a line that cannot be read is a breach,
 * for it may have told of one.
 */
#include "lib/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define LOCK_MAX 64

enum kind { KIND_ACQUIRE, KIND_WRITE, KIND_OTHER };

struct line {
    enum kind kind;
    unsigned client;
    int64_t call_ns, ret_ns;
    uint64_t token;
    int ok, unknown;
    char lock[LOCK_MAX];
};

/* Of one kind, all of which succeeded. */
struct lines {
    struct line *at;
    size_t len, room;
};

static void lines_add(struct lines *l, const struct line *line)
{
    if (l->len == l->room) {
        l->room = 2 * l->room + 256;
        struct line *more = realloc(l->at, l->room * sizeof *more);
        if (!more) abort();
        l->at = more;
    }
    l->at[l->len++] = *line;
}

static int line_parse(const char *text, struct line *out)
{
    char op[16], ok[8];
    int end = 0;
    memset(out, 0, sizeof *out);
    int n =
        sscanf(text,
               "{\"c\":%u,\"call\":%" SCNd64 ",\"ret\":%" SCNd64
               ",\"lock\":\"%63[^\"]\",\"op\":\"%15[a-z]\",\"token\":%" SCNu64
               ",\"ok\":%7[a-z]%n",
               &out->client, &out->call_ns, &out->ret_ns, out->lock, op,
               &out->token, ok, &end);
    if (n != 7) return 0;
    out->unknown = !strcmp(text + end, ",\"unknown\":true}\n");
    if (!out->unknown && strcmp(text + end, "}\n") != 0) return 0;
    out->ok = !strcmp(ok, "true");
    out->kind = !strcmp(op, "acquire") ? KIND_ACQUIRE
                : !strcmp(op, "write") ? KIND_WRITE
                                       : KIND_OTHER;
    return out->client < HISTORY_CLIENTS_MAX && out->call_ns <= out->ret_ns
           && (out->ok || !strcmp(ok, "false"));
}

/* ---- orders ---- */

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_call(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int lock = strcmp(a->lock, b->lock);
    return lock ? lock : sign(a->call_ns, b->call_ns);
}

static int by_return(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int lock = strcmp(a->lock, b->lock);
    return lock ? lock : sign(a->ret_ns, b->ret_ns);
}

static int by_token(const void *x, const void *y)
{
    const struct line *a = x, *b = y;
    int lock = strcmp(a->lock, b->lock);
    return lock ? lock : (a->token > b->token) - (a->token < b->token);
}

static struct line *sorted(const struct lines *l,
                           int (*order)(const void *, const void *))
{
    struct line *copy = malloc((l->len + 1) * sizeof *copy);
    if (!copy) abort();
    if (l->len > 0) memcpy(copy, l->at, l->len * sizeof *copy);
    qsort(copy, l->len, sizeof *copy, order);
    return copy;
}

/* ---- the claims ---- */

static void tokens_are_unique(const struct lines *l, struct history *out)
{
    struct line *s = sorted(l, by_token);
    for (size_t i = 1; i < l->len && !out->why[0]; i++)
        if (by_token(&s[i - 1], &s[i]) == 0)
            snprintf(out->why, sizeof out->why,
                     "%s: token %" PRIu64 " was given to clients %u and %u",
                     s[i].lock, s[i].token, s[i - 1].client, s[i].client);
    free(s);
}

/* Go through the calls, and keep the highest token of those that had returned
 * by then. */
static void tokens_rise(const struct lines *l, int may_equal, const char *what,
                        struct history *out)
{
    struct line *calls = sorted(l, by_call), *returns = sorted(l, by_return);
    const struct line *top = NULL;
    size_t past = 0;
    for (size_t i = 0; i < l->len && !out->why[0]; i++) {
        const struct line *c = &calls[i];
        if (top && strcmp(top->lock, c->lock) != 0) top = NULL;
        for (; past < l->len; past++) {
            const struct line *r = &returns[past];
            int lock = strcmp(r->lock, c->lock);
            if (lock > 0 || (lock == 0 && r->ret_ns >= c->call_ns)) break;
            if (lock == 0 && (!top || r->token > top->token)) top = r;
        }
        if (!top || c->token > top->token) continue;
        if (may_equal && c->token == top->token) continue;
        snprintf(out->why, sizeof out->why,
                 "%s: %s of client %u with token %" PRIu64
                 " was called after client %u had returned with %" PRIu64,
                 c->lock, what, c->client, c->token, top->client, top->token);
    }
    free(calls);
    free(returns);
}

static void line_count(const struct line *l, struct history *out)
{
    out->ops++;
    out->unknown += l->unknown;
    if (l->kind == KIND_WRITE && l->ok) out->accepted++;
    if (l->kind == KIND_WRITE && !l->ok) out->refused++;
    if (l->kind != KIND_ACQUIRE || !l->ok) return;
    out->acquired++;
    if (l->call_ns > out->last_ns[l->client])
        out->last_ns[l->client] = l->call_ns;
}

int history_judge(const char *path, struct history *out)
{
    struct lines acquires = {0}, writes = {0};
    struct line l;
    char text[512];
    memset(out, 0, sizeof *out);
    FILE *f = fopen(path, "re");
    if (!f) snprintf(out->why, sizeof out->why, "%s cannot be read", path);
    while (f && !out->why[0] && fgets(text, sizeof text, f)) {
        if (!line_parse(text, &l)) {
            snprintf(out->why, sizeof out->why, "what is: %.200s", text);
            break;
        }
        line_count(&l, out);
        if (l.ok && l.kind == KIND_ACQUIRE) lines_add(&acquires, &l);
        if (l.ok && l.kind == KIND_WRITE) lines_add(&writes, &l);
    }
    if (f) fclose(f);
    if (!out->why[0]) tokens_are_unique(&acquires, out);
    if (!out->why[0]) tokens_rise(&acquires, 0, "acquire", out);
    if (!out->why[0]) tokens_rise(&writes, 1, "write", out);
    free(acquires.at);
    free(writes.at);
    return !out->why[0];
}
