/*
 * planted.h: a known bug in the library that a test runs against, so that the
 * test shows that it can fail.  One rule: the bug is gone when the test ends.
 *
 * Only for the programs that cmake/tests.cmake builds with HF_MUTATIONS: the
 * others link the library as it is, where nothing can be planted.
 */
#ifndef HF_TEST_PLANTED_H
#define HF_TEST_PLANTED_H

#include "core/mutation.h"

/* From now on, until the test has ended and its clients are closed. */
void planted_begin(enum core_mutation which);

#endif
