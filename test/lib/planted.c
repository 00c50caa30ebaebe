/*
 * planted.c: see planted.h.  One rule: it is planted before any client is
 * opened, and dug up after the last one is closed.
 */
#define HF_MUTATIONS 1
#include "lib/planted.h"

#include "test.h"

enum core_mutation hf__mutation;

static void planted_end(void *arg)
{
    (void)arg;
    hf__mutation = CORE_MUT_NONE;
}

void planted_begin(enum core_mutation which)
{
    test_cleanup(planted_end, NULL);
    hf__mutation = which;
}
