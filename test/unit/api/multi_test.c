/*
 * multi_test.c: sets of locks where memory runs out, where the program has its
 * own loop, and in what order they are taken.  One rule: whatever goes wrong,
 * nothing stays taken and nothing leaks.
 */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "api/multi/multi.h"
#include "lib/proc.h"
#include "lib/rig_multi.h"

/* ---- the order ----------------------------------------------------------- */

TEST(multi_order, is_by_store_and_name_however_they_are_given)
{
    rig_begin();
    hf_client *x = rig_client_at("memory:x?lease=5s", NULL);
    hf_client *y = rig_client_at("memory:y?label=a", NULL);
    hf_lock *xa = rig_lock(x, "a"), *xb = rig_lock(x, "b");
    hf_lock *xab = rig_lock(x, "ab"), *ya = rig_lock(y, "a");
    hf_lock *first[] = {xa, xab, xb, ya}, *second[] = {ya, xb, xa, xab};
    hf_multi *m = rig_multi(first, 4), *n = rig_multi(second, 4);
    for (int i = 0; i < 4; i++) {
        CHECK(m->locks[i] == first[i]);
        CHECK(n->locks[i] == first[i]);
        CHECK(second[n->given[i]] == first[i]);
    }
}

TEST(multi_order, grants_come_in_the_order_of_the_caller)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "c"), rig_lock(c, "a"), rig_lock(c, "b")};
    hf_multi *m = rig_multi(locks, 3);
    hf_hold *hold = NULL;
    for (int i = 0; i < 3; i++) /* no two of them have one fence */
        for (int j = 0; j < i; j++) CHECK_INT(rig_probe(locks[i]), HF_OK);
    CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_parts(hold), 3);
    CHECK(hf_hold_part(hold, 3) == NULL);
    for (size_t i = 0; i < 3; i++) {
        struct hf_info info = HF_INFO_INIT;
        hf_hold *part = hf_hold_part(hold, i);
        CHECK_STR(hf_hold_name(part), hf_lock_name(locks[i]));
        CHECK_INT(hf_lock_inspect(locks[i], &info, NULL), HF_OK);
        CHECK(info.mine && info.fence == hf_hold_fence(part));
    }
}

/* ---- memory -------------------------------------------------------------- */

static struct {
    atomic_long outstanding;
    atomic_long count;
    atomic_long fail_at; /* 0: none */
    atomic_int fails_on; /* every one after it, too */
    atomic_int fired;
} heap;

static void *heap_allocate(size_t size, void *user)
{
    long at = atomic_load(&heap.fail_at);
    long n = atomic_fetch_add(&heap.count, 1) + 1;
    (void)user;
    if (at && (n == at || (n > at && atomic_load(&heap.fails_on)))) {
        atomic_store(&heap.fired, 1);
        return NULL;
    }
    void *p = malloc(size);
    if (p) atomic_fetch_add(&heap.outstanding, 1);
    return p;
}

static void *heap_resize(void *ptr, size_t size, void *user)
{
    if (!ptr) return heap_allocate(size, user);
    void *p = heap_allocate(1, user); /* to be counted, and to fail */
    if (!p) return NULL;
    free(p);
    atomic_fetch_sub(&heap.outstanding, 1);
    return realloc(ptr, size);
}

static void heap_release(void *ptr, void *user)
{
    (void)user;
    if (ptr) atomic_fetch_sub(&heap.outstanding, 1);
    free(ptr);
}

static void heap_arm(long n, int fails_on)
{
    atomic_store(&heap.fired, 0);
    atomic_store(&heap.count, 0);
    atomic_store(&heap.fails_on, fails_on);
    atomic_store(&heap.fail_at, n);
}

struct poor {
    hf_client *client;
    hf_lock *locks[3];
    hf_multi *multi;
};

static void poor_open(struct poor *p)
{
    static const char *const names[] = {"a", "b", "c"};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.allocator =
        (struct hf_allocator){heap_allocate, heap_resize, heap_release, NULL};
    heap_arm(0, 0);
    CHECK_INT(hf_client_open(rig_url(), &o, &p->client, NULL), HF_OK);
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_lock_open(p->client, names[i], &p->locks[i], NULL), HF_OK);
    CHECK_INT(hf_multi_open(p->locks, 3, &p->multi, NULL), HF_OK);
}

