/*
 * clock_shim.c: a library to be preloaded (LD_PRELOAD) into a real server, so
 * that its wall clock can be made to jump: see clock.h.
 *
 * An int64 of nanoseconds, in the file that $HF_CLOCK_FILE names, is added to
 * the wall clock; the file is mapped, so that it may change at any time.
 * $HF_CLOCK_PPM is the number of parts per million by which the wall clock runs
 * fast besides, or slow if it is negative.  One rule: clocks that only count
 * (CLOCK_MONOTONIC and the like) are left alone.
 *
 * Names are given by asm labels: the C library declares its own with other
 * attributes.  The true time comes from the system call itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
#define NS_PER_S INT64_C(1000000000)
#define PPM INT64_C(1000000)

SHOWN int shim_clock(clockid_t id,
                     struct timespec *out) __asm__("clock_gettime");
SHOWN int shim_day(struct timeval *out, void *zone) __asm__("gettimeofday");
SHOWN time_t shim_seconds(time_t *out) __asm__("time");

static _Atomic int64_t *offset_ns;
static int64_t ppm, start_ns;

__attribute__((constructor)) static void rate_read(void)
{
    struct timespec now;
    const char *text = getenv("HF_CLOCK_PPM");
    if (!text || syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0) return;
    start_ns = (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
    ppm = strtoll(text, NULL, 10);
}

__attribute__((constructor)) static void offset_map(void)
{
    const char *path = getenv("HF_CLOCK_FILE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *offset_ns, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED) offset_ns = at;
}

static int is_wall(clockid_t id)
{
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE;
}

/* Exact to the nanosecond, or a slow clock would go back now and then. */
static int64_t skew_ns(int64_t passed_ns)
{
    return passed_ns / PPM * ppm + passed_ns % PPM * ppm / PPM;
}

int shim_clock(clockid_t id, struct timespec *out)
{
    if (syscall(SYS_clock_gettime, id, out) != 0) return -1;
    if (!is_wall(id) || (!offset_ns && !ppm)) return 0;
    int64_t ns = (int64_t)out->tv_sec * NS_PER_S + out->tv_nsec;
    ns += skew_ns(ns - start_ns);
    if (offset_ns) ns += atomic_load(offset_ns);
    out->tv_sec = (time_t)(ns / NS_PER_S);
    out->tv_nsec = (long)(ns % NS_PER_S);
    return 0;
}

int shim_day(struct timeval *out, void *zone)
{
    struct timespec ts;
    (void)zone;
    if (shim_clock(CLOCK_REALTIME, &ts) != 0) return -1;
    out->tv_sec = ts.tv_sec;
    out->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

time_t shim_seconds(time_t *out)
{
    struct timespec ts;
    if (shim_clock(CLOCK_REALTIME, &ts) != 0) return (time_t)-1;
    if (out) *out = ts.tv_sec;
    return ts.tv_sec;
}
