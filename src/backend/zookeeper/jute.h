/*
 * jute.h: the bytes of ZooKeeper's protocol: numbers, texts and frames.
 *
 * Big endian; a text is its length and its bytes, and a length of -1 is no
 * text; a frame is its length and its content.  Pure: no socket, no clock.
 */
#ifndef HF_ZOOKEEPER_JUTE_H
#define HF_ZOOKEEPER_JUTE_H

#include <stddef.h>
#include <stdint.h>

#include "sys/alloc.h"

#define JUTE_FRAME_MAX (16 * 1024 * 1024) /* a longer frame is an error */

/* A buffer of bytes to send, which grows. */
struct jute_out {
    const struct allocator *alloc;
    char *data;
    size_t len, size;
    size_t frame;  /* where the open frame begins */
    int is_failed; /* memory was missing: the content is incomplete */
};

void hf__zookeeper_out_int(struct jute_out *o, int32_t n);
void hf__zookeeper_out_long(struct jute_out *o, int64_t n);
void hf__zookeeper_out_bool(struct jute_out *o, int is_true);
void hf__zookeeper_out_bytes(struct jute_out *o, const void *data, size_t len);
void hf__zookeeper_out_text(struct jute_out *o, const char *text);
/* A frame is what is put between these two calls.  end: 0, or -1 without
 * memory; then the frame is removed. */
void hf__zookeeper_out_begin(struct jute_out *o);
int hf__zookeeper_out_end(struct jute_out *o);
void hf__zookeeper_out_free(struct jute_out *o);

/* The unread rest of a frame.  Reading past its end sets is_bad and gives 0. */
struct jute_in {
    const unsigned char *at;
    size_t left;
    int is_bad;
};

int32_t hf__zookeeper_in_int(struct jute_in *in);
int64_t hf__zookeeper_in_long(struct jute_in *in);
int hf__zookeeper_in_bool(struct jute_in *in);
/* A text or bytes; borrowed, without a NUL.  NULL and 0 if there is none. */
const char *hf__zookeeper_in_text(struct jute_in *in, size_t *len);

/* What the server tells about a node. */
struct jute_stat {
    int64_t czxid, mzxid, ctime_ms, mtime_ms;
    int32_t version, cversion;
    int64_t owner; /* the session that owns it; 0 if not ephemeral */
    int32_t data_len;
    int32_t children;
    int64_t pzxid;
};
void hf__zookeeper_in_stat(struct jute_in *in, struct jute_stat *stat);

/* The length of the frame at the beginning of `len` bytes, head included; 0 if
 * it is not complete, -1 if its length is out of range. */
ptrdiff_t hf__zookeeper_frame(const char *data, size_t len);

#endif
