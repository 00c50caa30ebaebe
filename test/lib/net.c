/*
 * net.c: see net.h.
 */
#include "lib/net.h"

#include "lib/lab_check.h"

static void net_end(void *arg)
{
    lab_net_stop(arg);
}

void net_begin(struct lab_net *n, int hosts)
{
    LAB_CHECK(lab_net_start(n, hosts));
    test_cleanup(net_end, n);
}

void net_go(const struct lab_net *n, int host)
{
    LAB_CHECK(lab_net_go(n, host));
}

void net_cut(struct lab_net *n, unsigned group)
{
    LAB_CHECK(lab_net_cut(n, group));
}

void net_heal(struct lab_net *n)
{
    LAB_CHECK(lab_net_heal(n));
}
