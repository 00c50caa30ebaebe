/*
 * url_test.c: the parser takes what is documented, refuses the rest with an
 * error text, and never shows a password.
 */
#include "base/url.h"

#include <string.h>

#include "test.h"

static struct url u;
static struct hf_error err;

static void takes(const char *text)
{
    if (hf__url_parse(&u, text, &err) != HF_OK)
        TEST_FAIL("%s is refused: %s", text, err.text);
}

/* Refused, with exactly this error text. */
static void refuses(const char *text, const char *why)
{
    memset(&err, 0, sizeof err);
    CHECK_INT(hf__url_parse(&u, text, &err), HF_INVALID);
    CHECK_INT(err.status, HF_INVALID);
    CHECK_STR(err.text, why);
    CHECK(u.password == NULL && u.text[0] == '\0');
}

TEST(url, redis_in_full)
{
    takes("redis://joe:s%40c%3Aret@db.example_1.org:6380/7?lease=10s&x&y=");
    CHECK_STR(u.scheme, "redis");
    CHECK_STR(u.user, "joe");
    CHECK_STR(u.password, "s@c:ret");
    CHECK_STR(u.host, "db.example_1.org");
    CHECK_INT(u.port, 6380);
    CHECK_STR(u.path, "/7");
    CHECK_INT(u.options_len, 3);
    CHECK_STR(hf__url_option(&u, "lease"), "10s");
    CHECK_STR(hf__url_option(&u, "x"), "");
    CHECK_STR(hf__url_option(&u, "y"), "");
    CHECK(hf__url_option(&u, "z") == NULL);
    CHECK(hf__url_option(&u, "leas") == NULL);
}

TEST(url, absent_parts_are_null)
{
    takes("redis://h");
    CHECK_STR(u.host, "h");
    CHECK(!u.user && !u.password && !u.path);
    CHECK_INT(u.port, 0);
    CHECK_INT(u.options_len, 0);
    takes("redis://h?");
    CHECK_INT(u.options_len, 0);
    takes("redis://h/");
    CHECK_STR(u.path, "/");
}

TEST(url, user_and_password_stand_alone)
{
    takes("redis://:pw@h");
    CHECK(u.user == NULL);
    CHECK_STR(u.password, "pw");
    takes("redis://joe@h");
    CHECK_STR(u.user, "joe");
    CHECK(u.password == NULL);
    takes("redis://joe:@h:1");
    CHECK_STR(u.password, "");
    CHECK_STR(u.host, "h");
}

TEST(url, file_forms)
{
    takes("file:");
    CHECK_STR(u.scheme, "file");
    CHECK(!u.host && !u.path);
    takes("file:/var/lock%20s");
    CHECK_STR(u.path, "/var/lock s");
    takes("file:///var/locks?network=allow");
    CHECK_STR(u.path, "/var/locks");
    CHECK(u.host == NULL);
    CHECK_STR(hf__url_option(&u, "network"), "allow");
    takes("FILE:/d\xc3\xa9p\xc3\xb4t");
    CHECK_STR(u.scheme, "file");
    CHECK_STR(u.path, "/d\xc3\xa9p\xc3\xb4t");
    refuses("file:here", "url: path: must begin with '/'");
    refuses("file://dir",
            "url: host: file: takes none: write file:/path or file:///path");
}

TEST(url, memory_forms)
{
    takes("memory:");
    CHECK(u.path == NULL);
    takes("memory:space?lease=1s");
    CHECK_STR(u.path, "space");
    CHECK_STR(hf__url_option(&u, "lease"), "1s");
    refuses("memory://space",
            "url: host: memory: takes none: write memory:/path or "
            "memory:///path");
}

