/*
 * redact_test.c: what is shown of a URL never holds its password, and is still
 * the same URL otherwise.
 */
#include "base/url.h"

#include <string.h>

#include "test.h"

static char out[URL_LEN_MAX + 1];

static const char *shown(const char *text)
{
    hf__url_redact(text, out, sizeof out);
    return out;
}

TEST(redact, leaves_a_url_without_password_alone)
{
    static const char *const urls[] = {
        "file:",          "file:/x?label=a@b:c", "memory:space",
        "redis://h:1/2?", "redis://joe@[::1]:7", "redis://h?label=x:y@z"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        CHECK_STR(shown(urls[i]), urls[i]);
}

TEST(redact, takes_the_password_out)
{
    CHECK_STR(shown("redis://joe:hush@h:1/2?a=b"), "redis://joe@h:1/2?a=b");
    CHECK_STR(shown("redis://:hush@h"), "redis://h");
    CHECK_STR(shown("redis://:hu%40sh@[::1]:1"), "redis://[::1]:1");
    CHECK_STR(shown("redis://joe:@h"), "redis://joe@h");
    CHECK_STR(shown("redis+unix://joe:hush@/s"), "redis+unix://joe@/s");
    CHECK_STR(shown("redis+unix://:hush@/s"), "redis+unix:///s");
}

TEST(redact, takes_secret_options_out)
{
    CHECK_STR(shown("etcd://h?password=hush&a=b"), "etcd://h?a=b");
    CHECK_STR(shown("etcd://h?a=b&token=hush"), "etcd://h?a=b&");
    CHECK_STR(shown("etcd://h?secret=hush&password=hush&a"), "etcd://h?a");
    CHECK_STR(shown("etcd://h?apassword=b"), "etcd://h?apassword=b");
    CHECK_STR(shown("file:/a&password=x?b"), "file:/a&password=x?b");
}

TEST(redact, what_is_shown_can_be_parsed_again)
{
    static const char *const urls[] = {
        "redis://joe:hush@h:1/2?a=b", "redis://:hush@h",
        "redis://h?a=b&password=hush", "redis://h?password=hush"};
    struct url u;
    struct hf_error err;
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        CHECK_INT(hf__url_parse(&u, shown(urls[i]), &err), HF_OK);
        CHECK(u.password == NULL);
        CHECK(strstr(out, "hush") == NULL);
    }
}

TEST(redact, leaves_out_too_much_of_a_broken_url)
{
    static const char *const urls[] = {
        "redis://joe:hush/more@h", "redis://joe:hush?x=hush@h",
        "redis://joe:hush@hush@h", "redis://:hush#hush@h",
        "redis://joe:hush hush@h", "//joe:hush@h"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        CHECK(strstr(shown(urls[i]), "hush") == NULL);
}

TEST(redact, keeps_to_the_buffer)
{
    char small[8];
    memset(small, 'x', sizeof small);
    hf__url_redact("redis://:hush@host", small, 5);
    CHECK_STR(small, "redi");
    CHECK_INT(small[5], 'x');
    hf__url_redact("file:", small, 1);
    CHECK_STR(small, "");
    small[0] = 'k';
    hf__url_redact("file:", small, 0);
    CHECK_INT(small[0], 'k');
}
