/*
 * resp.c: hiredis' reader with our own objects.  One rule: nothing that
 * a server sends makes us allocate more than it has sent, times a constant, and
 * no reply is longer or deeper than its bound, whatever hiredis allows.
 */
#include "backend/redis/link/resp.h"

#include <hiredis/hiredis.h>
#include <string.h>

#include "base/limits.h"
#include "base/math.h"
#include "base/url.h"

#define CHUNK_SIZE (4 * 1024)
#define ALIGNMENT _Alignof(max_align_t)

struct chunk {
    struct chunk *next;
    size_t size, used;
    _Alignas(max_align_t) char data[];
};

/* ---- the arena ---- */

static struct chunk *chunk_add(struct reader *r, size_t need)
{
    size_t size = need > CHUNK_SIZE ? need : CHUNK_SIZE;
    struct chunk *c = hf__alloc(r->alloc, sizeof *c + size);
    if (!c) return NULL;
    *c = (struct chunk){.next = r->chunks, .size = size};
    r->chunks = c;
    return c;
}

static void *arena_take(struct reader *r, size_t size)
{
    size_t need = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *c = r->chunks;
    if (!c || c->size - c->used < need) c = chunk_add(r, need);
    if (!c) return NULL;
    void *p = c->data + c->used;
    c->used += need;
    return p;
}

/* Keep one chunk of the usual size, so that the next reply has it. */
static void arena_reset(struct reader *r, int keep)
{
    struct chunk *kept = NULL;
    while (r->chunks) {
        struct chunk *c = r->chunks;
        r->chunks = c->next;
        if (keep && !kept && c->size == CHUNK_SIZE)
            kept = c;
        else
            hf__free(r->alloc, c);
    }
    if (!kept) return;
    kept->next = NULL;
    kept->used = 0;
    r->chunks = kept;
}

/* ---- the objects that hiredis asks for ---- */

static int is_scalar(int type)
{
    return type == REDIS_REPLY_STRING || type == REDIS_REPLY_STATUS
           || type == REDIS_REPLY_ERROR || type == REDIS_REPLY_INTEGER;
}

static enum resp_type type_of(int type)
{
    switch (type) {
    case REDIS_REPLY_STRING:
        return RESP_STRING;
    case REDIS_REPLY_STATUS:
        return RESP_STATUS;
    case REDIS_REPLY_ERROR:
        return RESP_ERROR;
    case REDIS_REPLY_INTEGER:
        return RESP_INTEGER;
    case REDIS_REPLY_ARRAY:
        return RESP_ARRAY;
    case REDIS_REPLY_NIL:
        return RESP_NIL;
    default:
        return RESP_STRANGE;
    }
}

/* hiredis 0.14 refuses what nests deeper, 1.1 and later would go on as long as
 * there is memory: so it is counted here.  Aggregates only; what is in the
 * innermost one is not deeper than that. */
static int is_too_deep(const redisReadTask *task)
{
    int depth = 0;
    if (is_scalar(task->type)) return 0;
    for (; task && depth <= REPLY_DEPTH_MAX; task = task->parent) depth++;
    return depth > REPLY_DEPTH_MAX;
}

static struct resp *value_make(const redisReadTask *task)
{
    struct reader *r = task->privdata;
    if (is_too_deep(task)) {
        r->is_too_deep = 1;
        return NULL;
    }
    struct resp *v = arena_take(r, sizeof *v);
    if (!v) return NULL;
    *v = (struct resp){.type = type_of(task->type)};
    struct resp *parent = task->parent ? task->parent->obj : NULL;
    if (!parent) return v;
    if (parent->last)
        parent->last->next = v;
    else
        parent->first = v;
    parent->last = v;
    parent->len++;
    return v;
}

static void *make_string(const redisReadTask *task, char *text, size_t len)
{
    struct resp *v = value_make(task);
    char *copy = v ? arena_take(task->privdata, len + 1) : NULL;
    if (!copy) return NULL;
    if (len > 0) memcpy(copy, text, len);
    copy[len] = '\0';
    v->text = copy;
    v->len = len;
    return v;
}

#if HIREDIS_MAJOR >= 1
static void *make_array(const redisReadTask *task, size_t elements)
#else
static void *make_array(const redisReadTask *task, int elements)
#endif
{
    /* Count the elements that arrive, not those that were announced. */
    (void)elements;
    return value_make(task);
}

static void *make_integer(const redisReadTask *task, long long number)
{
    struct resp *v = value_make(task);
    if (v) v->number = number;
    return v;
}

