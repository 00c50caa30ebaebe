/*
 * status_test.c: every status has a name, a sentence, advice, and a value that
 * never changes.
 */
#include "holdfast/status.h"

#include <stddef.h>
#include <string.h>

#include "holdfast/version.h"
#include "test.h"

TEST(status, values_are_the_abi)
{
    CHECK_INT(HF_OK, 0);
    CHECK_INT(HF_TAKEN, -1);
    CHECK_INT(HF_TIMEOUT, -2);
    CHECK_INT(HF_UNAVAILABLE, -3);
    CHECK_INT(HF_LOST, -4);
    CHECK_INT(HF_CANCELLED, -5);
    CHECK_INT(HF_EXPIRED, -6);
    CHECK_INT(HF_INVALID, -7);
    CHECK_INT(HF_NOT_OWNER, -8);
    CHECK_INT(HF_CONFLICT, -9);
    CHECK_INT(HF_DENIED, -10);
    CHECK_INT(HF_UNSUPPORTED, -11);
    CHECK_INT(HF_FORKED, -12);
    CHECK_INT(HF_CLOSED, -13);
    CHECK_INT(HF_NOMEM, -14);
    CHECK_INT(HF_INTERNAL, -15);
    CHECK_INT(HF_CHANGED, -16);
    CHECK_INT(HF_STALE, -17);
    CHECK_INT(HF_EMPTY, -18);
}

TEST(status, knows_its_names)
{
    CHECK_STR(hf_status_name(HF_OK), "OK");
    CHECK_STR(hf_status_name(HF_TAKEN), "TAKEN");
    CHECK_STR(hf_status_name(HF_NOT_OWNER), "NOT_OWNER");
    CHECK_STR(hf_status_name(HF_INTERNAL), "INTERNAL");
}

TEST(status, texts_are_sentences_without_capital_or_full_stop)
{
    for (int s = HF_EMPTY; s <= HF_OK; s++) {
        const char *text = hf_status_text(s);
        CHECK(strlen(text) > 3);
        CHECK(text[0] >= 'a' && text[0] <= 'z');
        CHECK(text[strlen(text) - 1] != '.');
    }
    CHECK_STR(hf_status_text(HF_TAKEN), "held by another holder");
}

TEST(status, advice_tells_what_to_do)
{
    CHECK_INT(hf_status_advice(HF_OK), HF_ADVICE_NONE);
    CHECK_INT(hf_status_advice(HF_TAKEN), HF_ADVICE_RETRY);
    CHECK_INT(hf_status_advice(HF_LOST), HF_ADVICE_STOP);
    CHECK_INT(hf_status_advice(HF_INVALID), HF_ADVICE_FIX);
    CHECK_INT(hf_status_advice(HF_STALE), HF_ADVICE_STOP);
}

TEST(status, unknown_values_are_harmless)
{
    static const int values[] = {1, -19, -1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        CHECK_STR(hf_status_name(values[i]), "?");
        CHECK_STR(hf_status_text(values[i]), "unknown status");
        CHECK_INT(hf_status_advice(values[i]), HF_ADVICE_STOP);
    }
}

TEST(status, version_is_the_header_s)
{
    char text[32];
    CHECK_STR(hf_version(), HF_VERSION);
    CHECK_INT(hf_version_num(), HF_VERSION_NUM);
    snprintf(text, sizeof text, "%d.%d.%d", HF_VERSION_MAJOR, HF_VERSION_MINOR,
             HF_VERSION_PATCH);
    CHECK_STR(hf_version(), text);
}
