/*
 * file_process_test.c: the file backend among real processes, ours and
 * flock(1)'s.  One rule: no process outlives its test.
 */
#include <sched.h>

#include "backend/file/name.h"
#include "backend/file/watch.h"
#include "file_rig.h"

static struct rig a, b;

/* ---- our own processes ------------------------------------------------ */

TEST(file_process, another_process_is_excluded)
{
    const char *dir = dir_make();
    static struct holder h;
    rig_start(&a, dir);
    holder_start(&h, dir, "x", 0);
    CHECK(h.fence > 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_BUSY);
    CHECK_INT(rig_inspect(&a, "x", "a:1"), V_GRANTED);
    CHECK_INT(a.info.pid, h.pid);
    CHECK_STR(a.info.owner, "holder:1");
    holder_release(&h);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
    CHECK(a.reply.fence > h.fence);
}

/* Only the fd is polled here: no timer may help. */
static void wait_for_wake(struct rig *r)
{
    int64_t end_us = hf__clock_us() + RIG_WAIT_US;
    while (!r->wakes && hf__clock_us() < end_us) rig_poll(r, 10, 0);
    CHECK(r->wakes > 0);
}

TEST(file_process, a_release_wakes_through_the_fd)
{
    const char *dir = dir_make();
    static struct holder h;
    rig_start(&a, dir);
    holder_start(&h, dir, "x", 0);
    rig_ask(&a, VERB_WATCH, "x", "a:1", 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_BUSY);
    rig_poll(&a, 10, 0);
    a.wakes = 0;
    holder_release(&h);
    wait_for_wake(&a);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_GRANTED);
}

TEST(file_process, a_killed_holder_wakes_through_the_fd)
{
    const char *dir = dir_make();
    static struct holder h;
    rig_start(&a, dir);
    holder_start(&h, dir, "x", 0);
    rig_ask(&a, VERB_WATCH, "x", "a:1", 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_BUSY);
    rig_poll(&a, 10, 0);
    a.wakes = 0;
    holder_end(&h);
    wait_for_wake(&a);
    CHECK(a.timer_us <= hf__clock_us() + TICK_US);
    CHECK(rig_get(&a, "x", "a:1", 2));
    CHECK(a.reply.verdict == V_GRANTED);
}

TEST(file_process, a_path_held_by_a_killed_holder_wakes_too)
{
    const char *dir = dir_make();
    char path[600];
    static struct holder h;
    snprintf(path, sizeof path, "%s/data", dir);
    rig_start(&a, dir);
    holder_start(&h, dir, path, 0);
    CHECK(h.fence > 0);
    rig_ask(&a, VERB_WATCH, path, "a:1", 0);
    CHECK_INT(rig_propose(&a, path, "a:1", 1, 0), V_BUSY);
    rig_poll(&a, 10, 0);
    a.wakes = 0;
    holder_end(&h);
    wait_for_wake(&a);
    CHECK(rig_get(&a, path, "a:1", 2));
}

TEST(file_process, a_forked_child_neither_keeps_nor_frees_the_lock)
{
    const char *dir = dir_make();
    int go[2], status;
    char byte = 0;
    rig_start(&a, dir);
    rig_start(&b, dir);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    CHECK_INT(pipe(go), 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        hf__backend_file.forked(a.c);
        hf__backend_file.forked(b.c);
        close(go[1]);
        if (read(go[0], &byte, 1) < 0) _exit(1);
        hf__backend_file.close(a.c);
        _exit(0);
    }
    close(go[0]);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
    CHECK_INT(rig_release(&a, "x", "a:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&b, "x", "b:1", 2, 0), V_GRANTED);
    close(go[1]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK_INT(rig_propose(&a, "x", "a:1", 2, 0), V_BUSY);
}

TEST(file_process, closing_in_a_forked_child_keeps_the_parents_lock)
{
    const char *dir = dir_make();
    int status;
    rig_start(&a, dir);
    rig_start(&b, dir);
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_GRANTED);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        hf__backend_file.forked(a.c);
        hf__backend_file.close(a.c);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK_INT(rig_propose(&b, "x", "b:1", 1, 0), V_BUSY);
    CHECK_INT(rig_ask(&a, VERB_RENEW, "x", "a:1", 1), V_GRANTED);
}

/* ---- many contenders -------------------------------------------------- */

enum { WORKERS = 4, ROUNDS = 150 };

/* Add one to a number in a file, which only works alone. */
static int number_raise(const char *path, int64_t fence)
{
    int64_t two[2] = {0, 0};
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || pread(fd, two, sizeof two, 0) < 0) return -1;
    if (fence <= two[1]) return -1;
    two[0]++;
    two[1] = fence;
    sched_yield();
    if (pwrite(fd, two, sizeof two, 0) != sizeof two) return -1;
    close(fd);
    return 0;
}

static void worker_run(const char *dir, const char *number, int deletes)
{
    static struct rig r;
    char text[512], path[600], owner[32];
    struct hf_error err;
    snprintf(text, sizeof text, "file:%s", dir);
    snprintf(path, sizeof path, "%s/x.lock", dir);
    snprintf(owner, sizeof owner, "w:%d", (int)getpid());
    if (rig_open_url(&r, text, &err) != HF_OK) _exit(2);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        if (!rig_get(&r, "x", owner, i)) _exit(3);
        int64_t fence = r.req.verb == VERB_PROPOSE ? r.reply.fence : 0;
        if (!fence) {
            rig_inspect(&r, "x", owner);
            fence = (int64_t)r.info.fence;
        }
        if (number_raise(number, fence)) _exit(4);
        if (deletes && i % 3 == 0) unlink(path);
        if (rig_release(&r, "x", owner, i) != V_GRANTED) _exit(5);
    }
    rig_close(&r);
    _exit(0);
}

