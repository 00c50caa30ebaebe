/*
 * guard_fuzz.c: any bytes in the file that keeps the token of a guarded file.
 * One rule: a token is believed, or the file is refused; a lower token is let
 * in by neither.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/holdfast-fuzz-XXXXXX";
static char path[64], mark[80];

static void check(int ok)
{
    if (!ok) abort();
}

static void directory_remove(void)
{
    unlink(mark);
    rmdir(dir);
}

static void directory_make(void)
{
    check(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/f", dir);
    snprintf(mark, sizeof mark, "%s.guard", path);
    atexit(directory_remove);
}

static void mark_write(const uint8_t *data, size_t size)
{
    int fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(fd >= 0);
    check(size == 0 || write(fd, data, size) == (ssize_t)size);
    check(close(fd) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hf_error err;
    uint64_t token = 77;
    if (!path[0]) directory_make();
    mark_write(data, size);
    int status = hf_guard_file_token(path, &token, &err);
    if (status != HF_OK) {
        check(token == 77 && memchr(err.text, '\0', sizeof err.text) != NULL);
        check(hf_guard_file_touch(path, 1, &err) == status);
        return 0;
    }
    check(token <= INT64_MAX);
    if (token > 1) check(hf_guard_file_touch(path, 1, &err) == HF_STALE);
    return 0;
}
