/*
 * zookeeper_age.c: see zookeeper_age.h.  One rule: a snapshot that is not of
 * the expected shape is left as it is.
 *
 * A node in a snapshot is its path, its data, the number of its ACL, and then
 * czxid, mzxid, ctime, mtime (8 bytes each), version and cversion (4 each).
 * The sum (Adler-32) of all bytes before it stands in each seal.
 */
#include "lab/zookeeper_age.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/dbuser.h"
#include "lab/own.h"

#define SEAL_LEN 13 /* the sum in 8 bytes, and the text "/" */
#define STAT_VERSION 40
#define STAT_CVERSION 44
#define ADLER 65521u

struct bytes {
    unsigned char *at;
    size_t len;
};

static uint32_t number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8
           | at[3];
}

static void number_put(unsigned char *at, uint32_t n)
{
    for (int i = 3; i >= 0; i--, n >>= 8) at[i] = (unsigned char)(n & 0xff);
}

/* ---- sums --------------------------------------------------------------- */

struct sum {
    uint32_t low, high;
};

static void sum_add(struct sum *s, unsigned char byte)
{
    s->low = (s->low + byte) % ADLER;
    s->high = (s->high + s->low) % ADLER;
}

static uint32_t sum_of(const struct sum *s)
{
    return s->high << 16 | s->low;
}

static int is_seal(const unsigned char *at, const struct sum *s)
{
    static const unsigned char tail[] = {0, 0, 0, 1, '/'};
    return number_at(at) == 0 && number_at(at + 4) == sum_of(s)
           && !memcmp(at + 8, tail, sizeof tail);
}

/* How many seals were set anew. */
static int seals_set(const struct bytes *old, struct bytes *changed)
{
    struct sum was = {.low = 1}, is = {.low = 1};
    int seals = 0;
    for (size_t i = 0; i < old->len; i++) {
        if (i + SEAL_LEN <= old->len && is_seal(old->at + i, &was)) {
            number_put(changed->at + i + 4, sum_of(&is));
            seals++;
        }
        sum_add(&was, old->at[i]);
        sum_add(&is, changed->at[i]);
    }
    return seals;
}

/* ---- the node ----------------------------------------------------------- */

/* Where the number is; NULL: there is no such node. */
static unsigned char *number_find(const struct bytes *b, const char *node,
                                  enum lab_age which)
{
    size_t len = strlen(node);
    size_t behind = which == LAB_AGE_DATA ? STAT_VERSION : STAT_CVERSION;
    for (size_t i = 0; i + 8 + len <= b->len; i++) {
        if (number_at(b->at + i) != len || memcmp(b->at + i + 4, node, len))
            continue;
        size_t at = i + 4 + len;
        uint32_t data = number_at(b->at + at);
        if (data == UINT32_MAX) data = 0; /* none */
        at += 4 + (size_t)data + behind;
        return at + 4 <= b->len ? b->at + at : NULL;
    }
    return NULL;
}

/* ---- the file ----------------------------------------------------------- */

static int newest_find(const struct lab_zookeeper *z, char *path, size_t size)
{
    char folder[LAB_DBUSER_PATH_MAX];
    unsigned long long best = 0;
    snprintf(folder, sizeof folder, "%s/data/version-2", z->dir);
    DIR *dir = opendir(folder);
    if (!dir) return lab__fail("%s: %s", folder, strerror(errno));
    path[0] = '\0';
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        if (strncmp(d->d_name, "snapshot.", 9) != 0) continue;
        unsigned long long n = strtoull(d->d_name + 9, NULL, 16);
        if (path[0] && n < best) continue;
        best = n;
        snprintf(path, size, "%s/%.64s", folder, d->d_name);
    }
    closedir(dir);
    return path[0] ? LAB_OK : lab__fail("%s: no snapshot", folder);
}

static int file_read(const char *path, struct bytes *out)
{
    FILE *in = fopen(path, "rbe");
    if (!in) return lab__fail("%s: %s", path, strerror(errno));
    fseek(in, 0, SEEK_END);
    long len = ftell(in);
    rewind(in);
    out->len = len > 0 ? (size_t)len : 0;
    out->at = malloc(out->len + 1);
    int is_read = out->at && fread(out->at, 1, out->len, in) == out->len;
    fclose(in);
    return is_read ? LAB_OK : lab__fail("%s: cannot be read", path);
}

static int file_write(const char *path, const struct bytes *b)
{
    FILE *out = fopen(path, "wbe");
    if (!out) return lab__fail("%s: %s", path, strerror(errno));
    int is_written = fwrite(b->at, 1, b->len, out) == b->len;
    if (fclose(out) == 0 && is_written) return LAB_OK;
    return lab__fail("%s: cannot be written", path);
}

int lab_zookeeper_age(const struct lab_zookeeper *z, const char *node,
                      enum lab_age which, int32_t number, int32_t *was)
{
    char path[LAB_DBUSER_PATH_MAX + 96];
    struct bytes old = {0}, changed = {0};
    if (z->pid > 0) return lab__fail("%s: still runs", z->url);
    int status = newest_find(z, path, sizeof path);
    if (status == LAB_OK) status = file_read(path, &old);
    if (status == LAB_OK) status = file_read(path, &changed);
    unsigned char *at =
        status == LAB_OK ? number_find(&changed, node, which) : NULL;
    if (at) *was = (int32_t)number_at(at);
    if (at) number_put(at, (uint32_t)number);
    if (status == LAB_OK && !at)
        status = lab__fail("%s: no node %s", path, node);
    if (status == LAB_OK && seals_set(&old, &changed) == 0)
        status = lab__fail("%s: no seal", path);
    if (status == LAB_OK) status = file_write(path, &changed);
    free(old.at);
    free(changed.at);
    return status;
}
