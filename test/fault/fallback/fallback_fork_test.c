/*
 * fallback_fork_test.c: fallback=local, after fork() and without memory.  One
 * rule: the child's copy is refused and keeps nothing alive, and a failed
 * allocation leaves no lock behind.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig_fallback.h"

static struct fall f;

/* The number of the first call that was not refused. */
static int child_of(hf_client *c, hf_lock *l, hf_hold *g)
{
    struct hf_info info = HF_INFO_INIT;
    int64_t count = 0;
    alarm(60);
    if (hf_lock_try(l, NULL, NULL) != HF_FORKED) return 1;
    if (hf_lock_release(l, NULL, NULL) != HF_FORKED) return 2;
    if (hf_hold_extend(g, 0, NULL) != HF_FORKED) return 3;
    if (hf_lock_inspect(l, &info, NULL) != HF_FORKED) return 4;
    if (hf_lock_hold_count(l, &count, NULL) != HF_FORKED) return 5;
    if (hf_hold_state(g) != HF_STATE_NONE) return 6;
    if (hf_hold_guarantee(g) != HF_GUARANTEE_STORE) return 7;
    if (hf_hold_feed(g) != HF_FORKED) return 8;
    if (hf_hold_release(g, NULL) != HF_FORKED) return 9;
    hf_lock_close(l);
    hf_client_close(c);
    return 0;
}

TEST(fallback_fork, the_child_s_copy_is_refused)
{
    int status = 0;
    hf_hold *g = NULL;
    fall_begin(&f, "local");
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) _exit(child_of(c, l, g));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(hf_hold_guarantee(g), HF_GUARANTEE_LOCAL);
    CHECK_INT(rig_probe(rig_lock(rig_client(NULL), "a")), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(fallback_fork, the_child_does_not_keep_a_hold_of_this_host_alive)
{
    int status = 0;
    fall_begin(&f, "local");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    fall_down(&f);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) {
        alarm(60);
        pause();
        _exit(0);
    }
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    int got = hf_lock_try(other, NULL, NULL);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(got, HF_OK);
}

/* ---- without memory ------------------------------------------------------ */

static struct {
    atomic_long outstanding;
    atomic_long count;
    atomic_long fail_at; /* 0: none */
    atomic_int fired;
} heap;

static int heap_fails(void)
{
    if (atomic_fetch_add(&heap.count, 1) + 1 != atomic_load(&heap.fail_at))
        return 0;
    atomic_store(&heap.fired, 1);
    return 1;
}

static void *heap_allocate(size_t size, void *user)
{
    (void)user;
    if (heap_fails()) return NULL;
    atomic_fetch_add(&heap.outstanding, 1);
    return malloc(size ? size : 1);
}

static void *heap_resize(void *ptr, size_t size, void *user)
{
    if (!ptr) return heap_allocate(size, user);
    return heap_fails() ? NULL : realloc(ptr, size ? size : 1);
}

static void heap_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) atomic_fetch_sub(&heap.outstanding, 1);
    free(ptr);
}

static void heap_arm(long n)
{
    atomic_store(&heap.fired, 0);
    atomic_store(&heap.count, 0);
    atomic_store(&heap.fail_at, n);
}

static atomic_int answers, answered;

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    (void)user;
    if (hold) hf_hold_release(hold, NULL);
    atomic_store(&answered, status);
    atomic_fetch_add(&answers, 1);
}

static int act_blocking(hf_lock *l)
{
    hf_hold *g = NULL;
    int status = hf_lock_try(l, &g, NULL);
    if (status == HF_OK) hf_hold_release(g, NULL);
    return status;
}

static int act_started(hf_lock *l)
{
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    int before = atomic_load(&answers);
    int status = hf_lock_acquire_start(l, &o, on_acquired, NULL, NULL);
    if (status != HF_OK) return status;
    CHECK(rig_until_equal(&answers, before + 1));
    return atomic_load(&answered);
}

static int act_inspect(hf_lock *l)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(l, &info, NULL);
}

/* One run whose n-th allocation fails: 0 when n was beyond its last. */
static int run_with(const char *url, int (*act)(hf_lock *), long n)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err;
    hf_client *c = NULL;
    hf_lock *l = NULL;
    o.allocator.allocate = heap_allocate;
    o.allocator.resize = heap_resize;
    o.allocator.release = heap_release;
    heap_arm(0);
    long before = atomic_load(&heap.outstanding);
    CHECK_INT(hf_client_open(url, &o, &c, &err), HF_OK);
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    heap_arm(n);
    int status = act(l);
    int fired = atomic_load(&heap.fired);
    heap_arm(0);
    if (status != HF_OK && (!fired || status != HF_NOMEM)
        && (!fired || status != HF_UNAVAILABLE))
        TEST_FAIL("allocation %ld: %s", n, hf_status_name(status));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_INT(act_blocking(l), HF_OK); /* nothing is stuck */
    hf_lock_close(l);
    hf_client_close(c);
    CHECK_INT(atomic_load(&heap.outstanding), before);
    return fired;
}

static void every_allocation_fails_once(int (*act)(hf_lock *))
{
    char url[600];
    long n = 1;
    fall_begin(&f, "local");
    fall_down(&f);
    snprintf(url, sizeof url,
             "%s?fallback=local&patience=20ms&timeout=20ms&fallback_dir=%s",
             f.redis.url, f.dir);
    while (run_with(url, act, n)) n++;
    CHECK(n > 10);
}

TEST(fallback_memory, may_fail_in_an_acquire)
{
    every_allocation_fails_once(act_blocking);
}

TEST(fallback_memory, may_fail_in_an_asynchronous_acquire)
{
    every_allocation_fails_once(act_started);
}

TEST(fallback_memory, may_fail_in_a_look)
{
    every_allocation_fails_once(act_inspect);
}