TEST(url, unix_socket)
{
    takes("redis+unix:///run/redis.sock?db=3");
    CHECK_STR(u.scheme, "redis+unix");
    CHECK_STR(u.path, "/run/redis.sock");
    CHECK_STR(hf__url_option(&u, "db"), "3");
    takes("redis+unix://lock@/run/redis.sock");
    CHECK_STR(u.user, "lock");
    CHECK(u.password == NULL);
    CHECK_STR(u.path, "/run/redis.sock");
    takes("redis+unix://lock:p%40w@/run/redis.sock?db=3");
    CHECK_STR(u.password, "p@w");
    refuses("redis+unix://lock@host/run/redis.sock",
            "url: host: redis+unix: takes none: write redis+unix:/path or "
            "redis+unix:///path");
    refuses("redis+unix://lock@", "url: path: missing");
    refuses("redis+unix:", "url: path: missing");
    refuses("redis+unix://", "url: path: missing");
}

TEST(url, ipv6_in_brackets)
{
    takes("redis://[::1]:6379/0");
    CHECK_STR(u.host, "::1");
    CHECK_INT(u.port, 6379);
    CHECK_STR(u.path, "/0");
    takes("redis://u:p@[fe80::1%25eth0]");
    CHECK_STR(u.host, "fe80::1%eth0");
    takes("redis://[::ffff:10.0.0.1]?a=1");
    CHECK_STR(u.host, "::ffff:10.0.0.1");
    refuses("redis://[::1", "url: host: '[' without ']'");
    refuses("redis://[::1]6379", "url: host: only a port may follow ']'");
    refuses("redis://[host]", "url: host: no IPv6 address in the brackets");
    refuses("redis://[]", "url: host: no IPv6 address in the brackets");
    refuses("redis://[::1%25]", "url: host: no IPv6 address in the brackets");
    refuses("redis://[::1%25a%2Fb]", "url: host: no valid IPv6 zone");
    refuses("redis://[::1]:", "url: port: must be a number from 1 to 65535");
}

TEST(url, port_has_a_range)
{
    static const char *const urls[] = {
        "redis://h:0",     "redis://h:65536", "redis://h:",
        "redis://h:-1",    "redis://h:x",     "redis://h:6379x",
        "redis://h:+6379", "redis://::1",     "redis://h:99999999999999999999"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        CHECK_INT(hf__url_parse(&u, urls[i], &err), HF_INVALID);
        CHECK(strncmp(err.text, "url: ", 5) == 0);
    }
    takes("redis://h:1");
    takes("redis://h:65535");
    CHECK_INT(u.port, 65535);
}

TEST(url, host_is_needed_where_there_is_a_server)
{
    refuses("redis://", "url: host: missing: write redis://host:port");
    refuses("redis:///0", "url: host: missing: write redis://host:port");
    refuses("redis:h", "url: host: missing: '//' must follow the scheme");
    refuses("redis://:6379", "url: host: missing before the port");
    refuses("redis://u@", "url: host: missing after '@'");
    refuses("redis://a,b", "url: host: a character that no host name has");
}

TEST(url, scheme_is_needed)
{
    refuses("", "url: empty: a scheme such as file: is needed");
    refuses(":x", "url: scheme: missing");
    refuses("localhost", "url: scheme: missing: begin with file: or redis://");
    refuses("/var/locks", "url: scheme: missing");
    refuses("1:", "url: scheme: missing");
}

TEST(url, unknown_schemes_are_the_registry_s_matter)
{
    takes("gopher://hole:70/x");
    CHECK_STR(u.scheme, "gopher");
    takes("quorum:x");
    CHECK_STR(u.path, "x");
}

TEST(url, percent_needs_two_hex_digits_and_no_nul)
{
    refuses("file:/a%", "url: path: '%' needs two hex digits after it");
    refuses("file:/a%4", "url: path: '%' needs two hex digits after it");
    refuses("file:/a%4g", "url: path: '%' needs two hex digits after it");
    refuses("file:/a%00b", "url: path: %00 is not allowed");
    refuses("redis://h?a=%zz",
            "url: option: '%' needs two hex digits after it");
    takes("file:/%41%2f%e4");
    CHECK_STR(u.path, "/A/\xe4");
}