static void workers_run(int deletes)
{
    const char *dir = dir_make(), *other = dir_make();
    char number[600];
    pid_t pids[WORKERS];
    int64_t two[2];
    int bad = 0, status;
    snprintf(number, sizeof number, "%s/number", other);
    fflush(stdout);
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) worker_run(dir, number, deletes);
    }
    for (int i = 0; i < WORKERS; i++)
        if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            bad = WIFEXITED(status) ? WEXITSTATUS(status) : 99;
    CHECK_INT(bad, 0);
    int fd = open(number, O_RDONLY);
    ssize_t n = read(fd, two, sizeof two);
    close(fd);
    CHECK_INT(n, sizeof two);
    CHECK_INT(two[0], WORKERS * ROUNDS);
}

TEST(file_process, contenders_never_meet)
{
    workers_run(0);
}

/* Each process deletes the file at the end of its hold: a process that then
 * locks the deleted file must notice. */
TEST(file_process, contenders_never_meet_though_the_file_is_deleted)
{
    workers_run(1);
}

/* ---- flock(1) ---------------------------------------------------------- */

/* flock -n FILE true; its exit status. */
static int flock_try(const char *path, const char *how)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("flock", "flock", "-n", how, path, "true", (char *)NULL);
        _exit(99);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

struct flocker {
    pid_t pid;
};

static void flocker_end(void *arg)
{
    struct flocker *f = arg;
    if (f->pid > 0) {
        kill(f->pid, SIGKILL);
        waitpid(f->pid, NULL, 0);
    }
    f->pid = 0;
}

/* flock -F, so that the process which holds the lock is the one we know. */
static void flocker_start(struct flocker *f, const char *path)
{
    fflush(stdout);
    f->pid = fork();
    if (f->pid == 0) {
        execlp("flock", "flock", "-x", "-F", path, "sleep", "600",
               (char *)NULL);
        _exit(99);
    }
    test_cleanup(flocker_end, f);
    int64_t end_us = hf__clock_us() + RIG_WAIT_US;
    while (flock_try(path, "-s") == 0 && hf__clock_us() < end_us)
        poll(NULL, 0, 10);
}

static const char *path_make(const char *dir, const char *file)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    return path;
}

TEST(flock, is_excluded_by_us_and_the_contents_stay)
{
    char text[64];
    const char *dir = dir_make();
    const char *path = path_make(dir, "data");
    rig_start(&a, dir);
    file_write(dir, "data", "precious", 8);
    CHECK_INT(flock_try(path, "-x"), 0);
    CHECK_INT(rig_propose(&a, path, "a:1", 1, 0), V_GRANTED);
    CHECK_INT(flock_try(path, "-x"), 1);
    CHECK_INT(flock_try(path, "-s"), 1);
    CHECK_INT(rig_inspect(&a, path, "a:1"), V_GRANTED);
    CHECK(a.info.locked && a.info.mine && !a.info.foreign);
    CHECK_INT(rig_ask(&a, VERB_RENEW, path, "a:1", 1), V_GRANTED);
    rig_list(&a, "*/data");
    CHECK_INT(a.rows_len, 1);
    CHECK_STR(a.rows[0], path);
    CHECK_INT(rig_release(&a, path, "a:1", 1), V_GRANTED);
    CHECK_INT(flock_try(path, "-x"), 0);
    CHECK_INT(rig_read(&a, path, "a:1", 2), V_GRANTED);
    CHECK_INT(flock_try(path, "-x"), 1);
    CHECK_INT(flock_try(path, "-s"), 0);
    file_read_all(dir, "data", text, sizeof text);
    CHECK_STR(text, "precious");
}

