/*
 * runner.c: threads that lock and unlock until the deadline.  Between the two
 * time stamps of an operation there is nothing but the peer's own calls and,
 * when contended, the shared page.
 */
#define _POSIX_C_SOURCE 200809L
#include "runner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tool.h"

#define PAGE_LEN 4096
#define HOLDERS_PER_PROC 100000

/* What all contenders see: layout and order are the protocol's. */
struct page {
    _Atomic uint64_t unlock_ns; /* just before the last unlock */
    _Atomic uint64_t last;      /* number of the last holder */
    _Atomic uint64_t inside;    /* number of the holder, 0 if it is free */
};

struct run {
    const struct options *options;
    const struct lock_peer *peer;
    struct worker *workers;
    struct page *page;
    uint64_t start_ns, deadline_ns;
    int contended;
    int counting; /* 0 while warming up */
};

struct task {
    struct run *run;
    struct worker *worker;
};

static struct page *page_map(const char *path)
{
    if (!path || !*path) return allocate(1, sizeof(struct page));
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) fail("shm=%s: cannot be opened", path);
    void *p = mmap(NULL, PAGE_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) fail("shm=%s: cannot be mapped", path);
    close(fd);
    return p;
}

/* The lock was acquired: note whether the holder before was another one, and
 * write the number of this one. */
static void page_visit(struct run *r, struct worker *w, uint64_t got_ns)
{
    struct page *p = r->page;
    uint64_t me =
        (uint64_t)w->options->proc * HOLDERS_PER_PROC + (uint64_t)w->id + 1;

    if (p->inside) w->violations++;
    p->inside = me;
    uint64_t last = p->last, unlock_ns = p->unlock_ns;
    if (last && last != me && got_ns < r->deadline_ns) {
        w->handoffs++;
        hist_add(&w->wakes, got_ns > unlock_ns ? got_ns - unlock_ns : 0, 1);
    }
    p->last = me;
    p->inside = 0;
    p->unlock_ns = now_ns();
}

void worker_count(struct worker *w, uint64_t took_ns, uint64_t now)
{
    w->ops++;
    hist_add(&w->times, took_ns, 1);
    if (took_ns > w->max_ns) w->max_ns = took_ns;
    w->end_ns = now;
}

void worker_clear(struct worker *w)
{
    w->ops = w->handoffs = w->violations = w->fails = 0;
    w->max_ns = w->end_ns = 0;
    memset(&w->times, 0, sizeof(w->times));
    memset(&w->wakes, 0, sizeof(w->wakes));
}

static void *worker_main(void *arg)
{
    struct task *t = arg;
    struct run *r = t->run;
    struct worker *w = t->worker;

    for (;;) {
        uint64_t begin = now_ns();
        if (begin >= r->deadline_ns) return NULL;
        r->peer->lock(w);
        uint64_t got = now_ns();
        if (r->contended && r->counting) page_visit(r, w, got);
        r->peer->unlock(w);
        uint64_t end = now_ns();
        if (!r->contended)
            worker_count(w, end - begin, end);
        else if (got <= r->deadline_ns)
            worker_count(w, got - begin, end);
    }
}

static void threads_run(struct run *r, double secs)
{
    int n = r->options->threads;
    pthread_t *threads = allocate((size_t)n, sizeof(*threads));
    struct task *tasks = allocate((size_t)n, sizeof(*tasks));

    r->start_ns = now_ns();
    r->deadline_ns = r->start_ns + (uint64_t)(secs * (double)NS_PER_S);
    for (int i = 0; i < n; i++) {
        tasks[i] = (struct task){r, &r->workers[i]};
        if (pthread_create(&threads[i], NULL, worker_main, &tasks[i]) != 0)
            fail("thread %d of %d cannot be started", i + 1, n);
    }
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    free(tasks);
    free(threads);
}

static void names_set(struct run *r, const char *stem)
{
    char name[64];

    for (int i = 0; i < r->options->threads; i++) {
        if (r->contended && strcmp(stem, "bench") == 0)
            snprintf(name, sizeof(name), "bench-shared");
        else
            snprintf(name, sizeof(name), "%s-%d-%d", stem, r->options->proc,
                     r->contended ? 0 : i);
        r->peer->name_set(&r->workers[i], name);
        if (i == 0 && r->contended && r->peer->seed)
            r->peer->seed(&r->workers[0], name);
    }
}

static void loop_run(struct run *r)
{
    int n = r->options->threads;
    uint64_t end_ns = 0;

    r->page = page_map(r->options->shm);
    r->workers = allocate((size_t)n, sizeof(*r->workers));
    for (int i = 0; i < n; i++) {
        r->workers[i].options = r->options;
        r->workers[i].id = i;
        r->peer->open(&r->workers[i]);
    }
    names_set(r, "warm");
    threads_run(r, r->options->warm);
    names_set(r, "bench");
    for (int i = 0; i < n; i++) worker_clear(&r->workers[i]);
    r->counting = 1;
    runner_ready();
    uint64_t cpu_ns = cpu_self_ns();
    threads_run(r, r->options->secs);
    cpu_ns = cpu_self_ns() - cpu_ns;
    for (int i = 0; i < n; i++)
        if (r->workers[i].end_ns > end_ns) end_ns = r->workers[i].end_ns;
    if (r->contended || end_ns == 0) end_ns = r->deadline_ns;
    runner_report(r->workers, n, end_ns - r->start_ns, cpu_ns);
}

/* mode=holder and mode=waiter: take one lock and stay until killed. */
static void stay_run(struct run *r, const char *word, int wait_for_go)
{
    struct worker *w = allocate(1, sizeof(*w));

    w->options = r->options;
    r->peer->open(w);
    r->peer->name_set(w, "bench-w7");
    if (wait_for_go) runner_ready();
    r->peer->lock(w);
    printf("%s %" PRIu64 "\n", word, now_ns());
    fflush(stdout);
    for (;;) pause();
}

void runner_run(const struct options *o, const struct lock_peer *peer)
{
    struct run r = {.options = o, .peer = peer};

    r.contended = strcmp(o->mode, "contend") == 0;
    if (r.contended || strcmp(o->mode, "loop") == 0)
        loop_run(&r);
    else if (strcmp(o->mode, "holder") == 0)
        stay_run(&r, "HELD", 0);
    else if (strcmp(o->mode, "waiter") == 0)
        stay_run(&r, "ACQ", 1);
    else
        fail("peer=%s has no mode=%s", peer->name, o->mode);
}

int runner_main(int argc, char **argv, const struct lock_peer *peers,
                size_t len)
{
    struct options o;

    options_parse(&o, argc, argv);
    for (size_t i = 0; i < len; i++) {
        if (strcmp(peers[i].name, o.peer) != 0) continue;
        runner_run(&o, &peers[i]);
        return 0;
    }
    fail("peer=%s: this runner has no such peer", o.peer);
}
