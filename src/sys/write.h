/*
 * write.h: writing to files.
 */
#ifndef HF_SYS_WRITE_H
#define HF_SYS_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Write all `len` bytes of `data` to `fd`, from the offset `at` on.  0, or -1
 * with errno, after which some of them may be there.  Beyond RLIMIT_FSIZE the
 * error is EFBIG and nothing is written: write(2) would raise SIGXFSZ, which
 * ends a program that does not expect it. */
int hf__write_at(int fd, const void *data, size_t len, off_t at);

#endif