static void poor_close(struct poor *p)
{
    heap_arm(0, 0);
    hf_multi_close(p->multi);
    hf_client_close(p->client);
    CHECK_INT(atomic_load(&heap.outstanding), 0);
}

/* A lease that we could not give back for want of memory ends by itself. */
static int is_free(hf_lock *lock)
{
    return rig_acquire(lock, hf_holder_new(), RIG_WAIT_MS, NULL) == HF_OK;
}

static void acquire_poorly(const char *kind, int fails_on)
{
    rig_begin_on(kind);
    for (long n = 1; n < 200; n++) {
        struct poor p;
        struct hf_acquire_options o = rig_options(RIG_TRY, 1500, 0);
        poor_open(&p);
        heap_arm(n, fails_on);
        hf_hold *hold = NULL;
        int status = hf_multi_acquire(p.multi, &o, &hold, NULL);
        int fired = atomic_load(&heap.fired);
        heap_arm(0, 0);
        CHECK(status == HF_OK || (status == HF_NOMEM && fired));
        if (status != HF_OK) {
            CHECK(hold == NULL);
            for (int i = 0; i < 3; i++)
                CHECK_INT(hf_lock_release(p.locks[i], NULL, NULL),
                          HF_NOT_OWNER);
            for (int i = 0; i < 3; i++) CHECK(is_free(p.locks[i]));
        }
        poor_close(&p);
        if (!fired) return;
    }
    TEST_FAIL("it never succeeds");
}

TEST(multi_memory, that_fails_once_while_acquiring_leaves_nothing)
{
    acquire_poorly("memory:", 0);
}

TEST(multi_memory, that_fails_once_while_acquiring_leaves_no_file_locked)
{
    acquire_poorly("file:", 0);
}

TEST(multi_memory, that_is_gone_while_acquiring_leaves_nothing)
{
    acquire_poorly("memory:", 1);
}

TEST(multi_memory, that_is_gone_keeps_no_release_from_any_lock)
{
    struct poor p;
    hf_hold *hold = NULL;
    rig_begin_on("memory:");
    poor_open(&p);
    CHECK_INT(hf_multi_acquire(p.multi, NULL, &hold, NULL), HF_OK);
    heap_arm(1, 1);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK(atomic_load(&heap.fired));
    heap_arm(0, 0);
    hf_client *c = rig_client(NULL);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
    CHECK_INT(rig_probe(rig_lock(c, "c")), HF_OK);
    poor_close(&p);
}

TEST(multi_memory, that_is_gone_makes_no_set)
{
    struct poor p;
    hf_multi *m = NULL;
    rig_begin_on("memory:");
    poor_open(&p);
    heap_arm(1, 0);
    CHECK_INT(hf_multi_open(p.locks, 2, &m, NULL), HF_NOMEM);
    CHECK(m == NULL);
    poor_close(&p);
}

static void never_acquired(hf_multi *multi, int status, hf_hold *hold,
                           const struct hf_error *err, void *user)
{
    (void)multi;
    (void)status;
    (void)hold;
    (void)err;
    atomic_fetch_add((atomic_int *)user, 1);
}

TEST(multi_memory, that_is_gone_starts_nothing)
{
    static atomic_int calls;
    struct poor p;
    rig_begin_on("memory:");
    poor_open(&p);
    atomic_store(&calls, 0);
    heap_arm(1, 0);
    CHECK_INT(
        hf_multi_acquire_start(p.multi, NULL, never_acquired, &calls, NULL),
        HF_NOMEM);
    poor_close(&p);
    CHECK_INT(atomic_load(&calls), 0);
}

/* ---- the program's own loop ---------------------------------------------- */

struct told {
    int calls;
    int status;
    hf_hold *hold;
};

static void on_acquired(hf_multi *multi, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)multi;
    (void)err;
    t->calls++;
    t->status = status;
    t->hold = hold;
}

static hf_client *loop_client(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.flags = HF_CLIENT_OWN_LOOP;
    return rig_client_at(url, &o);
}

static void loops_until(hf_client *c, hf_client *d, const struct told *t)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (t->calls == 0) {
        struct pollfd fds[] = {{hf_client_fd(c), POLLIN, 0},
                               {hf_client_fd(d), POLLIN, 0}};
        CHECK(rig_now_ms() < end_ms);
        poll(fds, 2, 1000);
        CHECK_INT(hf_client_process(c), HF_OK);
        CHECK_INT(hf_client_process(d), HF_OK);
    }
}

