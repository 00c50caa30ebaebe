/*
 * stress/stress.c: the block of memory that all processes of stress share.
 */
#include "stress/stress.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

static size_t stress_size(unsigned locks_len)
{
    return sizeof(struct stress) + locks_len * sizeof(struct stress_lock);
}

/* Robust: a worker that is killed must not stop the others. */
static int mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    if (pthread_mutexattr_init(&attr) != 0) return -1;
    int rc = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (rc == 0) rc = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (rc == 0) rc = pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    return rc == 0 ? 0 : -1;
}

void stress_mutex_lock(pthread_mutex_t *mutex)
{
    if (pthread_mutex_lock(mutex) == EOWNERDEAD)
        (void)pthread_mutex_consistent(mutex);
}

struct stress *stress_map(unsigned locks_len, const char *prefix)
{
    struct stress *s =
        mmap(NULL, stress_size(locks_len), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED) return NULL;
    s->locks_len = locks_len;
    int failed = mutex_init(&s->mutex);
    for (unsigned i = 0; i < locks_len; i++) {
        struct stress_lock *l = &s->locks[i];
        failed |= mutex_init(&l->mutex);
        snprintf(l->name, sizeof(l->name), "%.*s-%u", HF_NAME_MAX - 4, prefix,
                 i);
        text_escape(l->name, l->shown, sizeof(l->shown));
    }
    if (!failed) return s;
    stress_unmap(s);
    return NULL;
}

void stress_unmap(struct stress *s)
{
    munmap(s, stress_size(s->locks_len));
}

void stress_count(struct stress *s, enum figure figure)
{
    atomic_fetch_add_explicit(&s->figures[figure], 1, memory_order_relaxed);
}

void stress_fail(struct stress *s, int status, const char *text)
{
    stress_mutex_lock(&s->mutex);
    if (s->fatal_status == HF_OK) {
        s->fatal_status = status;
        snprintf(s->fatal, sizeof(s->fatal), "%s", text);
    }
    pthread_mutex_unlock(&s->mutex);
    atomic_store(&s->stop, 1);
}

int64_t stress_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
