/*
 * clock.c: see clock.h.  One rule: the offset is in a file, so that it stays
 * while its server is restarted.
 */
#include "lab/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/own.h"

#define NS_PER_MS INT64_C(1000000)

static void clock_stop(void *arg)
{
    lab_clock_stop(arg);
}

void lab_clock_stop(struct lab_clock *c)
{
    lab__life_end(clock_stop, c);
    if (c->offset_ns) munmap((void *)c->offset_ns, sizeof *c->offset_ns);
    c->offset_ns = NULL;
    if (c->path[0]) unlink(c->path);
    c->path[0] = 0;
}

static int offset_map(struct lab_clock *c, int fd)
{
    if (ftruncate(fd, sizeof *c->offset_ns) != 0) return -1;
    void *at = mmap(NULL, sizeof *c->offset_ns, PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return -1;
    c->offset_ns = at;
    return 0;
}

static int file_make(struct lab_clock *c)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(c->path, sizeof c->path, "%s/hf-clock-XXXXXX", tmp ? tmp : "/tmp");
    int fd = mkostemp(c->path, O_CLOEXEC);
    if (fd < 0) {
        lab__fail("%s: cannot be made: %s", c->path, strerror(errno));
        c->path[0] = 0;
        return LAB_FAILED;
    }
    int mapped = offset_map(c, fd);
    int why = errno;
    close(fd);
    if (mapped == 0) return LAB_OK;
    return lab__fail("%s: cannot be mapped: %s", c->path, strerror(why));
}

int lab_clock_start(struct lab_clock *c, const char *shim)
{
    memset(c, 0, sizeof *c);
    if (access(shim, R_OK) != 0)
        return lab__lack("%s: is not there: %s", shim, strerror(errno));
    int status = file_make(c);
    if (status == LAB_OK) status = lab__life_begin(clock_stop, c);
    if (status != LAB_OK) {
        lab_clock_stop(c);
        return status;
    }
    snprintf(c->file_env, sizeof c->file_env, "HF_CLOCK_FILE=%s", c->path);
    snprintf(c->preload_env, sizeof c->preload_env, "LD_PRELOAD=%s", shim);
    c->env[0] = c->file_env;
    c->env[1] = c->preload_env;
    return LAB_OK;
}

void lab_clock_jump(struct lab_clock *c, int64_t ms)
{
    atomic_fetch_add(c->offset_ns, ms * NS_PER_MS);
}
