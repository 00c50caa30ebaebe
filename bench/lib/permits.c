/*
 * permits.c: see permits.h.  All threads share one client and one semaphore, as
 * a program that uses holdfast would.
 */
#define _POSIX_C_SOURCE 200809L
#include "permits.h"

#include <holdfast/holdfast.h>

#include "crowd.h"
#include "tool.h"

struct taker {
    hf_semaphore *sem;
    hf_hold *hold;
};

static hf_client *client;

static void permits_open(struct worker *w)
{
    if (!client) client = crowd_client(w->options, 0, NULL, NULL);
    w->impl = allocate(1, sizeof(struct taker));
}

static void permits_name_set(struct worker *w, const char *name)
{
    struct taker *t = w->impl;
    struct hf_error err;

    hf_semaphore_close(t->sem);
    if (hf_semaphore_open(client, name, NULL, &t->sem, &err) != HF_OK)
        fail("%s: %s", name, err.text);
}

static void permits_seed(struct worker *w, const char *name)
{
    struct taker *t = w->impl;
    struct hf_error err;

    (void)name;
    if (hf_semaphore_set(t->sem, w->options->permits, 0, NULL, &err) != HF_OK)
        fail("%s", err.text);
}

static void permits_lock(struct worker *w)
{
    struct taker *t = w->impl;
    struct hf_error err;

    if (hf_semaphore_acquire(t->sem, NULL, &t->hold, &err) != HF_OK)
        fail("acquire: %s", err.text);
}

static void permits_unlock(struct worker *w)
{
    struct taker *t = w->impl;

    if (hf_hold_release(t->hold, NULL) != HF_OK) w->fails++;
}

const struct lock_peer permits_peer = {
    .name = "holdfast-permits",
    .open = permits_open,
    .name_set = permits_name_set,
    .seed = permits_seed,
    .lock = permits_lock,
    .unlock = permits_unlock,
};
