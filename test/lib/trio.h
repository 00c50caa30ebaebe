/*
 * trio.h: a quorum of three spaces of this process, whose data can be lost.
 * One rule: a space that nobody has open any more is forgotten, as a server
 * forgets that comes back without its data; so the trio has each open once.
 */
#ifndef HF_TEST_TRIO_H
#define HF_TEST_TRIO_H

#include "lib/rig.h"

#define TRIO_URL "quorum:memory:la|memory:lb|memory:lc"
#define TRIO_NODES 3
#define TRIO_BLANK -1 /* instead of a lease: nobody declares them new */

/* Three nodes with this longest lease (0: the default); closed when the test
 * ends.  Clients that were not closed before keep the spaces. */
void trio_begin(int64_t max_lease_ms);

/* Node `i` loses its data; nobody else may have it open. */
void trio_wipe(int i);

/* A client that is not the rig's, for the test to close. */
hf_client *trio_client(const char *url);

#endif
