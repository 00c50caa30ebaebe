/*
 * life.c: what is to be stopped when the process exits.  One rule: only the
 * process that started something stops it; a forked child has the same list,
 * and leaves it alone.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/own.h"

#define LIVES_MAX 512

struct life {
    void (*stop)(void *);
    void *arg;
    pid_t owner;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct life lives[LIVES_MAX];
static int lives_len;
static int is_at_exit;

/* The place of the entry, or -1. */
static int life_find(void (*stop)(void *), const void *arg)
{
    for (int i = 0; i < lives_len; i++)
        if (lives[i].stop == stop && lives[i].arg == arg
            && lives[i].owner == getpid())
            return i;
    return -1;
}

static void life_remove(int i)
{
    lives_len--;
    for (; i < lives_len; i++) lives[i] = lives[i + 1];
}

int lab__life_begin(void (*stop)(void *), void *arg)
{
    int has_room = 1;
    pthread_mutex_lock(&lock);
    if (!is_at_exit) is_at_exit = atexit(lab_stop_all) == 0;
    if (life_find(stop, arg) < 0) {
        has_room = lives_len < LIVES_MAX;
        if (has_room) lives[lives_len++] = (struct life){stop, arg, getpid()};
    }
    pthread_mutex_unlock(&lock);
    if (has_room) return LAB_OK;
    return lab__fail("lab: cannot start more: %d things run already",
                     LIVES_MAX);
}

void lab__life_end(void (*stop)(void *), const void *arg)
{
    pthread_mutex_lock(&lock);
    int i = life_find(stop, arg);
    if (i >= 0) life_remove(i);
    pthread_mutex_unlock(&lock);
}

/* The youngest of this process is taken off the list. */
static struct life life_take(void)
{
    struct life found = {0};
    pthread_mutex_lock(&lock);
    for (int i = lives_len - 1; i >= 0 && !found.stop; i--) {
        if (lives[i].owner != getpid()) continue;
        found = lives[i];
        life_remove(i);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void lab_stop_all(void)
{
    for (;;) {
        struct life l = life_take();
        if (!l.stop) return;
        l.stop(l.arg);
    }
}
