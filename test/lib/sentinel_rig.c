/*
 * sentinel_rig.c: see sentinel_rig.h.
 */
#include "lib/sentinel_rig.h"

#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/server.h"

static void sentinels_end(void *arg)
{
    lab_sentinels_stop(arg);
}

void sentinel_begin_with(struct lab_sentinels *g, const char *conf)
{
    rig_begin_on("memory:");
    server_backend(); /* skips a test that this build has no backend for */
    LAB_CHECK(lab_sentinels_start(g, conf));
    test_cleanup(sentinels_end, g);
}

void sentinel_until_ready(struct lab_sentinels *g)
{
    LAB_CHECK(lab_sentinels_await(g));
}

void sentinel_begin(struct lab_sentinels *g)
{
    sentinel_begin_with(g, "");
    sentinel_until_ready(g);
}

struct lab_server *sentinel_until_other(struct lab_sentinels *g,
                                        struct lab_server *old)
{
    struct lab_server *found = lab_sentinels_await_other(g, old);
    if (!found) TEST_FAIL("%s", lab_error());
    return found;
}
