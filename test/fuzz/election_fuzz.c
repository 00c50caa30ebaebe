/*
 * election_fuzz.c: any bytes as what a leader has published.  One rule: what is
 * believed can be written and read again unchanged; the rest leaves nothing
 * behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/election/election.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct election_record r, back;
    char text[ELECTION_HEAD_MAX];
    if (hf__election_parse((const char *)data, size, &r) != 0) {
        check(r.fence == 0 && r.owner[0] == '\0' && r.head_len == 0);
        return 0;
    }
    check(r.head_len > 0 && r.head_len <= size);
    size_t len = hf__election_format(&r, text);
    check(len < sizeof text);
    check(hf__election_parse(text, len, &back) == 0);
    check(back.fence == r.fence && !strcmp(back.owner, r.owner));
    check(back.head_len == len);
    return 0;
}
