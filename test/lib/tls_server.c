/*
 * tls_server.c: see tls_server.h.
 */
#include "lib/tls_server.h"

#include "lib/server.h"

static void tls_server_end(void *arg)
{
    lab_tls_stop(arg);
}

void tls_server_begin(struct lab_tls *s, const char *auth)
{
    server_backend(); /* skips a test that this build has no backend for */
    LAB_CHECK(lab_tls_start(s, auth));
    test_cleanup(tls_server_end, s);
}

void tls_server_fresh(char *url, size_t size)
{
    static struct lab_tls shared; /* the lab stops it with the program */
    server_backend();
    if (shared.redis.pid == 0) LAB_CHECK(lab_tls_start(&shared, "no"));
    redis_say(&shared.redis, "FLUSHALL");
    redis_say(&shared.redis, "SCRIPT FLUSH");
    snprintf(url, size, "%s", tls_server_url(&shared, ""));
}
