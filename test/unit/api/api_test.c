/*
 * api_test.c: the public calls that need no store: opening, options, statuses.
 * One rule: bad input is refused with an error text, and nothing is touched.
 */
#include <stddef.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rig.h"

static int open_status(const char *url, struct hf_error *err)
{
    hf_client *c = NULL;
    int status = hf_client_open(url, NULL, &c, err);
    hf_client_close(c);
    return status;
}

TEST(api, refuses_urls_with_a_sentence)
{
    static const char *const bad[] = {"gopher://x",
                                      "redis://127.0.0.1:0",
                                      "redis://127.0.0.1:65536",
                                      "redis://127.0.0.1:x",
                                      "redis://127.0.0.1/x",
                                      "redis://127.0.0.1/-1",
                                      "memory:?no_such_option=1",
                                      "memory:?lease=0",
                                      "memory:?lease=25h",
                                      "memory:?lease=soon",
                                      "memory:?timeout=-1",
                                      "memory:?drift=x",
                                      "redis://127.0.0.1?lease",
                                      "",
                                      ":",
                                      "//",
                                      "nothing"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct hf_error err = {0};
        int status = open_status(bad[i], &err);
        if (status != HF_INVALID && status != HF_UNSUPPORTED)
            TEST_FAIL("\"%s\": %s", bad[i], hf_status_name(status));
        CHECK_INT(err.status, status);
        CHECK(strlen(err.text) > 0);
    }
}

TEST(api, status_of_a_refused_url_needs_no_error_object)
{
    CHECK_INT(open_status("gopher://x", NULL), HF_INVALID);
}

TEST(api, options_out_of_range_are_invalid)
{
    struct hf_client_options bad[7];
    for (int i = 0; i < 7; i++) hf_client_options_init(&bad[i]);
    bad[0].lease_ms = HF_LEASE_MS_MAX + 1;
    bad[1].lease_ms = -1;
    bad[2].timeout_ms = -1;
    bad[3].drift_ppm = -1;
    bad[4].flags = 0x40000000u;
    bad[5].spin_us = -2;
    bad[6].spin_us = 10001;
    for (int i = 0; i < 7; i++) {
        hf_client *c = NULL;
        struct hf_error err = {0};
        int status = hf_client_open("memory:", &bad[i], &c, &err);
        hf_client_close(c);
        if (status != HF_INVALID) TEST_FAIL("option %d: %d", i, status);
        CHECK(err.text[0] != 0);
    }
}

TEST(api, half_an_allocator_is_invalid)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    hf_client *c = NULL;
    o.allocator.release = (void (*)(void *, void *))abort;
    CHECK_INT(hf_client_open("memory:", &o, &c, NULL), HF_INVALID);
    CHECK(c == NULL);
}

TEST(api, options_of_no_known_size_are_invalid)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    hf_client *c = NULL;
    rig_begin_on("memory:");
    o.struct_size = 0; /* the INIT macro was forgotten */
    CHECK_INT(hf_client_open(rig_url(), &o, &c, NULL), HF_INVALID);
    CHECK(c == NULL);
    a.struct_size = 0;
    CHECK_INT(hf_lock_acquire(rig_lock(rig_client(NULL), "a"), &a, NULL, NULL),
              HF_INVALID);
}

TEST(api, options_of_a_later_version_are_understood_while_they_are_zero)
{
    struct {
        struct hf_acquire_options a;
        int64_t later;
    } o = {.a = HF_ACQUIRE_OPTIONS_INIT};
    struct hf_error err = {0};
    rig_begin_on("memory:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    o.a.struct_size = sizeof o;
    CHECK_INT(hf_lock_acquire(l, &o.a, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    o.later = 1;
    CHECK_INT(hf_lock_acquire(l, &o.a, NULL, &err), HF_INVALID);
    CHECK(strstr(err.text, hf_version()) != NULL);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(api, options_shorter_than_they_ever_were_are_invalid)
{
    struct hf_acquire_options a = HF_ACQUIRE_OPTIONS_INIT;
    rig_begin_on("memory:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    a.struct_size = sizeof a - 1;
    CHECK_INT(hf_lock_acquire(l, &a, NULL, NULL), HF_INVALID);
    CHECK_INT(rig_probe(l), HF_OK);
}

TEST(api, init_functions_do_what_the_macros_do)
{
    struct hf_client_options a = HF_CLIENT_OPTIONS_INIT, b;
    struct hf_acquire_options c = HF_ACQUIRE_OPTIONS_INIT, d;
    memset(&b, 0x77, sizeof b);
    memset(&d, 0x77, sizeof d);
    hf_client_options_init(&b);
    hf_acquire_options_init(&d);
    CHECK_INT(b.struct_size, a.struct_size);
    CHECK_INT(b.flags, 0);
    CHECK_INT(b.lease_ms, 0);
    CHECK(b.password == NULL && b.on_state == NULL && b.log == NULL);
    CHECK(b.allocator.allocate == NULL);
    CHECK_INT(d.struct_size, c.struct_size);
    CHECK_INT(d.flags, 0);
    CHECK_INT(d.wait_ms, RIG_NO_LIMIT);
    CHECK(d.cancel == NULL);
}

TEST(api, url_is_told_without_the_password)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client_at("redis://u:geheim@127.0.0.1:1/0", NULL);
    CHECK(strstr(hf_client_url(c), "127.0.0.1") != NULL);
    CHECK(strstr(hf_client_url(c), "geheim") == NULL);
}

TEST(api, closing_nothing_does_nothing)
{
    hf_client_close(NULL);
    hf_lock_close(NULL);
    hf_cancel_close(NULL);
}

TEST(api, opening_and_closing_leaves_no_descriptor_behind)
{
    static const char *const kinds[] = {"memory:x", "redis://127.0.0.1:1"};
    rig_begin_on("file:");
    rig_close(rig_client(NULL)); /* what is made once is made */
    for (int i = 0; i < 2; i++) rig_close(rig_client_at(kinds[i], NULL));
    int before = open("/dev/null", O_RDONLY);
    close(before);
    for (int n = 0; n < 20; n++) {
        rig_close(rig_client(NULL));
        for (int i = 0; i < 2; i++) rig_close(rig_client_at(kinds[i], NULL));
    }
    int after = open("/dev/null", O_RDONLY);
    close(after);
    CHECK_INT(after, before);
}

TEST(api, own_loop_calls_are_refused_elsewhere)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_client_fd(c), -1);
    CHECK_INT(hf_client_process(c), HF_INVALID);
}

TEST(api, statuses_have_names_sentences_and_advice)
{
    for (int s = 0; s >= -15; s--) {
        CHECK(strcmp(hf_status_name(s), "?") != 0);
        CHECK(strlen(hf_status_text(s)) > 0);
        CHECK(hf_status_advice(s) >= HF_ADVICE_NONE);
        CHECK(hf_status_advice(s) <= HF_ADVICE_FIX);
    }
    CHECK_STR(hf_status_name(HF_TAKEN), "TAKEN");
    CHECK_STR(hf_status_name(4711), "?");
    CHECK_INT(hf_status_advice(4711), HF_ADVICE_STOP);
    CHECK_INT(hf_status_advice(HF_LOST), HF_ADVICE_STOP);
}

TEST(api, version_is_the_headers)
{
    CHECK_STR(hf_version(), HF_VERSION);
    CHECK_INT(hf_version_num(), HF_VERSION_NUM);
}
