/*
 * redis_resolver_test.c: a resolver that does not answer.  The program's own
 * getaddrinfo() stands in for the C library's: it answers only when it is told
 * to.  One rule: a name is looked up once at a time in the whole process,
 * however many clients and tries wait for it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

#define HOST "silent.invalid"

static atomic_int is_dead, inside, most, calls;
static struct lab_server r;
static char url[160];

typedef int lookup_fn(const char *, const char *, const struct addrinfo *,
                      struct addrinfo **);

static int lookup_real(const char *host, const char *service,
                       const struct addrinfo *hints, struct addrinfo **out)
{
    lookup_fn *fn = NULL;
    *(void **)&fn = dlsym(RTLD_NEXT, "getaddrinfo");
    return fn(host, service, hints, out);
}

int getaddrinfo(const char *host, const char *service,
                const struct addrinfo *hints, struct addrinfo **out)
{
    if (!host || strncmp(host, HOST, strlen(HOST)) != 0
        || (hints && hints->ai_flags & AI_NUMERICHOST))
        return lookup_real(host, service, hints, out);
    atomic_fetch_add(&calls, 1);
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > atomic_load(&most)) atomic_store(&most, now);
    while (atomic_load(&is_dead)) rig_pause_ms(5);
    atomic_fetch_sub(&inside, 1);
    return lookup_real("127.0.0.1", service, hints, out);
}

static void resolver_revive(void *arg)
{
    (void)arg;
    atomic_store(&is_dead, 0);
}

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    test_cleanup(resolver_revive, NULL);
    CHECK(rig_until_equal(&inside, 0)); /* the last test's look-ups */
    atomic_store(&most, 0);
    atomic_store(&calls, 0);
    atomic_store(&is_dead, 1);
    snprintf(url, sizeof url,
             "redis://" HOST ":%d?timeout=100ms&patience=300ms", r.port);
}

static int entries_count(const char *dir)
{
    int count = 0;
    DIR *d = opendir(dir);
    CHECK(d != NULL);
    while (readdir(d)) count++;
    closedir(d);
    return count;
}

static void tries_fail(hf_client *c, int tries)
{
    struct hf_error err;
    hf_lock *l = rig_lock(c, "a");
    for (int i = 0; i < tries; i++) {
        CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNAVAILABLE);
        CHECK(strstr(err.text, "resolve") != NULL);
    }
}

static int is_reached(void *lock)
{
    return rig_probe(lock) == HF_OK;
}

TEST(redis_resolver, that_is_dead_is_asked_once_for_a_name)
{
    begin();
    hf_client *one = rig_client_at(url, NULL), *two = rig_client_at(url, NULL);
    tries_fail(one, 4);
    tries_fail(two, 4);
    CHECK_INT(atomic_load(&most), 1);
    CHECK_INT(atomic_load(&calls), 1);
    rig_close(one);
    hf_client *three = rig_client_at(url, NULL);
    tries_fail(three, 2);
    CHECK_INT(atomic_load(&calls), 1);
    resolver_revive(NULL);
    CHECK(rig_until(is_reached, rig_lock(two, "a")));
    CHECK(rig_until(is_reached, rig_lock(three, "b")));
}

TEST(redis_resolver, that_is_dead_costs_no_more_with_every_try)
{
    begin();
    hf_client *c = rig_client_at(url, NULL);
    tries_fail(c, 2);
    int threads = entries_count("/proc/self/task");
    int fds = entries_count("/proc/self/fd");
    tries_fail(c, 8);
    CHECK(entries_count("/proc/self/task") <= threads);
    /* Between two tries there may be one fd less or more. */
    CHECK(entries_count("/proc/self/fd") <= fds + 2);
    CHECK_INT(atomic_load(&most), 1);
}

TEST(redis_resolver, two_names_are_looked_up_side_by_side)
{
    char other[160];
    begin();
    snprintf(other, sizeof other,
             "redis://" HOST "2:%d?timeout=100ms&patience=300ms", r.port);
    hf_client *one = rig_client_at(url, NULL);
    hf_client *two = rig_client_at(other, NULL);
    tries_fail(one, 1);
    tries_fail(two, 1);
    CHECK_INT(atomic_load(&most), 2);
}

TEST(redis_resolver, every_port_of_a_name_is_reached_by_one_look_up)
{
    static struct lab_server r2;
    char other[160];
    begin();
    redis_begin(&r2, NULL);
    snprintf(url, sizeof url, "redis://" HOST ":%d?timeout=20s", r.port);
    snprintf(other, sizeof other, "redis://" HOST ":%d?timeout=20s", r2.port);
    hf_client *one = rig_client_at(url, NULL);
    hf_client *two = rig_client_at(other, NULL);
    CHECK(rig_until_equal(&inside, 1));
    resolver_revive(NULL);
    CHECK_INT(rig_acquire(rig_lock(one, "a"), 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(rig_acquire(rig_lock(two, "a"), 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 1);
    CHECK_INT(redis_number(&r2, "EXISTS a"), 1);
    CHECK_INT(atomic_load(&calls), 1);
}

/* The thread sanitizer cannot follow threads that a forked child starts. */
#ifndef __SANITIZE_THREAD__
/* The parent's look-up does not go on in a child, which begins its own. */
static int child_run(void)
{
    hf_client *c = NULL;
    hf_lock *l = NULL;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 30000, 0);
    alarm(60);
    resolver_revive(NULL);
    if (hf_client_open(url, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open(c, "a", &l, NULL) != HF_OK) return 2;
    if (hf_lock_acquire(l, &o, NULL, NULL) != HF_OK) return 3;
    hf_lock_close(l);
    hf_client_close(c);
    return 0;
}

TEST(redis_resolver, a_forked_child_does_not_wait_for_its_parents_look_up)
{
    begin();
    snprintf(url, sizeof url, "redis://" HOST ":%d", r.port);
    rig_client_at(url, NULL);
    CHECK(rig_until_equal(&inside, 1));
    pid_t pid = proc_fork();
    if (pid == 0) _exit(child_run());
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
}
#endif
