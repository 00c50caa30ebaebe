/*
 * peer.c: holdfast as a runner.  All threads share one client, as a program
 * that uses holdfast would.
 *
 *   holdfast        the plain lock, blocking calls; mode=hold: asynchronous
 *   holdfast5       the same over all servers of ports=, as redlock://
 *   holdfast-fair   the plain lock, given to the longest waiter
 *   holdfast-read   all threads read one read/write lock
 *   holdfast-permits  a semaphore of permits=
 *   holdfast-async  one thread with its own loop, 64 locks in flight
 *
 * url= says where its locks are: any URL of holdfast, of a module too.
 * known=N and held=N put N further locks, used before or held, beside the one
 * that is measured.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <holdfast/holdfast.h>

#include "lib/async.h"
#include "lib/crowd.h"
#include "lib/five.h"
#include "lib/permits.h"
#include "lib/queue.h"
#include "lib/runner.h"
#include "lib/store.h"
#include "lib/tool.h"
#include "lib/wait_many.h"

static hf_client *client;
static struct hf_lock_options how = HF_LOCK_OPTIONS_INIT;

static void peer_open(struct worker *w)
{
    const struct options *o = w->options;

    if (client) return;
    client = crowd_client(o, 0, NULL, NULL);
    if (o->held > 0) crowd_take(crowd_new(o->held), client, "held");
    if (o->known > 0) {
        struct crowd *c = crowd_new(o->known);
        crowd_take(c, client, "known");
        crowd_give(c);
    }
}

static void peer_name_set(struct worker *w, const char *name)
{
    struct hf_error err;
    hf_lock *lock;

    hf_lock_close(w->impl);
    if (hf_lock_open_as(client, name, &how, &lock, &err) != HF_OK)
        fail("%s: %s", name, err.text);
    w->impl = lock;
}

static void peer_lock(struct worker *w)
{
    struct hf_error err;

    if (hf_lock_acquire(w->impl, NULL, NULL, &err) != HF_OK)
        fail("acquire: %s", err.text);
}

static void peer_unlock(struct worker *w)
{
    if (hf_lock_release(w->impl, NULL, NULL) != HF_OK) w->fails++;
}

/* mode=first: how long the first client of a process takes to open, with the
 * module of its store. */
static void first_run(const struct options *o)
{
    uint64_t start = now_ns();

    client = crowd_client(o, 0, NULL, NULL);
    printf("END {\"first_ns\":%" PRIu64 "}\n", now_ns() - start);
}

static const struct lock_peer holdfast_peer = {
    .name = "holdfast",
    .open = peer_open,
    .name_set = peer_name_set,
    .lock = peer_lock,
    .unlock = peer_unlock,
};

/* Whatever names they were to have, they read one lock. */
static void read_name_set(struct worker *w, const char *name)
{
    struct hf_lock_options reader = HF_LOCK_OPTIONS_INIT;
    struct hf_error err;
    hf_lock *lock;

    (void)name;
    reader.kind = HF_KIND_READ;
    hf_lock_close(w->impl);
    if (hf_lock_open_as(client, "bench-read", &reader, &lock, &err) != HF_OK)
        fail("bench-read: %s", err.text);
    w->impl = lock;
}

static const struct lock_peer read_peer = {
    .name = "holdfast-read",
    .open = peer_open,
    .name_set = read_name_set,
    .lock = peer_lock,
    .unlock = peer_unlock,
};

int main(int argc, char **argv)
{
    static char url[FIVE_URL_MAX], store[STORE_URL_MAX];
    struct options o;

    options_parse(&o, argc, argv);
    store_modules_find();
    if (o.url) {
        store_url(store, o.url, o.lease_ms);
        o.url = store;
    }
    if (strcmp(o.peer, "holdfast5") == 0) {
        five_url(url, o.ports, o.ports_len);
        five_init(url);
        o.url = url;
        o.peer = "holdfast";
    }
    if (strcmp(o.peer, "holdfast-fair") == 0) {
        how.order = HF_ORDER_FAIR;
        o.peer = "holdfast";
    }
    if (strcmp(o.peer, "holdfast-async") == 0 && strcmp(o.mode, "loop") == 0)
        async_run(&o);
    else if (strcmp(o.peer, "holdfast-read") == 0
             && strcmp(o.mode, "loop") == 0)
        runner_run(&o, &read_peer);
    else if (strcmp(o.peer, permits_peer.name) == 0)
        runner_run(&o, &permits_peer);
    else if (strcmp(o.peer, "holdfast") != 0)
        fail("peer=%s mode=%s: not one of holdfast, holdfast5, holdfast-fair, "
             "holdfast-async (loop), holdfast-read (loop), holdfast-permits",
             o.peer, o.mode);
    else if (strcmp(o.mode, "first") == 0)
        first_run(&o);
    else if (strcmp(o.mode, "hold") == 0)
        crowd_hold_run(&o);
    else if (strcmp(o.mode, "wait") == 0)
        wait_many_run(&o);
    else if (strcmp(o.mode, "queue") == 0)
        queue_run(&o);
    else
        runner_run(&o, &holdfast_peer);
    return 0;
}
