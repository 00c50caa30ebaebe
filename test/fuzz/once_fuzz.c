/*
 * once_fuzz.c: any bytes as the record of a run.  One rule: what is believed
 * can be written and read again unchanged; the rest leaves nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/once/once.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct once_record r, back;
    struct hf_once_options o = HF_ONCE_OPTIONS_INIT;
    char text[ONCE_HEAD_MAX];
    if (hf__once_parse((const char *)data, size, &r) != 0) {
        check(r.fence == 0 && r.host[0] == '\0' && r.head_len == 0);
        return 0;
    }
    check(r.head_len > 0 && r.head_len <= size);
    size_t len = hf__once_format(&r, text);
    check(len < sizeof text);
    check(hf__once_parse(text, len, &back) == 0);
    check(hf__once_is_same(&r, &back) && back.is_ended == r.is_ended);
    check(back.status == r.status && back.ended_ms == r.ended_ms);
    o.period_ms = 60000;
    int outcome = hf__once_decide(&r, &o, INT64_C(1754000000000));
    check(outcome >= HF_ONCE_MINE && outcome <= HF_ONCE_DIED);
    return 0;
}
