/*
 * sized.c: see sized.h.
 */
#include "api/client/sized.h"

#include <string.h>

#include "base/error.h"

int hf__sized_check(uint32_t size, uint32_t first, struct hf_error *err)
{
    if (size >= first && size <= SIZED_MAX) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "struct_size is %u: not set: initialise the struct "
                         "with its HF_..._INIT macro",
                         size);
}

static int is_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i]) return 0;
    return 1;
}

int hf__sized_read(void *to, uint32_t to_size, uint32_t first, const void *from,
                   uint32_t from_size, struct hf_error *err)
{
    uint32_t both = from_size < to_size ? from_size : to_size;
    int status = hf__sized_check(from_size, first, err);
    if (status != HF_OK) return status;
    if (!is_zero((const char *)from + both, from_size - both))
        return hf__error_set(err, HF_INVALID,
                             "a field is set that version %s of the library "
                             "does not have",
                             hf_version());
    memset(to, 0, to_size);
    memcpy(to, from, both);
    memcpy(to, &to_size, sizeof to_size);
    return HF_OK;
}

void hf__sized_write(void *out, const void *found, uint32_t size)
{
    uint32_t given;
    memcpy(&given, out, sizeof given);
    uint32_t both = given < size ? given : size;
    memset(out, 0, given);
    memcpy(out, found, both);
    memcpy(out, &both, sizeof both);
}
