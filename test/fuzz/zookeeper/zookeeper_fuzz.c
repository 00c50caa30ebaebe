/*
 * zookeeper_fuzz.c: frames, lists, results and names as a server may send them.
 *
 * Whatever the bytes are: nothing is read beyond them, a frame that was found
 * is found again when it comes byte by byte, and a node that is read as a name
 * is written so.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/zookeeper/cell.h"
#include "backend/zookeeper/look.h"
#include "backend/zookeeper/name.h"
#include "backend/zookeeper/queue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

static void name_try(const char *node, size_t len)
{
    char name[NAME_LEN_MAX + 1], again[NODE_NAME_MAX + 1];
    size_t n = hf__zookeeper_name_unescape(node, len, name);
    if (n == 0) return;
    check(n <= NAME_LEN_MAX);
    check(hf__zookeeper_name_escape(name, n, again) == len);
    check(!memcmp(again, node, len));
}

static void seq_try(const char *node, size_t len)
{
    int64_t seq;
    if (hf__zookeeper_name_seq(node, len, &seq) != 0) return;
    check(seq > -INT64_C(10000000000) && seq < INT64_C(10000000000));
}

static void list_try(struct jute_in in)
{
    struct queue_view v;
    struct jute_in from = in;
    hf__zookeeper_queue_read(&in, "_c_", 5, &v);
    check(v.is_bad || v.len == 0 || v.first || v.strange);
    if (v.before) check(v.before_len > 0 && v.before_seq <= 5);
    if (v.first) {
        seq_try(v.first, v.first_len);
        name_try(v.first, v.first_len);
    }
    check(in.left <= from.left);
}

static void multi_try(struct jute_in in)
{
    size_t left = in.left;
    int which = -1;
    int32_t err = hf__zookeeper_multi_read(&in, &which);
    check(in.left <= left);
    check((err != 0) == (which >= 0));
}

static void data_try(struct jute_in in)
{
    struct hf_info info = {.ttl_ms = 0};
    size_t len;
    const char *text = hf__zookeeper_in_text(&in, &len);
    if (in.is_bad) return;
    hf__zookeeper_node_tell(&info, "_c_a-lock-0000000001", text, len);
    check(memchr(info.owner, '\0', sizeof info.owner) != NULL);
    check(memchr(info.host, '\0', sizeof info.host) != NULL);
    check(memchr(info.label, '\0', sizeof info.label) != NULL);
    if (text) name_try(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that a read beyond its end is found. */
    char *bytes = malloc(size ? size : 1);
    size_t at = 0;
    if (!bytes) return 0;
    if (size > 0) memcpy(bytes, data, size);
    while (at < size) {
        ptrdiff_t len = hf__zookeeper_frame(bytes + at, size - at);
        if (len <= 0) break;
        for (ptrdiff_t n = 0; n < len && n < 64; n++)
            check(hf__zookeeper_frame(bytes + at, (size_t)n) <= 0);
        struct jute_in in = {.at = (const unsigned char *)bytes + at + 4,
                             .left = (size_t)len - 4};
        list_try(in);
        multi_try(in);
        data_try(in);
        at += (size_t)len;
    }
    free(bytes);
    return 0;
}
