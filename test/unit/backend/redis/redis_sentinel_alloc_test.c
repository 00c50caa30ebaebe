/*
 * redis_sentinel_alloc_test.c: memory runs out at every place in turn while the
 * primary is found and used.  One rule: every request is answered, nothing
 * leaks, and what could not be done is done later.
 */
#include <string.h>

#include "lib/rig_redis.h"
#include "lib/server.h"
#include "lib/starve.h"
#include "sys/clock.h"
#include "test.h"

static struct lab_server primary, sentinel;
static struct fake_env f;

static void servers_begin(void)
{
    char conf[128];
    redis_begin(&primary, NULL);
    snprintf(conf, sizeof conf, "sentinel monitor m 127.0.0.1 %d 1\n",
             primary.port);
    redis_begin_sentinel(&sentinel, conf);
}

/* Ask until it is granted; a failure may make it late, and no more. */
static void propose(void)
{
    static struct fake_answer a;
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    struct request req;
    do {
        CHECK(hf__clock_us() < end_us);
        req = server_request(VERB_PROPOSE, "job", 1, server_clock(&f));
        req.deadline_us = hf__clock_us() + 2 * US_PER_S;
        fake_call(&f, &req, &a);
    } while (a.reply.verdict >= V_ERROR);
    CHECK(a.reply.verdict == V_GRANTED || a.reply.verdict == V_BUSY);
}

TEST(redis_sentinel_alloc, every_allocation_may_fail)
{
    char url[96];
    servers_begin();
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d/m", sentinel.port);
    int n = 0;
    do {
        struct hf_error err = {0};
        fake_init(&f, &hf__backend_sentinel);
        f.alloc.fn = starve_begin(n);
        int status = fake_open(&f, url, &err);
        if (status == HF_OK) {
            propose();
            fake_close(&f);
        } else {
            CHECK_INT(status, HF_NOMEM);
        }
        CHECK_INT(starve_open_count(), 0);
        CHECK(n++ < 1000);
    } while (starve_has_failed());
}
