/*
 * value_fuzz.c: any bytes as the file of a value.  One rule: what is believed
 * can be written and read again unchanged; the rest leaves nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/file/value_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

static void bytes_parse(const char *bytes, size_t size)
{
    static char text[VALUE_FILE_MAX];
    struct file_value v, back;
    if (hf__file_value_parse(bytes, size, &v) != 0) {
        check(v.version == 0 && v.data == NULL && v.owner[0] == '\0');
        return;
    }
    check(v.data >= bytes && v.data + v.len < bytes + size);
    if (memchr(v.title, '\0', v.title_len)) return; /* never written by us */
    size_t len = hf__file_value_format(&v, text);
    check(len <= sizeof text);
    check(hf__file_value_parse(text, len, &back) == 0);
    check(back.version == v.version && back.expires_us == v.expires_us);
    check(back.attempt == v.attempt && !strcmp(back.owner, v.owner));
    check(back.len == v.len && !memcmp(back.data, v.data, v.len));
    check(back.title_len == v.title_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_parse((const char *)data, size);
    /* Again with the right checksum, or nothing would get past it. */
    char *copy = malloc(size + RECORD_SIGN_SIZE);
    if (!copy) abort();
    if (size > 0) memcpy(copy, data, size);
    size_t len = hf__file_record_sign(copy, size, copy + size);
    bytes_parse(copy, size + len);
    free(copy);
    return 0;
}
