/*
 * redis_record_fuzz.c: any bytes where a Redis keeps the facts of a holder, of
 * our layout or of SET NX PX.  One rule: what is told of it ends within its
 * room.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/redis/kind/info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hf_info info = HF_INFO_INIT;
    char *text = malloc(size + 1);
    check(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    const struct resp v = {.type = RESP_STRING, .text = text, .len = size};
    if (hf__redis_info_holder(&v, &info) == 0) {
        check(info.locked == 1);
        check(memchr(info.owner, '\0', sizeof info.owner) != NULL);
        check(memchr(info.host, '\0', sizeof info.host) != NULL);
        check(memchr(info.label, '\0', sizeof info.label) != NULL);
    }
    free(text);
    return 0;
}
