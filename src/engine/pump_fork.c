/*
 * pump_fork.c: after fork() the child's copy of a client is disabled.
 *
 * The rule: the child closes its copies of what the backends have open, because
 * a socket or a kernel lock lives as long as any copy; it sends nothing, and
 * the parent notices nothing.
 *
 * The thread that forks takes the mutex of every engine before, so that the
 * child sees none in the middle of a step.  This cannot deadlock: no thread
 * waits for one engine's mutex while it has another.
 */
#include "engine/pump_fork.h"

#include <pthread.h>
#include <unistd.h>

#include "engine/nodes.h"
#include "engine/pump.h"

static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t all_once = PTHREAD_ONCE_INIT;
static struct pump *all;

static void fork_prepare(void)
{
    pthread_mutex_lock(&all_mutex);
    for (struct pump *p = all; p; p = p->all_next) hf__pump_lock(p);
}

static void fork_parent(void)
{
    for (struct pump *p = all; p; p = p->all_next) hf__pump_unlock(p);
    pthread_mutex_unlock(&all_mutex);
}

static void fork_child(void)
{
    for (struct pump *p = all; p; p = p->all_next) {
        struct engine *e = &p->engine;
        p->forked = 1;
        for (struct node *n = NULL; (n = hf__node_next(e, n));)
            if (n->conn && n->backend->forked) n->backend->forked(n->conn);
        hf__pump_unlock(p);
    }
    all = NULL;
    pthread_mutex_unlock(&all_mutex);
}

static void fork_register(void)
{
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

void hf__pump_enlist(struct pump *p)
{
    pthread_once(&all_once, fork_register);
    pthread_mutex_lock(&all_mutex);
    p->all_next = all;
    all = p;
    pthread_mutex_unlock(&all_mutex);
}

void hf__pump_delist(struct pump *p)
{
    pthread_mutex_lock(&all_mutex);
    for (struct pump **at = &all; *at; at = &(*at)->all_next) {
        if (*at != p) continue;
        *at = p->all_next;
        break;
    }
    pthread_mutex_unlock(&all_mutex);
}
