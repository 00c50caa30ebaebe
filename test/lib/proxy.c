/*
 * proxy.c: see proxy.h.
 */
#include "lib/proxy.h"

#include "lib/lab_check.h"

static void proxy_end(void *arg)
{
    lab_proxy_stop(arg);
}

void proxy_begin(struct lab_proxy *p, int target_port)
{
    LAB_CHECK(lab_proxy_start(p, target_port));
    test_cleanup(proxy_end, p);
}
