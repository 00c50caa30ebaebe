/*
 * name.c: from a lock's name to a file's name.  One rule: two names never
 * share a file name unless their 128-bit hashes collide, and then the record,
 * which holds the whole name, tells.
 */
#include <stdint.h>
#include <string.h>

#include "backend/file/name.h"

static const char hex_digits[] = "0123456789ABCDEF";

/* One step of FNV-1a with 128 bits: the prime is 2^88 + 0x13b. */
static void fnv128_step(uint64_t *high, uint64_t *low, unsigned char byte)
{
    uint64_t l = *low ^ byte;
    uint64_t half = (l & 0xffffffffu) * 0x13b;
    uint64_t rest = (l >> 32) * 0x13b + (half >> 32);
    *high = *high * 0x13b + (rest >> 32) + (l << 24);
    *low = (rest << 32) | (half & 0xffffffffu);
}

static void hash128_hex(const char *bytes, size_t len, char out[33])
{
    uint64_t high = UINT64_C(0x6c62272e07bb0142);
    uint64_t low = UINT64_C(0x62b821756295c58d);
    for (size_t i = 0; i < len; i++)
        fnv128_step(&high, &low, (unsigned char)bytes[i]);
    for (int i = 0; i < 16; i++) {
        out[i] = hex_digits[(high >> (60 - 4 * i)) & 15];
        out[16 + i] = hex_digits[(low >> (60 - 4 * i)) & 15];
    }
    out[32] = '\0';
}

static int is_kept(unsigned char b, size_t at)
{
    if (b == '.') return at > 0;
    return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z')
           || (b >= '0' && b <= '9') || b == '_' || b == '-';
}

void hf__file_name(const char *name, size_t len, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n <= FILE_NAME_KEEP; i++) {
        unsigned char b = (unsigned char)name[i];
        if (is_kept(b, i)) {
            out[n++] = (char)b;
        } else {
            out[n++] = '%';
            out[n++] = hex_digits[b >> 4];
            out[n++] = hex_digits[b & 15];
        }
    }
    if (n > FILE_NAME_KEEP) {
        /* '~' is never kept, so no short name looks like this. */
        out[FILE_NAME_HEAD] = '~';
        hash128_hex(name, len, out + FILE_NAME_HEAD + 1);
        n = FILE_NAME_HEAD + 33;
    }
    memcpy(out + n, FILE_SUFFIX, sizeof FILE_SUFFIX);
}

void hf__file_name_path(const char *path, size_t len, char *out)
{
    memcpy(out, "path~", 5);
    hash128_hex(path, len, out + 5);
    memcpy(out + 37, FILE_SUFFIX, sizeof FILE_SUFFIX);
}

size_t hf__file_title_encode(const char *name, size_t len, char *out,
                             size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char b = (unsigned char)name[i];
        if (n + 4 > size) return 0;
        if (b >= 0x20 && b != 0x7f && b != '%') {
            out[n++] = (char)b;
        } else {
            out[n++] = '%';
            out[n++] = hex_digits[b >> 4];
            out[n++] = hex_digits[b & 15];
        }
    }
    out[n] = '\0';
    return n;
}

static int hex_value(char c)
{
    const char *at = c ? strchr(hex_digits, c) : NULL;
    return at ? (int)(at - hex_digits) : -1;
}

size_t hf__file_title_decode(const char *title, size_t len, char *out,
                             size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (n + 1 >= size) return 0;
        if (title[i] != '%') {
            out[n++] = title[i];
            continue;
        }
        if (i + 2 >= len) return 0;
        int high = hex_value(title[i + 1]), low = hex_value(title[i + 2]);
        if (high < 0 || low < 0) return 0;
        out[n++] = (char)(high * 16 + low);
        i += 2;
    }
    if (size > 0) out[n] = '\0';
    return n;
}
