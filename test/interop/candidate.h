/*
 * candidate.h: our side of an election that another library takes part in.
 * One rule: a candidate is closed before its client is, passed or failed.
 */
#ifndef HF_TEST_CANDIDATE_H
#define HF_TEST_CANDIDATE_H

#include "peer.h"

/* Open one, of a client of its own. */
hf_election *candidate_open(const char *name);

/* Campaign, for as long as rig_options() would wait; `value` may be NULL. */
int candidate_campaign(hf_election *e, int64_t wait_ms, const char *value);

/* The same on a thread; rig_join() ends it.  Static. */
struct campaigner {
    hf_election *election;
    const char *value;
    int status;
};
void campaigner_start(struct campaigner *c);

#endif
