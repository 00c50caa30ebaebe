/*
 * cell_fuzz.c: any bytes as the state in a row.  One rule: what is believed can
 * be used, saved and loaded again; the rest leaves nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rules/cell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW (INT64_C(1700000000) * US_PER_S)

static void check(int ok)
{
    if (!ok) abort();
}

/* Each kind looks at what was loaded, and changes it. */
static void requests_do(struct store *s)
{
    static const enum verb verbs[] = {VERB_INSPECT, VERB_PROPOSE, VERB_RENEW,
                                      VERB_RELEASE, VERB_BREAK};
    for (int kind = 0; kind < KINDS_LEN; kind++)
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
            struct request req = {.verb = verbs[i],
                                  .kind = (enum lock_kind)kind,
                                  .flags = REQ_SERVER_FENCE | REQ_QUEUE,
                                  .name = "n",
                                  .name_len = 1,
                                  .owner = "a:1",
                                  .attempt = 1,
                                  .ballot = NOW,
                                  .count = 1,
                                  .permits = 2,
                                  .lease_us = US_PER_S,
                                  .window_us = BALLOT_WINDOW_US};
            struct reply rep;
            hf__rules_store_apply(s, NOW + kind, &req, &rep);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cell_plain plain = {0}, back;
    struct cell_bytes once = {.alloc = &hf__alloc_default}, twice = once;
    struct store *s = hf__rules_store_open(&hf__alloc_default);
    check(s != NULL);
    int status = hf__rules_cell_load(s, "n", 1, &plain, data, size);
    check(status == HF_OK || status == HF_CONFLICT);
    if (status == HF_OK) {
        check(hf__rules_cell_save(s, NOW, "n", 1, &back, &once) == HF_OK);
        check(hf__rules_cell_is_same(&plain, &back));
        requests_do(s);
        check(hf__rules_cell_load(s, "n", 1, &back, once.at, once.len)
              == HF_OK);
        check(hf__rules_cell_save(s, NOW, "n", 1, &back, &twice) == HF_OK);
        check(once.len == twice.len);
    }
    hf__rules_cell_free(&once);
    hf__rules_cell_free(&twice);
    hf__rules_store_close(s);
    return 0;
}