TEST(flock, excludes_us_and_its_end_wakes_us)
{
    const char *dir = dir_make();
    const char *path = path_make(dir, "data");
    static struct flocker f;
    rig_start(&a, dir);
    flocker_start(&f, path);
    CHECK_INT(rig_propose(&a, path, "a:1", 1, 0), V_BUSY);
    CHECK_INT(rig_inspect(&a, path, "a:1"), V_GRANTED);
    CHECK(a.info.locked && a.info.foreign && !a.info.mine);
    CHECK_STR(a.info.layout, "flock");
    CHECK_INT(a.info.pid, f.pid);
    rig_ask(&a, VERB_WATCH, path, "a:1", 0);
    CHECK_INT(rig_propose(&a, path, "a:1", 2, 0), V_BUSY);
    rig_poll(&a, 10, 0);
    a.wakes = 0;
    flocker_end(&f);
    wait_for_wake(&a);
    CHECK(rig_get(&a, path, "a:1", 3));
}

TEST(flock, and_we_lock_directories)
{
    const char *dir = dir_make();
    rig_start(&a, dir);
    CHECK_INT(rig_propose(&a, dir, "a:1", 1, 0), V_GRANTED);
    CHECK_INT(flock_try(dir, "-x"), 1);
    CHECK_INT(rig_release(&a, dir, "a:1", 1), V_GRANTED);
    CHECK_INT(flock_try(dir, "-x"), 0);
}

TEST(flock, on_our_own_lock_file_counts_as_a_foreign_holder)
{
    const char *dir = dir_make();
    static struct flocker f;
    rig_start(&a, dir);
    flocker_start(&f, path_make(dir, "x.lock"));
    CHECK_INT(rig_propose(&a, "x", "a:1", 1, 0), V_BUSY);
    CHECK_INT(rig_inspect(&a, "x", "a:1"), V_GRANTED);
    CHECK(a.info.locked && a.info.foreign);
    CHECK_INT(a.info.pid, f.pid);
    rig_list(&a, NULL);
    CHECK_INT(a.rows_len, 1);
    CHECK_STR(a.rows[0], "x");
}

TEST(flock, two_links_to_one_file_are_one_lock)
{
    const char *dir = dir_make();
    char link[600];
    const char *path = path_make(dir, "data");
    snprintf(link, sizeof link, "%s/link", dir);
    rig_start(&a, dir);
    file_write(dir, "data", "", 0);
    CHECK_INT(symlink(path, link), 0);
    CHECK_INT(rig_propose(&a, path, "a:1", 1, 0), V_GRANTED);
    int64_t fence = a.reply.fence;
    CHECK_INT(rig_propose(&a, link, "a:2", 2, 0), V_BUSY);
    rig_ask(&a, VERB_WATCH, link, "a:2", 0);
    rig_ask(&a, VERB_WATCH, path, "a:2", 0);
    rig_ask(&a, VERB_UNWATCH, path, "a:2", 0);
    CHECK_INT(rig_release(&a, path, "a:1", 1), V_GRANTED);
    rig_last_ballot = fence;
    CHECK_INT(rig_propose(&a, link, "a:2", 3, 0), V_GRANTED);
    CHECK(a.reply.fence > fence);
}

TEST(flock, a_deleted_sidecar_is_made_again)
{
    const char *dir = dir_make();
    const char *path = path_make(dir, "data");
    rig_start(&a, dir);
    CHECK_INT(rig_propose(&a, path, "a:1", 1, 0), V_GRANTED);
    int64_t fence = a.reply.fence;
    char side[700];
    hf__file_name_path(path, strlen(path), side);
    CHECK_INT(unlinkat(a.c->dir_fd, side, 0), 0);
    CHECK_INT(rig_ask(&a, VERB_RENEW, path, "a:1", 1), V_GRANTED);
    CHECK_INT(rig_release(&a, path, "a:1", 1), V_GRANTED);
    CHECK_INT(rig_propose(&a, path, "a:1", 2, 0), V_GRANTED);
    CHECK(a.reply.fence > fence);
    CHECK_INT(faccessat(a.c->dir_fd, side, F_OK, 0), 0);
    CHECK_INT(rig_inspect(&a, path, "a:1"), V_GRANTED);
    CHECK(a.info.mine);
}
