/*
 * frame.c: see frame.h.  One rule: a message that is longer than FRAME_LEN_MAX
 * is refused by its head, before memory is allocated for it.
 */
#include "backend/etcd/frame.h"

#include <string.h>

#define ROOM_MIN 512

char *hf__etcd_bytes_room(struct bytes *b, const struct allocator *a,
                          size_t len)
{
    if (b->room - b->len < len) {
        size_t room = b->room ? b->room : ROOM_MIN;
        while (room - b->len < len) room *= 2;
        char *at = hf__realloc(a, b->at, room);
        if (!at) return NULL;
        b->at = at;
        b->room = room;
    }
    return b->at + b->len;
}

int hf__etcd_bytes_add(struct bytes *b, const struct allocator *a,
                       const void *data, size_t len)
{
    if (len == 0) return 0;
    char *to = hf__etcd_bytes_room(b, a, len);
    if (!to) return -1;
    memcpy(to, data, len);
    b->len += len;
    return 0;
}

void hf__etcd_bytes_free(struct bytes *b, const struct allocator *a)
{
    hf__free(a, b->at);
    *b = (struct bytes){.at = NULL};
}

int hf__etcd_frames_feed(struct frames *f, const struct allocator *a,
                         const void *data, size_t len)
{
    if (f->done > 0) {
        f->in.len -= f->done;
        memmove(f->in.at, f->in.at + f->done, f->in.len);
        f->done = 0;
    }
    return hf__etcd_bytes_add(&f->in, a, data, len);
}

int hf__etcd_frames_next(struct frames *f, const unsigned char **out,
                         size_t *len)
{
    size_t left = f->in.len - f->done;
    if (left < FRAME_HEAD) return 0;
    const unsigned char *head = (const unsigned char *)f->in.at + f->done;
    size_t size = (size_t)head[1] << 24 | (size_t)head[2] << 16
                  | (size_t)head[3] << 8 | head[4];
    if (head[0] != 0 || size > FRAME_LEN_MAX) return -1;
    if (left - FRAME_HEAD < size) return 0;
    *out = head + FRAME_HEAD;
    *len = size;
    f->done += FRAME_HEAD + size;
    return 1;
}

void hf__etcd_frame_head(char head[FRAME_HEAD], size_t len)
{
    head[0] = 0;
    for (int i = 1; i < FRAME_HEAD; i++)
        head[i] = (char)(len >> 8 * (FRAME_HEAD - 1 - i) & 0xff);
}
