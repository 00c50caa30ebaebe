/*
 * space.c: which spaces there are.  One rule: a space belongs to the
 * process, not to a client, so its memory comes from the process too: the
 * client that made it may be gone, with its allocator, before the last one is.
 */
#include <string.h>

#include "backend/memory/ear.h"
#include "backend/memory/space.h"
#include "rules/store.h"
#include "sys/clock.h"

static pthread_mutex_t spaces_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct space *spaces;
static uint64_t spaces_made;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_prepare(void)
{
    pthread_mutex_lock(&spaces_mutex);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&spaces_mutex);
}

/* The parent's locks are not the child's: it starts with no spaces.  Theirs
 * are left alone, for another thread may have been inside one. */
static void fork_child(void)
{
    spaces = NULL;
    pthread_mutex_unlock(&spaces_mutex);
}

static void fork_register(void)
{
    (void)pthread_atfork(fork_prepare, fork_parent, fork_child);
}

static struct space *space_make(const char *name)
{
    size_t size = strlen(name) + 1;
    struct space *space =
        hf__alloc_zero(&hf__alloc_default, sizeof *space + size);
    if (!space) return NULL;
    memcpy(space->name, name, size);
    space->store = hf__rules_store_open(&hf__alloc_default);
    if (!space->store || pthread_mutex_init(&space->mutex, NULL)) {
        hf__rules_store_close(space->store);
        hf__free(&hf__alloc_default, space);
        return NULL;
    }
    hf__rules_store_identify(space->store, ++spaces_made, 0);
    space->next = spaces;
    spaces = space;
    return space;
}

struct space *hf__memory_space_join(const char *name)
{
    pthread_once(&fork_once, fork_register);
    pthread_mutex_lock(&spaces_mutex);
    struct space *space = spaces;
    while (space && strcmp(space->name, name) != 0) space = space->next;
    if (!space) space = space_make(name);
    if (space) space->users++;
    pthread_mutex_unlock(&spaces_mutex);
    return space;
}

static void space_free(struct space *space)
{
    struct space **link = &spaces;
    while (*link != space) link = &(*link)->next;
    *link = space->next;
    hf__rules_store_close(space->store);
    pthread_mutex_destroy(&space->mutex);
    hf__free(&hf__alloc_default, space);
}

void hf__memory_space_leave(struct space *space, struct ear *ear)
{
    hf__memory_ear_close(space, ear);
    pthread_mutex_lock(&spaces_mutex);
    if (--space->users == 0) space_free(space);
    pthread_mutex_unlock(&spaces_mutex);
}

int64_t hf__memory_space_now_us(const struct space *space)
{
    return hf__clock_wall_us() + space->clock_us;
}