TEST(url, odd_characters_are_refused_by_their_place)
{
    refuses("file:/a b", "url: byte 8: not allowed in a URL: write it as %XX");
    refuses("file:/a\n", "url: byte 8: not allowed in a URL: write it as %XX");
    refuses("file:\x7f", "url: byte 6: not allowed in a URL: write it as %XX");
    refuses("file:/#a", "url: byte 7: not allowed in a URL: write it as %XX");
    refuses("redis://h|redis://i",
            "url: byte 10: not allowed in a URL: write it as %XX");
}

TEST(url, options_are_named_once)
{
    refuses("file:?a=1&a=2", "url: option a: given twice");
    refuses("file:?a&b&a", "url: option a: given twice");
    refuses("file:?=1", "url: option: without a name");
    refuses("file:?a&&b", "url: option: without a name");
    refuses("file:?a%41=1",
            "url: option: a name has only letters, digits, _.-");
}

TEST(url, options_have_a_bound)
{
    char text[URL_LEN_MAX] = "file:?";
    for (int i = 0; i < URL_OPTIONS_MAX; i++) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "o%d=%d&", i, i);
    }
    takes(text);
    CHECK_INT(u.options_len, URL_OPTIONS_MAX);
    CHECK_STR(hf__url_option(&u, "o31"), "31");
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, "last");
    refuses(text, "url: options: too many");
}

TEST(url, length_has_a_bound)
{
    char text[URL_LEN_MAX + 2];
    memset(text, 'a', sizeof text);
    memcpy(text, "file:/", 6);
    text[URL_LEN_MAX] = '\0';
    takes(text);
    CHECK_INT(strlen(u.path), URL_LEN_MAX - 5);
    text[URL_LEN_MAX] = 'a';
    text[URL_LEN_MAX + 1] = '\0';
    refuses(text, "url: too long: 2048 bytes is the limit");
}

TEST(url, no_error_shows_a_password)
{
    static const char *const urls[] = {
        "redis://u:hush@",        "redis://u:hu%sh@h",  "redis://u:hush@h:x",
        "redis://u:hush@x@h",     "redis://u:hush:b@h", "redis://u:hush",
        "redis://u:hush/b@h",     "redis://:hush?x@h",  "redis://u:hush#@h",
        "redis://u:hush@h?a=1&a", "file://u:hush@h/x"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        CHECK_INT(hf__url_parse(&u, urls[i], &err), HF_INVALID);
        CHECK(strstr(err.text, "hu") == NULL);
    }
}

TEST(url, a_cluster_has_many_hosts)
{
    struct url one;
    takes("redis-cluster://joe:pw@h1:7000,[::1]:7001,h3?pubsub=classic");
    const char *list = u.host;
    CHECK_STR(u.user, "joe");
    CHECK_STR(u.host, "h1:7000,[::1]:7001,h3");
    CHECK_INT(hf__url_host_next(&list, &one, NULL), HF_OK);
    CHECK_STR(one.host, "h1");
    CHECK_INT(one.port, 7000);
    CHECK_INT(hf__url_host_next(&list, &one, NULL), HF_OK);
    CHECK_STR(one.host, "::1");
    CHECK_INT(hf__url_host_next(&list, &one, NULL), HF_OK);
    CHECK_STR(one.host, "h3");
    CHECK_INT(one.port, 0);
    CHECK_STR(list, "");
}

TEST(url, each_host_of_a_cluster_is_checked)
{
    refuses("redis-cluster://",
            "url: host: missing: write redis-cluster://host:port");
    refuses("redis-cluster://a,,b", "url: host: one of the list is empty");
    refuses("redis-cluster://a,", "url: host: one of the list is empty");
    refuses("redis-sentinel://joe:hush@a,joe:hush@b/main",
            "url: user: one user and password, before the first host, are for "
            "all of them; write '@' in them as %40");
    refuses("redis-cluster://a:1,b:x",
            "url: port: must be a number from 1 to 65535");
    refuses("redis-cluster://a,[::1", "url: host: '[' without ']'");
    refuses("redis://a,b", "url: host: a character that no host name has");
}
