/*
 * marker_fuzz.c: any text as the marker of a quorum's member, and then the
 * questions of a client about it.  One rule: what is believed can be written
 * and read again unchanged, and no question makes a number of it overflow.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/boot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

static void again_check(const struct marker *m)
{
    char text[MARKER_TEXT_MAX];
    struct marker back;
    hf__marker_format(m, text);
    check(hf__marker_parse(text, &back) == 0);
    check(!strcmp(back.group, m->group) && !strcmp(back.identity, m->identity));
    check(back.settled_us == m->settled_us && back.lease_us == m->lease_us);
    check(back.is_durable == m->is_durable && back.is_synced == m->is_synced);
}

static void ask(const struct marker *m, unsigned flags, const char *identity)
{
    struct marker own = *m;
    struct request req = {.verb = VERB_BOOT,
                          .flags = flags,
                          .name = "g",
                          .name_len = 1,
                          .lease_us = 30 * US_PER_S,
                          .window_us = 33 * US_PER_S,
                          .info = "old"};
    struct boot_facts facts = {.identity = identity,
                               .now_us = INT64_C(1700000000000000)};
    struct boot out;
    const char *why = NULL;
    int status = hf__boot_decide(&own, &req, &facts, &out, &why);
    check(status == HF_OK || why != NULL);
    if (status == HF_OK) check(out.left_us >= 0 && out.lease_us >= 0);
    if (status == HF_OK && own.group[0]) again_check(&own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned flags[] = {0, REQ_BOOT_LOOK, REQ_BOOT_STEP,
                                     REQ_BOOT_JOIN, REQ_BOOT_UNSURE};
    char text[512];
    struct marker m;
    if (size >= sizeof text) return 0;
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    if (hf__marker_parse(text, &m) != 0) {
        check(m.group[0] == '\0' && m.settled_us == 0 && m.lease_us == 0);
        return 0;
    }
    again_check(&m);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        ask(&m, flags[i], m.identity);
        ask(&m, flags[i], "another");
        ask(&m, flags[i], "");
    }
    return 0;
}
