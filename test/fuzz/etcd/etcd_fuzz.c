/*
 * etcd_fuzz.c: any bytes as the answers of an etcd server, and as its keys.
 * The first byte chooses the call that is answered, the second how the bytes
 * are split.  One rule: however they are split, the same messages come out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend/etcd/call.h"
#include "backend/etcd/clock.h"
#include "backend/etcd/key.h"
#include "backend/sql/record.h"
#include "sys/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
    if (!ok) abort();
}

/* How many bytes of messages were taken, and how many messages are none. */
struct taken {
    size_t bytes, bad;
    int rc;
};

static void take(struct frames *f, enum call_kind kind, struct taken *t)
{
    const struct allocator *a = &hf__alloc_default;
    const unsigned char *at;
    size_t len;
    while (t->rc >= 0 && (t->rc = hf__etcd_frames_next(f, &at, &len)) == 1) {
        ProtobufCMessage *m = hf__etcd_message(a, kind, at, len);
        t->bytes += len + FRAME_HEAD;
        t->bad += m == NULL;
        hf__etcd_message_free(a, m);
    }
}

static struct taken feed(const uint8_t *data, size_t size, size_t step,
                         enum call_kind kind)
{
    struct taken t = {.rc = 0};
    struct frames f = {.done = 0};
    for (size_t at = 0; at < size; at += step) {
        size_t len = size - at < step ? size - at : step;
        check(hf__etcd_frames_feed(&f, &hf__alloc_default, data + at, len)
              == 0);
        take(&f, kind, &t);
    }
    hf__etcd_bytes_free(&f.in, &hf__alloc_default);
    return t;
}

static void keys(const char *text, size_t size)
{
    static struct key k;
    struct key_value v;
    char name[NAME_LEN_MAX + 1];
    size_t head = 0;
    size_t len = hf__etcd_key_name("p", text, size, name, &head);
    check(len <= NAME_LEN_MAX && head <= size);
    if (len > 0) {
        /* What is read as a lock's key is written the same. */
        hf__etcd_key_lock(&k, "p", name, len);
        check(k.len == head && !memcmp(k.at, text, head));
    }
    if (hf__etcd_value_read(text, size, &v))
        check(memchr(v.info, '\0', sizeof v.info) != NULL);
}

/* What is read as a cell or a clock can be used, and is written the same. */
static void cells(const uint8_t *data, size_t size)
{
    static struct key k;
    const char *text = (const char *)data;
    char name[NAME_LEN_MAX + 1];
    struct clock clock = {.lease = 0};
    struct cell_bytes bytes = {.alloc = &hf__alloc_default};
    struct sql_row row, back;
    int64_t now_us, then_us;
    size_t len = hf__etcd_key_cell_name("p", text, size, name);
    check(len <= NAME_LEN_MAX);
    if (len > 0) {
        hf__etcd_key_cell(&k, "p", name, len);
        check(k.len == size && !memcmp(k.at, text, size));
    }
    if (hf__etcd_clock_read(text, size, &clock)) check(clock.seconds > 0);
    if (hf__sql_record_read(data, size, &row, &now_us) != HF_OK) return;
    check(hf__sql_record_write(&row, now_us, &bytes) == HF_OK);
    check(hf__sql_record_read(bytes.at, bytes.len, &back, &then_us) == HF_OK);
    check(now_us == then_us && row.news == back.news
          && row.state_len == back.state_len
          && hf__rules_cell_is_same(&row.plain, &back.plain));
    hf__rules_cell_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 65536) return 0;
    enum call_kind kind = data[0] % CALL_KINDS;
    size_t step = 1 + data[1] % 64;
    struct taken once = feed(data + 2, size - 2, size, kind);
    struct taken split = feed(data + 2, size - 2, step, kind);
    check(once.bytes == split.bytes && once.bad == split.bad);
    keys((const char *)data + 2, size - 2);
    cells(data + 2, size - 2);
    return 0;
}
