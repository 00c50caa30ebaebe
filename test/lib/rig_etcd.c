/*
 * rig_etcd.c: see rig_etcd.h.  One rule: one server for a run, and a prefix of
 * its own for each test.
 */
#include "lib/rig_etcd.h"

#include <stdio.h>

#include "lib/lab_check.h"
#include "test.h"

static struct lab_etcd shared;

void rig_etcd_fresh(char *url, size_t size)
{
    static int space;
    if (shared.pid == 0) LAB_CHECK(lab_etcd_start(&shared, NULL));
    /* Tests whose leases end do not wait for seconds. */
    snprintf(url, size, "%stest-%d?short_leases=on", shared.url, ++space);
}

struct lab_etcd *rig_etcd_shared(void)
{
    return &shared;
}

static void etcd_end(void *arg)
{
    lab_etcd_stop(arg);
}

void etcd_begin(struct lab_etcd *p, const char *const *args)
{
    LAB_CHECK(lab_etcd_start(p, args));
    test_cleanup(etcd_end, p);
}

static void etcds_end(void *arg)
{
    lab_etcds_stop(arg);
}

void etcds_begin(struct lab_etcd cluster[LAB_ETCDS])
{
    LAB_CHECK(lab_etcds_start(cluster, NULL));
    test_cleanup(etcds_end, cluster);
}
