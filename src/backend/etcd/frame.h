/*
 * frame.h: messages in the bytes of a gRPC stream: each has one byte (0: not
 * compressed) and four bytes of length before it.
 */
#ifndef HF_ETCD_FRAME_H
#define HF_ETCD_FRAME_H

#include <stddef.h>

#include "sys/alloc.h"

#define FRAME_HEAD 5
#define FRAME_LEN_MAX (16 * 1024 * 1024)

/* A buffer that grows.  All zero is an empty one. */
struct bytes {
    char *at;
    size_t len;
    size_t room;
};

/* Room for `len` more bytes at the end; NULL without memory. */
char *hf__etcd_bytes_room(struct bytes *b, const struct allocator *a,
                          size_t len);
/* 0, or -1: no memory. */
int hf__etcd_bytes_add(struct bytes *b, const struct allocator *a,
                       const void *data, size_t len);
void hf__etcd_bytes_free(struct bytes *b, const struct allocator *a);

struct frames {
    struct bytes in;
    size_t done; /* bytes of `in` that have been read */
};

/* 0, or -1: no memory. */
int hf__etcd_frames_feed(struct frames *f, const struct allocator *a,
                         const void *data, size_t len);

/* 1 and the next whole message, valid until the next feed; 0 if there is none
 * yet; -1 if it is not gRPC, is compressed, or is too long. */
int hf__etcd_frames_next(struct frames *f, const unsigned char **out,
                         size_t *len);

/* Write the head of a message of `len` bytes. */
void hf__etcd_frame_head(char head[FRAME_HEAD], size_t len);

#endif
