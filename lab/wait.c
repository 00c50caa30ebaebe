/*
 * wait.c: see wait.h.  One rule: a signal does not shorten a wait.
 */
#include "lab/wait.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define LOOK_MS 2
#define LATER_LOOK_MS 10 /* looking costs the servers time, too */
#define SOON_MS 200

int64_t lab_now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void lab_pause_ms(int64_t ms)
{
    struct timespec ts = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    if (ms <= 0) return;
    while (nanosleep(&ts, &ts) != 0 && errno == EINTR) continue;
}

int lab_until(int (*cond)(void *), void *arg)
{
    int64_t begun_ms = lab_now_ms();
    while (!cond(arg)) {
        int64_t passed_ms = lab_now_ms() - begun_ms;
        if (passed_ms > LAB_PATIENCE_MS) return 0;
        lab_pause_ms(passed_ms < SOON_MS ? LOOK_MS : LATER_LOOK_MS);
    }
    return 1;
}

int lab_until_readable(int fd, int64_t timeout_ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    int64_t end_ms = lab_now_ms() + timeout_ms;
    for (;;) {
        int64_t left_ms = end_ms - lab_now_ms();
        int n = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
        if (n > 0) return 1;
        if (n == 0 && left_ms <= 0) return 0;
    }
}
