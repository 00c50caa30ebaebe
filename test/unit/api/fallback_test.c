/*
 * fallback_test.c: the options that say what to do without a store.  One rule:
 * what makes no sense is refused, with an error text, when the client is
 * opened.
 */
#include <string.h>

#include "api/client/fallback.h"
#include "lib/rig.h"
#include "lib/server.h"

/* Nothing listens there, and opening does not wait for it. */
#define NOWHERE "redis://127.0.0.1:1"

static int open_with(const char *url, int32_t field, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    if (!strncmp(url, "redis:", 6)) server_backend();
    o.fallback = field;
    int status = hf_client_open(url, &o, &c, err);
    hf_client_close(c);
    return status;
}

TEST(fallback, each_policy_is_understood)
{
    CHECK_INT(open_with(NOWHERE "?fallback=fail", 0, NULL), HF_OK);
    CHECK_INT(open_with(NOWHERE "?fallback=wait", 0, NULL), HF_OK);
    CHECK_INT(open_with(NOWHERE "?fallback=local", 0, NULL), HF_OK);
    CHECK_INT(open_with(NOWHERE "?fallback=local&fallback_dir=/tmp", 0, NULL),
              HF_OK);
    for (int32_t i = HF_FALLBACK_DEFAULT; i <= HF_FALLBACK_LOCAL; i++)
        CHECK_INT(open_with(NOWHERE, i, NULL), HF_OK);
}

TEST(fallback, nonsense_is_refused_with_a_sentence)
{
    static const char *const bad[] = {
        NOWHERE "?fallback",
        NOWHERE "?fallback=never",
        NOWHERE "?fallback=LOCAL",
        NOWHERE "?fallback=local&fallback_dir",
        NOWHERE "?fallback=local&fallback_dir=here",
        NOWHERE "?fallback_dir=/tmp",
        NOWHERE "?fallback=wait&fallback_dir=/tmp",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        if (open_with(bad[i], 0, &err) != HF_INVALID)
            TEST_FAIL("%s was accepted", bad[i]);
        CHECK(strstr(err.text, "fallback") != NULL);
    }
    CHECK_INT(open_with(NOWHERE, HF_FALLBACK_LOCAL + 1, NULL), HF_INVALID);
    CHECK_INT(open_with(NOWHERE, -1, NULL), HF_INVALID);
}

TEST(fallback, to_this_host_is_not_for_what_is_on_this_host)
{
    struct hf_error err = {0};
    CHECK_INT(open_with("memory:?fallback=local", 0, &err), HF_INVALID);
    CHECK(strstr(err.text, "memory") != NULL);
    CHECK_INT(open_with("memory:", HF_FALLBACK_LOCAL, NULL), HF_INVALID);
    CHECK_INT(open_with("file:/tmp?fallback=local", 0, NULL), HF_INVALID);
    CHECK_INT(open_with("memory:?fallback=wait", 0, NULL), HF_OK);
    CHECK_INT(open_with("memory:", HF_FALLBACK_FAIL, NULL), HF_OK);
}

TEST(fallback, the_option_s_field_wins_over_the_url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    server_backend();
    o.fallback = HF_FALLBACK_WAIT;
    CHECK_INT(hf_client_open(NOWHERE "?fallback=local&fallback_dir=/tmp", &o,
                             &c, NULL),
              HF_OK);
    int is_local = c->pump.engine.host != NULL;
    int is_patient = c->pump.engine.conf.is_patient;
    hf_client_close(c);
    CHECK(!is_local && is_patient);
}

TEST(fallback, a_long_directory_is_refused)
{
    char url[URL_LEN_MAX];
    size_t n = (size_t)snprintf(url, sizeof url, "%s",
                                NOWHERE "?fallback=local&fallback_dir=/");
    memset(url + n, '=', 900); /* each is three bytes in a URL */
    url[n + 900] = '\0';
    CHECK_INT(open_with(url, 0, NULL), HF_INVALID);
}

TEST(fallback, names_with_a_slash_can_be_names_in_a_file_store)
{
    char url[600];
    rig_begin_on("file:");
    snprintf(url, sizeof url, "%s?slash=name", rig_url());
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), "no/such/dir/a")),
              HF_OK);
    snprintf(url, sizeof url, "%s?slash=both", rig_url());
    CHECK_INT(open_with(url, 0, NULL), HF_INVALID);
}