TEST(multi_loop, of_the_program_drives_a_set_of_two_clients)
{
    static struct told t;
    rig_begin_on("redis");
    hf_client *c = loop_client(rig_url()), *d = loop_client("memory:loop");
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "a")};
    hf_multi *m = rig_multi(locks, 2);
    t = (struct told){0};
    CHECK_INT(hf_multi_acquire_start(m, NULL, on_acquired, &t, NULL), HF_OK);
    CHECK_INT(t.calls, 0); /* never before the call has returned */
    loops_until(c, d, &t);
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(hf_hold_state(t.hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(t.hold, NULL), HF_OK);
    CHECK_INT(hf_hold_release(t.hold, NULL), HF_INVALID);
    hf_hold *hold = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK); /* pumps itself */
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

TEST(multi_loop, of_the_program_need_not_run_for_a_client_to_be_closed)
{
    static struct told t;
    rig_begin_on("memory:");
    hf_client *c = loop_client(rig_url()), *d = loop_client("memory:loop");
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(d, "a")};
    hf_lock *other = rig_lock(rig_client_at("memory:loop", NULL), "a");
    hf_multi *m = rig_multi(locks, 2);
    t = (struct told){0};
    CHECK_INT(hf_lock_try(other, NULL, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire_start(m, NULL, on_acquired, &t, NULL), HF_OK);
    for (int i = 0; i < 20; i++) {
        hf_client_process(c);
        hf_client_process(d);
        rig_pause_ms(5);
    }
    CHECK_INT(t.calls, 0);
    rig_close(c);
    CHECK_INT(t.calls, 1);
    CHECK_INT(t.status, HF_CLOSED);
    CHECK(t.hold == NULL);
}

/* ---- forks --------------------------------------------------------------- */

TEST(multi_fork, is_refused_in_the_child)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b")};
    hf_multi *m = rig_multi(locks, 2);
    hf_hold *hold = NULL;
    CHECK_INT(hf_multi_acquire(m, NULL, &hold, NULL), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) {
        hf_multi *n = NULL;
        hf_hold *other = NULL;
        int bad = hf_multi_acquire(m, NULL, &other, NULL) != HF_FORKED;
        bad |= hf_hold_state(hold) != HF_STATE_NONE;
        bad |= hf_hold_extend(hold, 0, NULL) != HF_FORKED;
        bad |= hf_hold_release(hold, NULL) != HF_FORKED;
        bad |= hf_multi_open(locks, 2, &n, NULL) != HF_FORKED;
        hf_multi_close(m);
        _exit(bad);
    }
    int wait_status = -1;
    CHECK(waitpid(pid, &wait_status, 0) == pid);
    CHECK_INT(wait_status, 0);
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
}

/* What becomes of a set of one name by two URLs. */
static int twins_open(const char *one, const char *other)
{
    hf_multi *m = NULL;
    hf_lock *locks[] = {rig_lock(rig_client_at(one, NULL), "a"),
                        rig_lock(rig_client_at(other, NULL), "a")};
    int status = hf_multi_open(locks, 2, &m, NULL);
    hf_multi_close(m);
    return status;
}

TEST(multi, of_one_name_by_urls_that_differ_in_options_is_refused)
{
    rig_begin_on("memory:");
    CHECK_INT(twins_open("memory:x", "memory:x?timeout=3s"), HF_INVALID);
    CHECK_INT(twins_open("memory:x", "memory:y?timeout=3s"), HF_OK);
}

TEST(multi, of_one_name_in_two_databases_of_a_socket_is_none_of_twins)
{
    rig_begin_on("memory:");
    CHECK_INT(twins_open("redis+unix:///s?db=1", "redis+unix:///s?db=2"),
              HF_OK);
    CHECK_INT(twins_open("redis+unix:///s", "redis+unix:///s?db=2"), HF_OK);
    CHECK_INT(
        twins_open("redis+unix:///s?timeout=3s&db=1", "redis+unix:///s?db=1"),
        HF_INVALID);
    CHECK_INT(twins_open("redis+unix:///s", "redis+unix:///s?db=0"),
              HF_INVALID);
}
