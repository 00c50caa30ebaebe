/*
 * random.c: randomness.  One rule: an id is made of kernel randomness or not
 * at all; only jitter may come from the small generator.
 */
#include "sys/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* For kernels and sandboxes that refuse getrandom(2). */
static int urandom_read(unsigned char *buf, size_t len)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    while (len > 0) {
        ssize_t n = read(fd, buf, len);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO; /* a device that ends is none */
        if (n <= 0) break;
        buf += n;
        len -= (size_t)n;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return len == 0 ? 0 : -1;
}

int hf__random_bytes(void *buf, size_t len)
{
    unsigned char *p = buf;
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return urandom_read(p, len);
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int hf__random_uuid(char out[37])
{
    unsigned char b[16];
    if (hf__random_bytes(b, sizeof b)) return -1;
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4: random */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80); /* RFC 4122 variant */
    snprintf(out, 37,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
    return 0;
}
