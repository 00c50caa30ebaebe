/*
 * refused.c: see refused.h.  One rule: the status and the words are compared.
 */
#include "lib/refused.h"

#include <string.h>

#include "lib/rig.h"

void url_is_refused(const char *url, int status, const char *words)
{
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = RIG_WAIT_MS;
    o.patience_ms = status == HF_UNAVAILABLE ? 5000 : RIG_WAIT_MS;
    hf_lock *l = rig_lock(rig_client_at(url, &o), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), status);
    if (!strstr(err.text, words))
        TEST_FAIL("%s: \"%s\" is not in: %s", url, words, err.text);
}

void url_is_bad(const char *url, const char *words)
{
    struct hf_error err = {0};
    hf_client *c = NULL;
    int status = hf_client_open(url, NULL, &c, &err);
    if (status == HF_UNSUPPORTED) test_skip("%s", err.text);
    CHECK_INT(status, HF_INVALID);
    if (!strstr(err.text, words))
        TEST_FAIL("%s: \"%s\" is not in: %s", url, words, err.text);
}
