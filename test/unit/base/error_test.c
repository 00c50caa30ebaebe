/*
 * error_test.c: an error is filled completely, cut when too long, and errno
 * survives.
 */
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

TEST(error, set_fills_every_field_and_returns_the_status)
{
    struct hf_error err;
    memset(&err, 0x55, sizeof err);
    CHECK_INT(hf__error_set(&err, HF_DENIED, "redis://%s: %d", "h", 7),
              HF_DENIED);
    CHECK_INT(err.status, HF_DENIED);
    CHECK_INT(err.node, -1);
    CHECK_INT(err.sys_errno, 0);
    CHECK_STR(err.text, "redis://h: 7");
    CHECK_INT(err.unasked, 0);
    for (int i = 0; i < 8; i++) CHECK_INT(err.reserved[i], 0);
}

TEST(error, errno_s_words_are_appended)
{
    struct hf_error err;
    CHECK_INT(
        hf__error_errno(&err, HF_UNAVAILABLE, ENOENT, "file: open %s", "/x"),
        HF_UNAVAILABLE);
    CHECK_INT(err.sys_errno, ENOENT);
    CHECK_STR(err.text, "file: open /x: No such file or directory");
}

TEST(error, unknown_errno_still_says_something)
{
    struct hf_error err;
    hf__error_errno(&err, HF_INTERNAL, 99999, "x");
    CHECK(strncmp(err.text, "x: ", 3) == 0);
    CHECK(strlen(err.text) > 5);
}

TEST(error, about_one_of_several_names_it)
{
    struct hf_error err;
    char name[2 * HF_ERROR_TEXT_MAX];
    hf__error_set(&err, HF_TAKEN, "held by %s", "somebody");
    hf__error_about(&err, "b");
    CHECK_STR(err.text, "lock b: held by somebody");
    CHECK_INT(err.status, HF_TAKEN);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 4; i++) hf__error_about(&err, name);
    CHECK(strlen(err.text) < HF_ERROR_TEXT_MAX);
    CHECK_STR(err.text + strlen(err.text) - 3, "...");
    hf__error_about(NULL, "b");
}

TEST(error, a_null_error_is_allowed)
{
    CHECK_INT(hf__error_set(NULL, HF_TAKEN, "x"), HF_TAKEN);
    CHECK_INT(hf__error_errno(NULL, HF_LOST, EIO, "x"), HF_LOST);
}

TEST(error, long_texts_are_cut_behind_a_word)
{
    struct hf_error err;
    char text[2 * HF_ERROR_TEXT_MAX];
    for (size_t i = 0; i < sizeof text; i++) text[i] = "word "[i % 5];
    text[sizeof text - 1] = '\0';
    hf__error_set(&err, HF_INVALID, "%s", text);
    size_t len = strlen(err.text);
    CHECK_STR(err.text + len - 8, "word ...");
    CHECK(len < HF_ERROR_TEXT_MAX && len > HF_ERROR_TEXT_MAX - 10);
}

/* Cut a text of `size` bytes, all `filler` but for a blank at `at`.  It lies at
 * the end of an allocation, so that a sanitizer sees a write behind it. */
static void cut_with_blank_at(size_t size, size_t at, char filler)
{
    char *text = malloc(size);
    CHECK(text != NULL);
    memset(text, filler, size);
    text[at] = ' ';
    text[size - 1] = '\0';
    hf__text_cut(text, size);
    const char *end = memchr(text, '\0', size);
    int is_marked = end && end - text >= 3 && !strcmp(end - 3, "...");
    free(text);
    if (!is_marked) TEST_FAIL("size %zu, blank at %zu: no end", size, at);
}

TEST(error, a_cut_text_ends_in_its_buffer_wherever_its_blanks_are)
{
    static const size_t sizes[] = {4, 5, 8, 61, 64, HF_ERROR_TEXT_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t at = 0; at + 1 < sizes[i]; at++) {
            cut_with_blank_at(sizes[i], at, 'a');
            cut_with_blank_at(sizes[i], at, ' ');
        }
}

TEST(error, a_long_text_is_cut_with_a_blank_at_every_position)
{
    struct hf_error err;
    char text[2 * HF_ERROR_TEXT_MAX];
    for (size_t at = 0; at < HF_ERROR_TEXT_MAX; at++) {
        memset(text, 'a', sizeof text);
        text[sizeof text - 1] = '\0';
        text[at] = ' ';
        hf__error_set(&err, HF_INVALID, "%s", text);
        const char *end = memchr(err.text, '\0', sizeof err.text);
        if (!end) TEST_FAIL("blank at %zu: no end", at);
        CHECK_STR(end - 3, "...");
    }
}

TEST(error, long_texts_are_cut)
{
    struct hf_error err;
    char text[2 * HF_ERROR_TEXT_MAX];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    hf__error_set(&err, HF_INVALID, "%s", text);
    CHECK_INT(strlen(err.text), HF_ERROR_TEXT_MAX - 1);
    hf__error_errno(&err, HF_INVALID, EIO, "%s", text);
    CHECK_INT(strlen(err.text), HF_ERROR_TEXT_MAX - 1);
    text[HF_ERROR_TEXT_MAX - 3] = '\0';
    hf__error_errno(&err, HF_INVALID, EIO, "%s", text);
    CHECK_INT(strlen(err.text), HF_ERROR_TEXT_MAX - 1);
    CHECK_STR(err.text + HF_ERROR_TEXT_MAX - 3, ": ");
}

TEST(error, errno_is_left_alone)
{
    struct hf_error err;
    errno = EBUSY;
    hf__error_set(&err, HF_INVALID, "x");
    hf__error_errno(&err, HF_INVALID, 99999, "x");
    CHECK_INT(errno, EBUSY);
}
