/*
 * holder.c: a process that holds a lock.  One rule: lines are written whole, so
 * that the callback's thread and the main one cannot mix theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/rig.h"

static void on_state(const struct hf_event *ev, void *user)
{
    static const char *const names[] = {"NONE", "HELD", "AT_RISK", "LOST"};
    proc_say(user, "state %s", names[ev->state & 3]);
}

static int holder_serve(struct lab_proc *self, hf_lock *lock)
{
    char line[PROC_LINE_MAX];
    while (proc_hear(self, line, 120000)) {
        if (strcmp(line, "release") != 0) continue;
        int status = hf_lock_release(lock, NULL, NULL);
        proc_say(self, "released %s", hf_status_name(status));
    }
    return 0;
}

static int holder_run(struct lab_proc *self, const void *arg)
{
    const struct holder *h = arg;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(10000, h->lease_ms, h->flags);
    hf_hold *g = NULL;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    o.on_state = on_state;
    o.state_user = self;
    o.lease_ms = h->lease_ms;
    int status = hf_client_open(h->url, &o, &c, NULL);
    if (status == HF_OK) status = hf_lock_open(c, h->name, &l, NULL);
    if (status == HF_OK) status = hf_lock_acquire(l, &a, &g, NULL);
    if (status != HF_OK) {
        proc_say(self, "failed %s", hf_status_name(status));
        return 1;
    }
    proc_say(self, "held %llu", (unsigned long long)hf_hold_fence(g));
    return holder_serve(self, l);
}

uint64_t holder_start(struct lab_proc *p, const struct holder *h)
{
    char line[PROC_LINE_MAX];
    proc_start(p, holder_run, h);
    if (!proc_hear(p, line, RIG_PATIENCE_MS) || strncmp(line, "held ", 5) != 0)
        TEST_FAIL("the holder says \"%s\"", line);
    return strtoull(line + 5, NULL, 10);
}

int holder_says(struct lab_proc *p, const char *wanted)
{
    char line[PROC_LINE_MAX];
    while (proc_hear(p, line, RIG_PATIENCE_MS))
        if (!strcmp(line, wanted)) return 1;
    return 0;
}
