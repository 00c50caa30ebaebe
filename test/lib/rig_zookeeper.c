/*
 * rig_zookeeper.c: see rig_zookeeper.h.  One rule: a test has a root of its
 * own, which it makes as users make it.
 */
#include "lib/rig_zookeeper.h"

#include <stdio.h>
#include <string.h>

#include "backend/registry.h"
#include "lib/lab_check.h"
#include "lib/server.h"
#include "test.h"

static struct lab_zookeeper shared;

void rig_zookeeper_fresh(char *url, size_t size, const char *kind)
{
    static int root;
    if (shared.pid == 0) LAB_CHECK(lab_zookeeper_start(&shared));
    if (!strcmp(kind, "zookeeper-one"))
        snprintf(url, size, "%s/one?chroot=create&session=48h", shared.url);
    else
        snprintf(url, size, "%s/test/%d?chroot=create&session=48h", shared.url,
                 ++root);
}

struct lab_zookeeper *rig_zookeeper_shared(void)
{
    return &shared;
}

static void zookeeper_end(void *arg)
{
    lab_zookeeper_stop(arg);
}

void zookeeper_begin(struct lab_zookeeper *z)
{
    LAB_CHECK(lab_zookeeper_start(z));
    test_cleanup(zookeeper_end, z);
}

void zookeeper_begin_all(struct lab_zookeeper *all)
{
    LAB_CHECK(lab_zookeeper_start_all(all));
    for (int i = 0; i < LAB_ZOOKEEPER_SERVERS; i++)
        test_cleanup(zookeeper_end, &all[i]);
}

static void connection_end(void *arg)
{
    fake_close(arg);
}

void zookeeper_connect(struct fake_env *f, const char *url)
{
    struct hf_error err;
    const struct backend *b = hf__backend_find("zookeeper", &err);
    if (!b) test_skip("%s", err.text);
    fake_init(f, b);
    test_cleanup(connection_end, f);
    if (fake_open(f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
    server_wait_link(f, 1);
}
