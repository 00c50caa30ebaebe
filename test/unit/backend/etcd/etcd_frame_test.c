/*
 * etcd_frame_test.c: messages in the bytes of a stream, and names of keys.  One
 * rule: wherever the bytes are split, the same messages come out.
 */
#include <string.h>

#include "backend/etcd/call.h"
#include "backend/etcd/key.h"
#include "sys/alloc.h"
#include "test.h"

#define MESSAGES 3

/* Three answers, as a server sends them.  Returns the number of bytes. */
static size_t stream_make(char *out, size_t size)
{
    size_t len = 0;
    for (int i = 0; i < MESSAGES; i++) {
        Pb__KeyValue kv = PB__KEY_VALUE__INIT, *kvs[] = {&kv};
        Pb__Header header = PB__HEADER__INIT;
        Pb__RangeResponse range = PB__RANGE_RESPONSE__INIT;
        header.revision = 1000 + i;
        header.raft_term = 7;
        kv.key = (ProtobufCBinaryData){3, (uint8_t *)(uintptr_t) "a/b"};
        kv.create_revision = 500 + i;
        range.header = &header;
        range.n_kvs = 1;
        range.kvs = kvs;
        size_t n = protobuf_c_message_get_packed_size(&range.base);
        CHECK(len + FRAME_HEAD + n <= size);
        hf__etcd_frame_head(out + len, n);
        protobuf_c_message_pack(&range.base, (uint8_t *)out + len + FRAME_HEAD);
        len += FRAME_HEAD + n;
    }
    return len;
}

/* Take what is whole; how many that were. */
static int messages_take(struct frames *f, int from)
{
    const struct allocator *a = &hf__alloc_default;
    const unsigned char *at;
    size_t len;
    int n = from;
    while (hf__etcd_frames_next(f, &at, &len) == 1) {
        ProtobufCMessage *m = hf__etcd_message(a, CALL_LIST, at, len);
        CHECK(m != NULL);
        const Pb__RangeResponse *range = (const Pb__RangeResponse *)m;
        CHECK(range->header && range->header->revision == 1000 + n);
        CHECK_INT(range->n_kvs, 1);
        CHECK_INT(range->kvs[0]->create_revision, 500 + n);
        hf__etcd_message_free(a, m);
        n++;
    }
    return n;
}

TEST(etcd_frame, comes_out_the_same_wherever_it_is_split)
{
    char bytes[512];
    size_t len = stream_make(bytes, sizeof bytes);
    for (size_t at = 0; at <= len; at++) {
        struct frames f = {.done = 0};
        CHECK_INT(hf__etcd_frames_feed(&f, &hf__alloc_default, bytes, at), 0);
        int n = messages_take(&f, 0);
        CHECK_INT(
            hf__etcd_frames_feed(&f, &hf__alloc_default, bytes + at, len - at),
            0);
        CHECK_INT(messages_take(&f, n), MESSAGES);
        hf__etcd_bytes_free(&f.in, &hf__alloc_default);
    }
}

TEST(etcd_frame, comes_out_the_same_byte_by_byte)
{
    char bytes[512];
    struct frames f = {.done = 0};
    size_t len = stream_make(bytes, sizeof bytes);
    int n = 0;
    for (size_t at = 0; at < len; at++) {
        hf__etcd_frames_feed(&f, &hf__alloc_default, bytes + at, 1);
        n = messages_take(&f, n);
    }
    CHECK_INT(n, MESSAGES);
    hf__etcd_bytes_free(&f.in, &hf__alloc_default);
}

TEST(etcd_frame, that_is_compressed_or_too_long_is_refused)
{
    static const char compressed[] = {1, 0, 0, 0, 1, 0};
    static const char endless[] = {0, 127, 0, 0, 0, 0};
    const unsigned char *at;
    size_t len;
    struct frames f = {.done = 0}, g = {.done = 0};
    hf__etcd_frames_feed(&f, &hf__alloc_default, compressed, 6);
    CHECK_INT(hf__etcd_frames_next(&f, &at, &len), -1);
    hf__etcd_frames_feed(&g, &hf__alloc_default, endless, 6);
    CHECK_INT(hf__etcd_frames_next(&g, &at, &len), -1);
    hf__etcd_bytes_free(&f.in, &hf__alloc_default);
    hf__etcd_bytes_free(&g.in, &hf__alloc_default);
}

static void name_survives(const char *name)
{
    static struct key k;
    char found[NAME_LEN_MAX + 1];
    size_t head = 0, len = strlen(name);
    hf__etcd_key_own(&k, "p/q", name, len, 0x123, 9);
    CHECK_INT(hf__etcd_key_name("p/q", k.at, k.len, found, &head), len);
    CHECK_STR(found, name);
    CHECK(k.at[head - 1] == '/' && head < k.len);
    CHECK(memchr(k.at + 4, '/', head - 5) == NULL);
}

TEST(etcd_key, has_a_name_that_no_other_begins_with)
{
    name_survives("a");
    name_survives("a/b");
    name_survives("%2F");
    name_survives("/");
    name_survives("100%/\xff\x01");
}

TEST(etcd_key, of_another_shape_is_no_locks)
{
    char name[NAME_LEN_MAX + 1];
    size_t head;
    CHECK_INT(hf__etcd_key_name("p", "p", 1, name, &head), 0);
    CHECK_INT(hf__etcd_key_name("p", "p/a", 3, name, &head), 0);
    CHECK_INT(hf__etcd_key_name("p", "p//gen/1", 8, name, &head), 0);
    CHECK_INT(hf__etcd_key_name("p", "p/%2/x", 6, name, &head), 0);
    CHECK_INT(hf__etcd_key_name("p", "q/a/x", 5, name, &head), 0);
}

TEST(etcd_key, tells_its_holder)
{
    struct key_value v = {.owner = "u:1",
                          .attempt = 5,
                          .since_us = 6,
                          .lease_us = 7,
                          .count = 2,
                          .info = "12 host a label"};
    struct key_value out;
    char text[KEY_VALUE_MAX];
    size_t len = hf__etcd_value_write(&v, text);
    CHECK_INT(hf__etcd_value_read(text, len, &out), 1);
    CHECK_STR(out.owner, "u:1");
    CHECK_INT(out.attempt, 5);
    CHECK_INT(out.count, 2);
    CHECK_STR(out.info, "12 host a label");
    CHECK_INT(hf__etcd_value_read(text, len - len / 2, &out), 0);
    CHECK_INT(hf__etcd_value_read("", 0, &out), 0);
    CHECK_INT(hf__etcd_value_read("holdfast", 8, &out), 0);
}
