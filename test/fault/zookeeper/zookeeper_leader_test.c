/*
 * zookeeper_leader_test.c: values in an ensemble of three whose leader is
 * killed, or stopped and woken.  One rule: no write is lost, and what was
 * overwritten is read no more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/lab_check.h"
#include "lib/rig_number.h"
#include "lib/rig_zookeeper.h"

static struct lab_zookeeper all[LAB_ZOOKEEPER_SERVERS];

static int leads(void *arg)
{
    struct lab_zookeeper **leader = arg;
    *leader = lab_zookeeper_leader(all);
    return *leader != NULL;
}

static struct lab_zookeeper *begin(void)
{
    static struct lab_zookeeper *leader;
    char url[256];
    zookeeper_begin_all(all);
    snprintf(url, sizeof url,
             "zookeeper://127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d/e"
             "?chroot=create&session=1h",
             all[0].port, all[1].port, all[2].port);
    rig_begin_at(url);
    CHECK(rig_until(leads, &leader));
    return leader;
}

static struct hf_client_options patient(void)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 3000;
    o.patience_ms = RIG_PATIENCE_MS;
    return o;
}

TEST(zookeeper_leader, that_is_killed_loses_no_write)
{
    enum { WRITES = 30 };
    struct hf_client_options o = patient();
    struct lab_zookeeper *leader = begin();
    long done = 0, doubt = 0;
    hf_client *c = rig_client(&o);
    for (int i = 0; i < WRITES; i++) {
        if (i == WRITES / 3) LAB_CHECK(lab_zookeeper_kill(leader));
        if (i == 2 * WRITES / 3) LAB_CHECK(lab_zookeeper_restart(leader, 1));
        int status = number_add(c);
        done += status == HF_OK;
        doubt += status != HF_OK;
    }
    printf("    %ld written, %ld in doubt\n", done, doubt);
    long n = number_of(c);
    CHECK(n >= done && n <= done + doubt);
    CHECK(done > WRITES / 2);
}

static struct {
    hf_client *client;
    int status;
    long number;
} reader;

static void reads(void *arg)
{
    struct hf_value v = HF_VALUE_INIT;
    (void)arg;
    reader.status = hf_value_read(reader.client, "n", &v, NULL);
    reader.number = v.version ? strtol(v.data, NULL, 10) : 0;
    hf_value_free(reader.client, &v);
}

static int is_written(void *arg)
{
    return number_add(arg) == HF_OK;
}

/* The question lies at the stopped server, which thinks that it leads when it
 * is woken, and has the old value. */
TEST(zookeeper_leader, that_was_deposed_tells_no_old_value)
{
    struct hf_client_options o = patient();
    struct lab_zookeeper *leader = begin(), *other = &all[leader == all];
    char url[96];
    hf_client *seed = rig_client(&o);
    CHECK_INT(number_add(seed), HF_OK);
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d/e?session=1h",
             other->port);
    hf_client *writer = rig_client_at(url, &o);
    CHECK_INT(number_of(writer), 1);
    o.timeout_ms = RIG_PATIENCE_MS;
    snprintf(url, sizeof url, "zookeeper://127.0.0.1:%d/e?session=1h",
             leader->port);
    reader.client = rig_client_at(url, &o);
    CHECK_INT(number_of(reader.client), 1);
    LAB_CHECK(lab_zookeeper_pause(leader));
    CHECK(rig_until(is_written, writer));
    long written = number_of(writer);
    rig_spawn(reads, NULL);
    rig_pause_ms(300); /* its question is under way */
    LAB_CHECK(lab_zookeeper_resume(leader));
    rig_join();
    if (reader.status == HF_OK) CHECK_INT(reader.number, written);
    CHECK_INT(number_of(writer), written);
}
