/*
 * record_fuzz.c: any bytes as a lock file's record.  One rule: what is believed
 * can be written and read again unchanged; the rest leaves nothing behind.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/file/name.h"
#include "backend/file/record_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

static void title_check(const char *title, size_t len)
{
    char name[TITLE_MAX], again[TITLE_MAX * 3 + 4], back[TITLE_MAX];
    size_t n = hf__file_title_decode(title, len, name, sizeof name);
    if (n == 0) return;
    size_t m = hf__file_title_encode(name, n, again, sizeof again);
    check(m > 0);
    check(hf__file_title_decode(again, m, back, sizeof back) == n);
    check(!memcmp(name, back, n));
}

static void record_check(const struct record *r)
{
    char text[RECORD_MAX];
    struct record back;
    title_check(r->title, r->title_len);
    if (r->title_len >= TITLE_MAX) return; /* never written by us */
    size_t len = hf__file_record_format(r, text);
    check(len <= sizeof text);
    check(hf__file_record_parse(text, len, &back) == RECORD_OK);
    check(back.counter == r->counter && back.fence == r->fence);
    check(back.ballot == r->ballot && back.count == r->count);
    check(back.pid == r->pid && back.since_us == r->since_us);
    check(back.deadline_us == r->deadline_us && back.attempt == r->attempt);
    check(back.mode == r->mode && back.title_len == r->title_len);
    check(strlen(back.owner) == strlen(r->owner));
}

static void bytes_parse(const char *bytes, size_t len)
{
    struct record r;
    if (hf__file_record_parse(bytes, len, &r) == RECORD_OK) {
        record_check(&r);
        return;
    }
    check(r.counter == 0 && r.attempt == 0 && r.owner[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_parse((const char *)data, size);
    /* Again with the right checksum, or nothing would get past it. */
    char *copy = malloc(size + RECORD_SIGN_SIZE);
    if (!copy) abort();
    if (size > 0) memcpy(copy, data, size);
    size_t len = hf__file_record_sign(copy, size, copy + size);
    check(len <= RECORD_SIGN_SIZE);
    bytes_parse(copy, size + len);
    free(copy);
    return 0;
}
