/*
 * redis_alloc_test.c: memory runs out at every place in turn.  One rule: every
 * request is still answered once, nothing leaks, and the next one works.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "lib/tls_server.h"
#include "sys/clock.h"
#include "test.h"

static struct redis r;
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

static const enum request_op ops[] = {
    OP_PROPOSE, OP_WATCH,   OP_RENEW, OP_INSPECT, OP_LIST,
    OP_UNWATCH, OP_RELEASE, OP_BREAK, OP_BOOT,    OP_FACTS};

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

static void round_run(int64_t ballot)
{
    static struct fake_answer a;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        server_do(&f, server_request(ops[i], "job", 1, ballot), &a);
        if (!is_honest(&a))
            TEST_FAIL("request %d: status %d: %s", (int)i, a.reply.status,
                      a.text);
    }
}

static void fail_in_turn(const char *url)
{
    has_failed = 1;
    int n = 0;
    for (; has_failed; n++) {
        struct hf_error err;
        fake_init(&f, &hf__backend_redis);
        f.alloc.fn = (struct hf_allocator){counted_allocate, counted_resize,
                                           counted_release, NULL};
        left = n;
        has_failed = open_count = 0;
        int status = fake_open(&f, url, &err);
        if (status == HF_OK) {
            round_run(server_clock(&f));
            left = -1; /* enough from now on */
            server_wait_link(&f, 1);
            fake_close(&f);
        } else {
            CHECK_INT(status, HF_NOMEM);
        }
        CHECK_INT(open_count, 0);
        CHECK(n < 1000);
    }
    CHECK(n > 10); /* there were so many to fail */
}

TEST(redis_alloc, every_allocation_may_fail)
{
    redis_begin(&r, NULL);
    fail_in_turn(r.url);
}

#if HF_WITH_TLS
TEST(redis_alloc, every_allocation_for_tls_and_a_password_file_may_fail)
{
    static struct tls_server s;
    char options[300];
    tls_server_begin(&s, "no");
    certs_write(&s.certs, "password", "geheim", 0600);
    redis_say(&s.redis, "CONFIG SET requirepass geheim");
    snprintf(options, sizeof options, "&tls_name=localhost&password_file=%s",
             certs_path(&s.certs, "password"));
    fail_in_turn(tls_server_url(&s, options));
}
#endif
