/*
 * etcd_time_test.c: the clock of what is kept in cells, when it is made anew
 * behind others' backs, or was deleted.  One rule: a hold ends by the clock by
 * which it began, whatever a client believed before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig_etcd.h"
#include "lib/rig_semaphore.h"

#define LONG_MS 60000
#define BEHIND_US INT64_C(3600000000)

static struct lab_etcd server;

static hf_lock *lock_of(hf_client *c, int kind)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    o.kind = kind;
    return rig_lock_as(c, "a", &o);
}

/* Make a client know the time. */
static void time_learn(hf_client *c)
{
    struct hf_value v = HF_VALUE_INIT;
    CHECK_INT(hf_value_write(c, "any", 0, "x", 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_value_read(c, "any", &v, NULL), HF_OK);
    hf_value_free(c, &v);
}

/* The next clock, which is an hour behind: as if no client had been there for
 * that long when the leader changed. */
static void clock_set_back(void)
{
    uint64_t lease, term;
    int64_t seconds, base_us;
    CHECK_INT(
        sscanf(lab_etcd_say(&server, "get --print-value-only holdfast//clock"),
               "holdfast-clock1 %" SCNx64 " %" SCNu64 " %" SCNd64 " %" SCNd64,
               &lease, &term, &seconds, &base_us),
        4);
    CHECK(strstr(lab_etcd_say(&server,
                              "put holdfast//clock 'holdfast-clock1 %" PRIx64
                              " %" PRIu64 " %" PRId64 " %" PRId64 "'",
                              lease, term, seconds, base_us - BEHIND_US),
                 "OK"));
    CHECK(strstr(lab_etcd_say(&server, "put holdfast//time %" PRId64,
                              base_us - BEHIND_US),
                 "OK"));
}

/* A client that has read an older clock knows a time that is too late. */
TEST(etcd_time, of_before_does_not_end_a_hold_for_a_plain_lock)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, LONG_MS, 0);
    hf_hold *hold;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_client *knows = rig_client(NULL);
    time_learn(knows);
    clock_set_back();
    hf_lock *writer = lock_of(rig_client(NULL), HF_KIND_WRITE);
    CHECK_INT(hf_lock_acquire(writer, &o, &hold, NULL), HF_OK);
    CHECK_INT(hf_lock_acquire(rig_lock(knows, "a"), &o, NULL, NULL),
              HF_CONFLICT);
    CHECK(hf_hold_valid_ms(hold) > 0);
    CHECK_INT(hf_hold_extend(hold, LONG_MS, NULL), HF_OK);
}

/* A clock that has stood still is behind the wall clock, and its holds are. */
TEST(etcd_time, that_was_deleted_goes_on_from_the_last_swap)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, LONG_MS, 0);
    hf_hold *hold;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    time_learn(rig_client(NULL));
    clock_set_back();
    hf_lock *writer = lock_of(rig_client(NULL), HF_KIND_WRITE);
    CHECK_INT(hf_lock_acquire(writer, &o, &hold, NULL), HF_OK);
    CHECK(strstr(lab_etcd_say(&server, "del holdfast//clock"), "1"));
    hf_lock *other = lock_of(rig_client(NULL), HF_KIND_WRITE);
    CHECK_INT(hf_lock_acquire(other, &o, NULL, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_extend(hold, LONG_MS, NULL), HF_OK);
    CHECK(hf_hold_valid_ms(hold) > 0);
}

/* ---- clients that make the next clock at the same time ------------------- */

/* The leases that are as long as a clock's. */
static int long_leases(void)
{
    char list[4096];
    int n = 0;
    snprintf(list, sizeof list, "%s", lab_etcd_say(&server, "lease list"));
    for (char *id = list, *next; *id; id = next) {
        size_t len = strcspn(id, "\n");
        next = id + len + (id[len] == '\n');
        id[len] = '\0';
        if (len == 0 || strspn(id, "0123456789abcdef") != len) continue;
        n += strstr(lab_etcd_say(&server, "lease timetolive %s", id),
                    "granted with TTL(2592000s)")
             != NULL;
    }
    return n;
}

static int are_two(void *arg)
{
    (void)arg;
    return long_leases() == 2;
}

static void value_ask(void *arg)
{
    struct hf_value v = HF_VALUE_INIT;
    (void)hf_value_read(arg, "any", &v, NULL);
    hf_value_free(arg, &v);
}

static int has_asked(void *arg)
{
    const struct lab_proxy *p = arg;
    return atomic_load(&p->bytes[LAB_UP]) > 0;
}

/* Both see that the clock is gone; the slow one is too late with the next. */
TEST(etcd_time, leaves_no_lease_of_a_clock_that_came_too_late)
{
    static struct lab_proxy proxy;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[64];
    o.timeout_ms = o.patience_ms = RIG_PATIENCE_MS;
    etcd_begin(&server, NULL);
    rig_begin_at(server.url);
    hf_client *fast = rig_client(NULL);
    time_learn(fast);
    proxy_begin(&proxy, server.port);
    snprintf(url, sizeof url, "etcd://127.0.0.1:%d/", proxy.port);
    hf_client *slow = rig_client_at(url, &o);
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(rig_lock(slow, "b"), &info, NULL), HF_OK);
    CHECK(strstr(lab_etcd_say(&server, "del holdfast//clock"), "1"));
    proxy_arm(&proxy, LAB_UP, -1, 0);
    proxy_delay(&proxy, LAB_DOWN, 500);
    rig_spawn(value_ask, slow);
    CHECK(rig_until(has_asked, &proxy));
    value_ask(fast);
    rig_join();
    /* The one that was deleted, and the next. */
    CHECK(rig_until(are_two, NULL));
}
