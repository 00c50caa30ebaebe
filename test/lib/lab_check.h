/*
 * lab_check.h: calls of lab/ in a test.  One rule: the lab returns its
 * failures, and here they end the test, with the lab's own sentence.
 */
#ifndef HF_TEST_LAB_CHECK_H
#define HF_TEST_LAB_CHECK_H

#include "lab/lab.h"
#include "test.h"

/* A call that must succeed.  The test fails if the call does, and is skipped if
 * the machine lacks what the call needs. */
#define LAB_CHECK(call)                                                        \
    do {                                                                       \
        int lab_status_ = (call);                                              \
        if (lab_status_ == LAB_ABSENT) test_skip("%s", lab_error());           \
        if (lab_status_ < 0) test_fail(__FILE__, __LINE__, "%s", lab_error()); \
    } while (0)

#endif
