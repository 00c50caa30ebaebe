/*
 * five.c: see five.h.  One rule: proxies stop before the rig closes its
 * clients, servers after it.
 */
#include "lib/five.h"

#include "lib/rig.h"
#include "lib/server.h"

static void masters_end(void *arg)
{
    lab_masters_stop(arg);
}

static void proxies_end(void *arg)
{
    struct lab_masters *f = arg;
    for (int i = 0; i < f->len; i++) lab_proxy_stop(&f->nodes[i].proxy);
}

void five_begin(struct lab_masters *f, int len)
{
    server_backend(); /* skips a test that this build has no backend for */
    LAB_CHECK(lab_masters_start(f, len, TEST_CLOCK_SHIM));
    test_cleanup(masters_end, f);
    rig_begin_at("");
    test_cleanup(proxies_end, f);
}

int64_t five_time_ms(struct lab_masters *f, int node)
{
    int64_t ms;
    LAB_CHECK(lab_masters_time_ms(f, node, &ms));
    return ms;
}
