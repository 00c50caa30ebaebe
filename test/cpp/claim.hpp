/*
 * claim.hpp: test.h for C++.  One rule: what a test made is destroyed when it
 * ends, passed or failed: a CHECK that fails throws, and only the test's frame
 * below it is left by longjmp().
 *
 *     CLAIM(mutex, excludes)
 *     {
 *         holdfast::client client(rig_url());
 *         CHECK(client.can(HF_CAP_FENCE));
 *     }
 */
#ifndef HF_TEST_CLAIM_HPP
#define HF_TEST_CLAIM_HPP

#include <cstring>
#include <exception>
#include <string>

extern "C" {
#include "test.h"

/* Of rig.h, which is C only. */
void rig_begin(void);
const char *rig_url(void);
}

#include "holdfast/holdfast.hpp"

namespace claim
{

struct broken {
    const char *file;
    int line;
    std::string text;
};

/* Run a test; what it fails with, or "". */
inline void run(void (*body)(), char *text, size_t size, int *line)
{
    std::string why;
    try {
        body();
    } catch (const broken &b) {
        why = b.text;
        *line = b.line;
    } catch (const std::exception &e) {
        why = std::string("threw: ") + e.what();
    }
    why.copy(text, size - 1);
}

/* The status that `call` throws; HF_OK if it throws nothing. */
template <class Call> int thrown(Call &&call)
{
    try {
        call();
        return HF_OK;
    } catch (const holdfast::error &e) {
        return e.status();
    }
}

} // namespace claim

#define CLAIM(suite_, name_)                                                   \
    static void body_##suite_##_##name_();                                     \
    TEST(suite_, name_)                                                        \
    {                                                                          \
        static char text[512];                                                 \
        int line = __LINE__;                                                   \
        memset(text, 0, sizeof text);                                          \
        rig_begin();                                                           \
        claim::run(body_##suite_##_##name_, text, sizeof text, &line);         \
        if (text[0]) test_fail(__FILE__, line, "%s", text);                    \
    }                                                                          \
    static void body_##suite_##_##name_()

#undef CHECK
#define CHECK(cond)                                                            \
    do {                                                                       \
        if (!(cond)) throw claim::broken{__FILE__, __LINE__, #cond};           \
    } while (0)

#undef CHECK_INT
#define CHECK_INT(a, b)                                                        \
    do {                                                                       \
        long long a_ = static_cast<long long>(a);                              \
        long long b_ = static_cast<long long>(b);                              \
        if (a_ != b_)                                                          \
            throw claim::broken{__FILE__, __LINE__,                            \
                                #a " is " + std::to_string(a_) + ", not " #b   \
                                    + " (" + std::to_string(b_) + ")"};        \
    } while (0)

#endif
