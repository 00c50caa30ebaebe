/*
 * rig_started.h: started calls, on a client with a thread of its own and on one
 * that the program's loop drives.  One rule: a test of a started call passes in
 * both modes.
 */
#ifndef HF_TEST_RIG_STARTED_H
#define HF_TEST_RIG_STARTED_H

#include "lib/rig.h"

enum rig_mode { RIG_THREAD, RIG_OWN_LOOP, RIG_MODES };

hf_client *rig_client_in(enum rig_mode mode);

/* Wait until `calls` is `wanted`; run the client's loop meanwhile if it is the
 * program's.  0 if it did not come true in time. */
int rig_until_told(hf_client *client, atomic_int *calls, int wanted);

/* Run the loop once if it is the program's. */
void rig_turn(hf_client *client, int timeout_ms);

#endif
