/*
 * starve.c: see starve.h.  One rule: the n-th allocation fails, for every n in
 * turn, until a whole round went through without one.
 */
#include "lib/starve.h"

#include <stdlib.h>

#include "lib/server.h"
#include "test.h"

static struct fake_env f;
static int left; /* allocations until one fails */
static int has_failed;
static int open_count;

static int is_time_to_fail(void)
{
    if (left-- != 0) return 0;
    has_failed = 1;
    return 1;
}

static void *counted_allocate(size_t size, void *user)
{
    (void)user;
    if (is_time_to_fail()) return NULL;
    open_count++;
    return malloc(size);
}

static void *counted_resize(void *ptr, size_t size, void *user)
{
    (void)user;
    if (is_time_to_fail()) return NULL;
    if (!ptr) open_count++;
    return realloc(ptr, size);
}

static void counted_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) open_count--;
    free(ptr);
}

struct hf_allocator starve_begin(int n)
{
    left = n;
    has_failed = open_count = 0;
    return (struct hf_allocator){counted_allocate, counted_resize,
                                 counted_release, NULL};
}

int starve_has_failed(void)
{
    return has_failed;
}

int starve_open_count(void)
{
    return open_count;
}

static const enum verb ops[] = {
    VERB_PROPOSE, VERB_WATCH,   VERB_RENEW, VERB_INSPECT, VERB_LIST,
    VERB_UNWATCH, VERB_RELEASE, VERB_BREAK, VERB_BOOT,    VERB_FACTS};

static int is_honest(const struct fake_answer *a)
{
    switch (a->reply.verdict) {
    case V_ERROR:
    case V_UNSENT:
    case V_UNKNOWN:
        return a->reply.status == HF_NOMEM;
    default:
        return 1;
    }
}

static void round_run(const char *name, int64_t ballot)
{
    static struct fake_answer a;
    int votes = (f.backend->caps & HF_CAP_BALLOT) != 0;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (ops[i] == VERB_BOOT && !votes) continue;
        server_do(&f, server_request(ops[i], name, 1, ballot), &a);
        if (!is_honest(&a))
            TEST_FAIL("request %d: status %d: %s", (int)i, a.reply.status,
                      a.text);
    }
}

void starve_backend(const struct backend *backend, const char *url,
                    const char *name)
{
    has_failed = 1;
    int n = 0;
    for (; has_failed; n++) {
        struct hf_error err;
        fake_init(&f, backend);
        f.alloc.fn = starve_begin(n);
        int status = fake_open(&f, url, &err);
        if (status == HF_OK) {
            round_run(name, server_clock(&f));
            left = -1; /* enough from now on */
            server_wait_link(&f, 1);
            fake_close(&f);
        } else {
            CHECK_INT(status, HF_NOMEM);
        }
        CHECK_INT(open_count, 0);
        CHECK(n < 1000);
    }
    CHECK(n > 10); /* allocations that could fail */
}

void starve_in_turn(const char *url)
{
    starve_backend(server_backend(), url, "job");
}
