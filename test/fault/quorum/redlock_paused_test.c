/*
 * redlock_paused_test.c: a holder that is paused past its lease, between the
 * grant and its write.  One rule: it cannot know that it came too late; the
 * resource does, and refuses it.
 *
 * No proxies here: holders are forked, and must share no line with the test.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/guard.h"
#include "lib/nodes.h"
#include "lib/proc.h"
#include "lib/redlock.h"
#include "lib/stress_run.h"

#define LEASE_MS 800

static struct {
    struct lab_server nodes[REDLOCK_NODES];
    struct lab_server resource;
    char url[256];
} at;

static void at_begin(void)
{
    struct hf_quorum_node nodes[REDLOCK_NODES];
    struct hf_error err = {0};
    int len = 0;
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    size_t used = 0;
    for (int i = 0; i < REDLOCK_NODES; i++) {
        redis_begin(&at.nodes[i], NULL);
        used += (size_t)snprintf(at.url + used, sizeof at.url - used,
                                 "%s127.0.0.1:%d", i ? "," : "redlock://",
                                 at.nodes[i].port);
    }
    redis_begin(&at.resource, NULL);
    rig_begin_at(at.url);
    o.timeout_ms = RIG_WAIT_MS;
    if (nodes_init(at.url, &o, nodes, REDLOCK_NODES, &len, &err) != HF_OK)
        TEST_FAIL("init: %s", err.text);
}

/* Says "held TOKEN"; told "write", it writes and says how that went. */
static int writer_run(struct lab_proc *self, const void *arg)
{
    struct hf_acquire_options a = rig_options(RIG_WAIT_MS, LEASE_MS, 0);
    hf_hold *g = NULL;
    hf_client *locks = NULL, *store = NULL;
    hf_lock *l = NULL;
    char line[PROC_LINE_MAX];
    (void)arg;
    if (hf_client_open(at.url, NULL, &locks, NULL) != HF_OK
        || hf_client_open(at.resource.url, NULL, &store, NULL) != HF_OK
        || hf_lock_open(locks, "a", &l, NULL) != HF_OK
        || hf_lock_acquire(l, &a, &g, NULL) != HF_OK)
        return 1;
    proc_say(self, "held %llu", (unsigned long long)hf_hold_fence(g));
    while (proc_hear(self, line, 120000)) {
        int status =
            hf_guard_set(store, "it", hf_hold_fence(g), "old", 3, 0, NULL);
        proc_say(self, "wrote %s", hf_status_name(status));
    }
    return 0;
}

static uint64_t writer_start(struct lab_proc *p)
{
    char line[PROC_LINE_MAX] = "";
    proc_start(p, writer_run, NULL);
    if (!proc_hear(p, line, RIG_PATIENCE_MS) || strncmp(line, "held ", 5) != 0)
        TEST_FAIL("the writer says \"%s\"", line);
    return strtoull(line + 5, NULL, 10);
}

TEST(redlock_paused, who_is_in_time_may_write)
{
    static struct lab_proc p;
    at_begin();
    CHECK(writer_start(&p) > 0);
    proc_say(&p, "write");
    CHECK(proc_hears(&p, "wrote OK", RIG_PATIENCE_MS));
    CHECK_STR(redis_say(&at.resource, "GET it"), "old");
}

TEST(redlock_paused, who_wakes_up_behind_the_next_holder_may_not)
{
    static struct lab_proc p;
    hf_hold *g;
    at_begin();
    uint64_t fence = writer_start(&p);
    proc_signal(&p, SIGSTOP);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_client *store = rig_client_at(at.resource.url, NULL);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK(hf_hold_fence(g) > fence);
    CHECK_INT(hf_guard_set(store, "it", hf_hold_fence(g), "new", 3, 0, NULL),
              HF_OK);
    proc_signal(&p, SIGCONT);
    proc_say(&p, "write");
    CHECK(proc_hears(&p, "wrote STALE", RIG_PATIENCE_MS));
    CHECK_STR(redis_say(&at.resource, "GET it"), "new");
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* Many processes, one of which is always asleep at the wrong moment. */
TEST(redlock_paused, no_history_shows_a_write_of_the_past)
{
    static const char *const words[] = {
        "--clients", "3",     "--threads",       "1",  "--locks", "1",
        "--lease",   "300ms", "--pause-percent", "20", NULL};
    static struct stress_run stress;
    struct history h;
    at_begin();
    stress_run_begin(&stress, at.url, at.nodes[0].dir, words);
    rig_pause_ms(3000);
    stress_run_end(&stress, &h);
    CHECK(h.refused > 0);
    CHECK(h.accepted > 0);
}