static void *make_nil(const redisReadTask *task)
{
    struct resp *v = value_make(task);
    if (v) v->type = RESP_NIL;
    return v;
}

#if HIREDIS_MAJOR >= 1
static void *make_double(const redisReadTask *task, double number, char *text,
                         size_t len)
{
    (void)number;
    (void)text;
    (void)len;
    return value_make(task);
}

static void *make_bool(const redisReadTask *task, int is_true)
{
    (void)is_true;
    return value_make(task);
}
#endif

static void object_free(void *object)
{
    /* The memory is the arena's, which is freed as a whole. */
    (void)object;
}

static redisReplyObjectFunctions functions = {
    .createString = make_string,
    .createArray = make_array,
    .createInteger = make_integer,
#if HIREDIS_MAJOR >= 1
    .createDouble = make_double,
    .createBool = make_bool,
#endif
    .createNil = make_nil,
    .freeObject = object_free,
};

/* ---- the reader ---- */

int hf__redis_reader_begin(struct reader *r, const struct allocator *alloc)
{
    r->alloc = alloc;
    r->pending = 0;
    r->head_len = 0;
    r->is_too_deep = 0;
    arena_reset(r, 1);
    if (r->hiredis) redisReaderFree(r->hiredis);
    redisReader *h = redisReaderCreateWithFunctions(&functions);
    r->hiredis = h;
    if (h) h->privdata = r;
    return h ? 0 : -1;
}

void hf__redis_reader_free(struct reader *r)
{
    if (r->hiredis) redisReaderFree(r->hiredis);
    r->hiredis = NULL;
    if (r->alloc) arena_reset(r, 0);
}

int hf__redis_reader_feed(struct reader *r, const char *data, size_t len)
{
    size_t room = sizeof r->head - r->head_len;
    size_t take = len < room ? len : room;
    memcpy(r->head + r->head_len, data, take);
    r->head_len += take;
    r->pending += len;
    if (r->pending > REPLY_LEN_MAX) return -1;
    return redisReaderFeed(r->hiredis, data, len) == REDIS_OK ? 0 : -1;
}

int hf__redis_reader_next(struct reader *r, const struct resp **out)
{
    void *v = NULL;
    redisReader *h = r->hiredis;
    /* Between replies nothing in the arena is in use. */
    if (h->ridx == -1) arena_reset(r, 1);
    if (redisReaderGetReply(h, &v) != REDIS_OK) return -1;
    if (!v) return 0;
    r->pending = h->len - h->pos;
    *out = v;
    return 1;
}

int hf__redis_reader_is_starved(const struct reader *r)
{
    const redisReader *h = r->hiredis;
    return !h || (h->err == REDIS_ERR_OOM && !r->is_too_deep);
}

/* ---- the values ---- */

const struct resp *hf__redis_resp_at(const struct resp *v, size_t i)
{
    if (!v || v->type != RESP_ARRAY) return NULL;
    const struct resp *at = v->first;
    while (at && i-- > 0) at = at->next;
    return at;
}

int hf__redis_resp_is_array(const struct resp *v, size_t len)
{
    return v && v->type == RESP_ARRAY && v->len >= len;
}

int64_t hf__redis_resp_within(const struct resp *v, int64_t min, int64_t max,
                              int64_t otherwise)
{
    int64_t number = 0;
    if (!v) return otherwise;
    if (v->type == RESP_INTEGER)
        return v->number < min || v->number > max ? otherwise : v->number;
    if (v->type != RESP_STRING) return otherwise;
    if (hf__number_parse(v->text, min, max, &number) != 0) return otherwise;
    return number;
}

int64_t hf__redis_resp_number(const struct resp *v, int64_t otherwise)
{
    return hf__redis_resp_within(v, -BALLOT_MAX, BALLOT_MAX, otherwise);
}

int64_t hf__redis_resp_number_at(const struct resp *v, size_t i,
                                 int64_t otherwise)
{
    return hf__redis_resp_number(hf__redis_resp_at(v, i), otherwise);
}

int64_t hf__redis_resp_ttl_us(const struct resp *v)
{
    int64_t ms = hf__redis_resp_within(v, 0, INT64_MAX, -1);
    return ms < 0 ? -1 : min64(ms, BALLOT_MAX) * US_PER_MS;
}

int hf__redis_resp_is_text(const struct resp *v, const char *text)
{
    return v && (v->type == RESP_STRING || v->type == RESP_STATUS)
           && v->len == strlen(text) && !memcmp(v->text, text, v->len);
}
