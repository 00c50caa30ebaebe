/*
 * candidate.c: see candidate.h.
 */
#include "candidate.h"

#include <string.h>

static struct {
    hf_election *all[8];
    size_t len;
} candidates;

static void candidates_close(void *unused)
{
    (void)unused;
    rig_join(); /* no call may be under way */
    while (candidates.len > 0)
        hf_election_close(candidates.all[--candidates.len]);
}

hf_election *candidate_open(const char *name)
{
    struct hf_error err = {0};
    hf_election *e;
    if (hf_election_open(rig_client(NULL), name, NULL, &e, &err))
        TEST_FAIL("open: %s", err.text);
    if (candidates.len == 0) test_cleanup(candidates_close, NULL);
    candidates.all[candidates.len++] = e;
    return e;
}

int candidate_campaign(hf_election *e, int64_t wait_ms, const char *value)
{
    struct hf_campaign_options o = HF_CAMPAIGN_OPTIONS_INIT;
    if (wait_ms == RIG_TRY)
        o.flags = HF_CAMPAIGN_TRY;
    else
        o.wait_ms = wait_ms;
    o.value = value;
    o.value_len = value ? strlen(value) : 0;
    return hf_election_campaign(e, &o, NULL, NULL);
}

static void campaigner_run(void *arg)
{
    struct campaigner *c = arg;
    c->status = candidate_campaign(c->election, RIG_WAIT_MS, c->value);
}

void campaigner_start(struct campaigner *c)
{
    c->status = HF_INTERNAL;
    rig_spawn(campaigner_run, c);
}
