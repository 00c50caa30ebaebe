/*
 * test.h: the whole test framework.
 *
 *     TEST(url, refuses_an_unknown_scheme)
 *     {
 *         CHECK(hf__url_parse(&u, "gopher://x", &err) == HF_INVALID);
 *     }
 *
 * Tests register themselves; test/lib/test_main.c runs them in order of
 * definition and ends with "N passed, N failed".  Arguments are substrings of
 * "suite.name" to run; not=PART,PART leaves out.  A CHECK that fails ends its
 * test; TEST_FAIL says why in words, and test_skip() what the machine lacks.
 */
#ifndef HF_TEST_H
#define HF_TEST_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

struct test_case {
    const char *suite;
    const char *name;
    void (*run)(void);
    struct test_case *next;
};

void test_register(struct test_case *t);

/* Print where and what, and end the running test.  Only from its thread. */
void test_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));

/* Print what is missing on this machine, and end the running test without a
 * verdict; a failure where CI is set.  Only from its thread. */
void test_skip(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* Called when the running test ends, passed or failed, last registered first:
 * stop a server, remove a directory.  The test function has returned by then:
 * `arg` must not live on its stack. */
void test_cleanup(void (*fn)(void *), void *arg);

/* Arguments that were no test names: "key=value". NULL if absent. */
const char *test_arg(const char *key);

#define TEST(suite_, name_)                                                    \
    static void test_##suite_##_##name_(void);                                 \
    static struct test_case case_##suite_##_##name_ = {                        \
        #suite_, #name_, test_##suite_##_##name_, NULL};                       \
    __attribute__((constructor)) static void reg_##suite_##_##name_(void)      \
    {                                                                          \
        test_register(&case_##suite_##_##name_);                               \
    }                                                                          \
    static void test_##suite_##_##name_(void)

#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) test_fail(__FILE__, __LINE__, "%s", #cond);               \
    } while (0)

#define CHECK_INT(a, b)                                                        \
    do {                                                                       \
        int64_t a_ = (int64_t)(a), b_ = (int64_t)(b);                          \
        if (a_ != b_)                                                          \
            test_fail(__FILE__, __LINE__, "%s is %lld, not %s (%lld)", #a,     \
                      (long long)a_, #b, (long long)b_);                       \
    } while (0)

#define CHECK_STR(a, b)                                                        \
    do {                                                                       \
        const char *a_ = (a), *b_ = (b);                                       \
        if (!test_same_text(a_, b_))                                           \
            test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #a,      \
                      a_ ? a_ : "(null)", b_ ? b_ : "(null)");                 \
    } while (0)

#define TEST_FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

int test_same_text(const char *a, const char *b);

#endif
