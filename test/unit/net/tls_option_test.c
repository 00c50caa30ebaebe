/*
 * tls_option_test.c: what a URL may say about TLS.  A client that asks for
 * it gets it or a refusal; options of TLS are refused without it.
 */
#include <string.h>

#include "holdfast/holdfast.h"
#include "test.h"
#include "lib/nodes.h"

static void refuses(const char *url, const char *why)
{
    struct hf_error err = {0};
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(url, NULL, &c, &err), HF_INVALID);
    CHECK(c == NULL);
    if (!strstr(err.text, why)) TEST_FAIL("%s: %s", url, err.text);
}

static void takes(const char *url, const char *shown)
{
    struct hf_error err = {0};
    struct hf_node node;
    hf_client *c = NULL;
    if (hf_client_open(url, NULL, &c, &err) != HF_OK)
        TEST_FAIL("%s: %s", url, err.text);
    CHECK_INT(nodes_of(c, &node, 1), 1);
    CHECK_STR(hf_client_url(c), shown);
    hf_client_close(c);
}

TEST(tls_option, on_and_rediss_are_taken)
{
    takes("rediss://127.0.0.1:1", "rediss://127.0.0.1:1");
    takes("rediss://127.0.0.1:1?tls=on", "rediss://127.0.0.1:1?tls=on");
    takes("redis://127.0.0.1:1?tls=on&tls_name=a",
          "redis://127.0.0.1:1?tls=on&tls_name=a");
    takes("redis://127.0.0.1:1?tls=off", "redis://127.0.0.1:1?tls=off");
    takes("rediss://[::1]:1/2?format=string",
          "rediss://[::1]:1/2?format=string");
}

TEST(tls_option, passwords_are_not_shown)
{
    takes("rediss://bob:geheim@127.0.0.1:1", "rediss://bob@127.0.0.1:1");
    takes("rediss://:geheim@127.0.0.1:1", "rediss://127.0.0.1:1");
}

TEST(tls_option, off_contradicts_rediss)
{
    refuses("rediss://127.0.0.1:1?tls=off", "off contradicts rediss://");
}

TEST(tls_option, about_tls_means_nothing_without_it)
{
    refuses("redis://h?tls_ca=/x", "tls_ca: needs rediss:// or tls=on");
    refuses("redis://h?tls=off&tls_cert=/x", "tls_cert: needs");
    refuses("redis://h?tls_key=/x", "tls_key: needs");
    refuses("redis://h?tls_name=x", "tls_name: needs");
    refuses("redis://h?tls_verify=on", "tls_verify: needs");
    refuses("redis+unix:///s?tls_verify=off", "tls_verify: needs");
    refuses("memory:?tls=on", "unknown to memory");
}

TEST(tls_option, values_are_checked)
{
    refuses("redis://h?tls=yes", "\"yes\" is neither on nor off");
    refuses("rediss://h?tls_verify=no", "\"no\" is neither on nor off");
    refuses("rediss://h?tls_key=/x", "tls_key: needs tls_cert");
    refuses("rediss://h?tls_key_password_file=/x",
            "tls_key_password_file: needs tls_cert");
    refuses("rediss://h?tls_ca=/nonexistent/ca",
            "tls_ca: /nonexistent/ca: No such file");
    refuses("rediss://h?tls_ca=/dev/null", "there is no certificate in it");
    refuses("rediss://h?tls_cert=/nonexistent/crt",
            "tls_cert: /nonexistent/crt: No such file");
}

/* An empty variable of a script must not mean that every server is trusted. */
TEST(tls_option, without_a_value_is_refused)
{
    refuses("rediss://h?tls_ca=", "url: tls_ca: empty");
    refuses("rediss://h?tls_ca=/x&tls_cert", "url: tls_cert: empty");
    refuses("rediss://h?tls_key=", "url: tls_key: empty");
    refuses("rediss://h?tls_name=", "url: tls_name: empty");
    refuses("redis://h?password_file=", "url: password_file: empty");
    refuses("redis-cluster://h?tls=on&tls_ca=", "url: tls_ca: empty");
    refuses("redis-sentinel://h/m?sentinel_user=", "sentinel_user: empty");
    refuses("redlock://127.0.0.1:1,127.0.0.1:2?tls=on&tls_ca=",
            "url: tls_ca: empty");
}

TEST(tls_option, a_name_has_a_bound)
{
    char url[400];
    snprintf(url, sizeof url, "rediss://127.0.0.1:1?tls_name=%0255d", 1);
    takes(url, url);
    snprintf(url, sizeof url, "rediss://127.0.0.1:1?tls_name=%0256d", 1);
    refuses(url, "tls_name: too long");
}

TEST(tls_option, a_socket_needs_a_name_to_be_checked)
{
    refuses("redis+unix:///no.sock?tls=on", "tls_name: missing");
    takes("redis+unix:///no.sock?tls=on&tls_name=a",
          "redis+unix:///no.sock?tls=on&tls_name=a");
    takes("redis+unix:///no.sock?tls=on&tls_verify=off",
          "redis+unix:///no.sock?tls=on&tls_verify=off");
}

TEST(tls_option, reaches_every_member_of_a_quorum)
{
    struct hf_error err = {0};
    hf_client *c = NULL;
    refuses("redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3?tls_ca=/x",
            "tls_ca: needs");
    refuses("quorum:redis://127.0.0.1:1|rediss://127.0.0.1:2?tls_ca=/no|"
            "redis://127.0.0.1:3",
            "tls_ca: /no: No such file");
    CHECK_INT(hf_client_open("quorum:rediss://127.0.0.1:1|rediss://127.0.0.1:2|"
                             "rediss://127.0.0.1:3",
                             NULL, &c, &err),
              HF_OK);
    hf_client_close(c);
    refuses("quorum:rediss://127.0.0.1:1|redis://127.0.0.1:1",
            "the same server twice");
}
