/*
 * rig_number.h: a number in a versioned value, for tests that count writes.
 */
#ifndef HF_TEST_RIG_NUMBER_H
#define HF_TEST_RIG_NUMBER_H

#include "lib/rig.h"

/* Read the value "n", and write one more with the version that was read: a
 * status, HF_CHANGED if another client was faster. */
int number_add(hf_client *c);

/* What it is; the test fails if it cannot be read. */
long number_of(hf_client *c);

#endif
