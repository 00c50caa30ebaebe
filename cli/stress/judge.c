/*
 * stress/judge.c: the resource that stress protects, and the judge of what the
 * locks let through.
 *
 * A violation is only called one when it is proven.  Two holders: one of them
 * was found valid, by its own library, after the other had been found valid
 * and had been noted; a hold that was lost never becomes valid again, so both
 * were at the moment of that note.  Tokens: the higher one had been noted
 * before the lower one was asked for.
 */
#include "stress/stress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static size_t stress_size(unsigned locks_len)
{
    return sizeof(struct stress) + locks_len * sizeof(struct stress_lock);
}

/* Robust: a worker that is killed must not stop the others. */
static int mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    if (pthread_mutexattr_init(&attr) != 0) return -1;
    int rc = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (rc == 0) rc = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (rc == 0) rc = pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    return rc == 0 ? 0 : -1;
}

static void mutex_lock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_lock(mutex) == EOWNERDEAD)
        (void)pthread_mutex_consistent(mutex);
}

struct stress *stress_map(unsigned locks_len, const char *prefix)
{
    struct stress *s =
        mmap(NULL, stress_size(locks_len), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) return NULL;
    s->locks_len = locks_len;
    int failed = mutex_init(&s->mutex);
    for (unsigned i = 0; i < locks_len; i++) {
        struct stress_lock *l = &s->locks[i];
        failed |= mutex_init(&l->mutex);
        snprintf(l->name, sizeof(l->name), "%.*s-%u", HF_NAME_MAX - 4, prefix,
                 i);
        text_escape(l->name, l->shown, sizeof(l->shown));
    }
    if (!failed) return s;
    stress_unmap(s);
    return NULL;
}

void stress_unmap(struct stress *s)
{
    munmap(s, stress_size(s->locks_len));
}

void stress_count(struct stress *s, enum figure figure)
{
    atomic_fetch_add_explicit(&s->figures[figure], 1, memory_order_relaxed);
}

void stress_fail(struct stress *s, int status, const char *text)
{
    mutex_lock(&s->mutex);
    if (s->fatal_status == HF_OK) {
        s->fatal_status = status;
        snprintf(s->fatal, sizeof(s->fatal), "%s", text);
    }
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->stop, 1);
}

int64_t stress_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

__attribute__((format(printf, 3, 4))) static void violation_add(
    struct stress *s, const struct stress_lock *l, const char *format, ...)
{
    va_list args;
    mutex_lock(&s->mutex);
    if (s->violations < STRESS_LINES_MAX) {
        char *line = s->lines[s->violations];
        int n = snprintf(line, STRESS_LINE_MAX, "%.100s: ", l->shown);
        va_start(args, format);
        vsnprintf(line + n, STRESS_LINE_MAX - (size_t)n, format, args);
        va_end(args);
    }
    s->violations++;
    pthread_mutex_unlock(&s->mutex);
}

/* ---- tokens ---- */

/* Where `token` is or would be among the recent ones. */
static unsigned recent_find(const struct stress_lock *l, uint64_t token)
{
    unsigned at = l->recent_len; /* mostly it is the highest */
    while (at > 0 && l->recent[at - 1] >= token) at--;
    return at;
}

/* Remember it; 1 if it was there already.  When there is no room the lowest is
 * forgotten: an equal one would have to come after a thousand higher ones. */
static int recent_add(struct stress_lock *l, uint64_t token)
{
    unsigned at = recent_find(l, token);
    if (at < l->recent_len && l->recent[at] == token) return 1;
    if (l->recent_len == STRESS_RECENT_MAX) {
        if (at == 0) return 0;
        at--;
        memmove(l->recent, l->recent + 1, at * sizeof(l->recent[0]));
        l->recent[at] = token;
        return 0;
    }
    memmove(l->recent + at + 1, l->recent + at,
            (l->recent_len - at) * sizeof(l->recent[0]));
    l->recent[at] = token;
    l->recent_len++;
    return 0;
}

static void token_judge(struct stress *s, const struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    if (recent_add(l, h->token))
        violation_add(s, l,
                      "token %" PRIu64 " was granted twice, at %" PRId64
                      " ns to client %u",
                      h->token, stress_now_ns(), h->client);
    else if (h->token <= h->low)
        violation_add(s, l,
                      "tokens fall: client %u got %" PRIu64 " at %" PRId64
                      " ns, but %" PRIu64 " had been granted before it asked",
                      h->client, h->token, stress_now_ns(), h->low);
    if (h->token > l->top) l->top = h->token;
}

void judge_called(struct stress *s, struct stress_hold *h)
{
    (void)s;
    h->token = h->entry = h->value = 0;
    mutex_lock(&h->lock->mutex);
    h->low = h->lock->top;
    pthread_mutex_unlock(&h->lock->mutex);
}

/* ---- holders ---- */

/* Is `h` the last that entered?  If it is not, and is valid even so, then
 * somebody entered who must not have.  Told once. */
static void alone_judge(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    if (!h->entry || l->entries == h->entry) return;
    if (hf_hold_valid_ms(h->hold) > 0)
        violation_add(s, l,
                      "two holders: client %u (token %" PRIu64
                      ") is valid at %" PRId64
                      " ns, but client %u (token %" PRIu64
                      ") was valid at %" PRId64 " ns",
                      h->client, h->token, stress_now_ns(), l->entered_client,
                      l->entered_token, l->entered_ns);
    h->entry = 0;
}

void judge_granted(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    mutex_lock(&l->mutex);
    if (s->fenced) token_judge(s, h);
    if (hf_hold_valid_ms(h->hold) > 0) {
        h->entry = ++l->entries;
        l->entered_client = h->client;
        l->entered_token = h->token;
        l->entered_ns = stress_now_ns();
    }
    pthread_mutex_unlock(&l->mutex);
}

void judge_leaving(struct stress *s, struct stress_hold *h)
{
    mutex_lock(&h->lock->mutex);
    alone_judge(s, h);
    pthread_mutex_unlock(&h->lock->mutex);
}

/* ---- the register ---- */

/* One atomic step: refuse a lower token, remember a higher one. */
static int token_passes(struct stress *s, struct stress_hold *h)
{
    alone_judge(s, h);
    int passes = h->token >= h->lock->highest;
    if (passes) h->lock->highest = h->token;
    stress_count(s, passes ? FIGURE_WRITTEN : FIGURE_REFUSED);
    return passes;
}

int guard_claim(struct stress *s, struct stress_hold *h)
{
    mutex_lock(&h->lock->mutex);
    int passes = token_passes(s, h);
    if (passes) h->value = h->lock->value;
    pthread_mutex_unlock(&h->lock->mutex);
    return passes;
}

int guard_write(struct stress *s, struct stress_hold *h)
{
    struct stress_lock *l = h->lock;
    mutex_lock(&l->mutex);
    int passes = token_passes(s, h);
    if (passes) {
        if (l->value != h->value)
            violation_add(
                s, l,
                "a write is lost: client %u (token %" PRIu64 ") read %" PRIu64
                " and writes over %" PRIu64 " at %" PRId64 " ns",
                h->client, h->token, h->value, l->value, stress_now_ns());
        l->value = h->value + 1;
        l->accepted++;
    }
    pthread_mutex_unlock(&l->mutex);
    return passes;
}

void judge_counters(struct stress *s)
{
    for (unsigned i = 0; i < s->locks_len; i++) {
        const struct stress_lock *l = &s->locks[i];
        if (l->value != l->accepted)
            violation_add(s, l,
                          "the counter is %" PRIu64 " after %" PRIu64
                          " accepted writes",
                          l->value, l->accepted);
    }
}
