/*
 * file_rig.h: a small engine for the file backend's tests: it asks, keeps the
 * answer, and polls the one fd and the one timer.  One rule: it waits for
 * conditions, with generous limits, never for durations.
 */
#ifndef HF_TEST_FILE_RIG_H
#define HF_TEST_FILE_RIG_H

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/file/file.h"
#include "backends.h"
#include "sys/clock.h"
#include "test.h"

#define UNUSED __attribute__((unused))
#define RIG_WAIT_US (20 * US_PER_S) /* a condition that never comes */
#define RIG_ROWS_MAX 256
#define LEASE_US (30 * US_PER_S)

struct rig {
    struct backend_env env; /* first */
    struct backend_conf conf;
    struct backend_conn *c;
    struct request req;
    struct reply reply; /* the last; texts and infos copied below */
    struct hf_info info;
    char text[HF_ERROR_TEXT_MAX];
    char rows[RIG_ROWS_MAX][600];
    struct hf_info row_infos[RIG_ROWS_MAX];
    int rows_len;
    int replies;
    int wakes;
    int links;
    int warnings;
    int fd;
    int64_t timer_us;
};

static int64_t rig_last_ballot;

static void rig_reply(struct backend_env *env, struct request *req,
                      const struct reply *reply)
{
    struct rig *r = (struct rig *)env;
    (void)req;
    r->reply = *reply;
    r->replies++;
    snprintf(r->text, sizeof r->text, "%s", reply->text ? reply->text : "");
    if (reply->info) r->info = *reply->info;
    for (size_t i = 0; i < reply->rows_len; i++) {
        if (r->rows_len == RIG_ROWS_MAX) abort();
        r->row_infos[r->rows_len] = reply->rows[i].info;
        snprintf(r->rows[r->rows_len++], sizeof r->rows[0], "%s",
                 reply->rows[i].name);
    }
}

static void rig_watch(struct backend_env *env, int fd, unsigned events)
{
    ((struct rig *)env)->fd = events ? fd : -1;
}

static void rig_timer(struct backend_env *env, int64_t due_us)
{
    ((struct rig *)env)->timer_us = due_us;
}

static void rig_wake(struct backend_env *env, const char *name, size_t len)
{
    (void)name;
    (void)len;
    ((struct rig *)env)->wakes++;
}

static void rig_link(struct backend_env *env, int up, int64_t node_us,
                     const struct hf_error *err)
{
    (void)err;
    if (up && node_us > 0) ((struct rig *)env)->links++;
}

static int64_t rig_now(struct backend_env *env)
{
    (void)env;
    return hf__clock_us();
}

static uint64_t rig_random(struct backend_env *env)
{
    (void)env;
    return 4;
}

static void rig_log(struct backend_env *env, int level, const char *line)
{
    (void)line;
    if (level <= HF_LOG_WARN) ((struct rig *)env)->warnings++;
}

static void rig_init(struct rig *r, const struct allocator *alloc)
{
    memset(r, 0, sizeof *r);
    r->env = (struct backend_env){.alloc = alloc,
                                  .conf = &r->conf,
                                  .reply = rig_reply,
                                  .await_fd = rig_watch,
                                  .timer = rig_timer,
                                  .wake = rig_wake,
                                  .link = rig_link,
                                  .now = rig_now,
                                  .random = rig_random,
                                  .log = rig_log};
    r->fd = -1;
    r->timer_us = TIME_NEVER;
}

static UNUSED int rig_open_url(struct rig *r, const char *text,
                               struct hf_error *err)
{
    struct url url;
    rig_init(r, &hf__alloc_default);
    int status = hf__url_parse(&url, text, err);
    if (status != HF_OK) return status;
    return hf__backend_file.open(&r->env, &url, &r->c, err);
}

static UNUSED void rig_close(void *arg)
{
    struct rig *r = arg;
    if (r->c) hf__backend_file.close(r->c);
    r->c = NULL;
}

static UNUSED void rig_start(struct rig *r, const char *dir)
{
    char text[512];
    struct hf_error err;
    snprintf(text, sizeof text, "file:%s", dir);
    if (rig_open_url(r, text, &err) != HF_OK) TEST_FAIL("%s", err.text);
    test_cleanup(rig_close, r);
}

/* Send r->req and wait for its answer. */
static UNUSED enum verdict rig_send(struct rig *r)
{
    int before = r->replies;
    r->req.name_len = r->req.name ? strlen(r->req.name) : 0;
    r->req.deadline_us = hf__clock_us() + RIG_WAIT_US;
    r->reply = (struct reply){0};
    hf__backend_file.submit(r->c, &r->req);
    if (r->replies != before) return V_ERROR; /* from inside submit */
    hf__backend_file.flush(r->c);
    while (r->replies == before) {
        struct timespec pause = {0, 500000};
        nanosleep(&pause, NULL);
        hf__backend_file.process(r->c, -1, 0);
    }
    return r->reply.verdict;
}

static UNUSED int64_t rig_ballot(void)
{
    int64_t wall_us = hf__clock_wall_us();
    rig_last_ballot = wall_us > rig_last_ballot ? wall_us : rig_last_ballot + 1;
    return rig_last_ballot;
}

static void rig_req(struct rig *r, enum verb op, const char *name,
                    const char *owner, uint64_t attempt, unsigned flags)
{
    r->req = (struct request){.verb = op,
                              .name = name,
                              .attempt = attempt,
                              .flags = flags,
                              .count = 1,
                              .lease_us = LEASE_US,
                              .window_us = BALLOT_WINDOW_US};
    snprintf(r->req.owner, sizeof r->req.owner, "%s", owner);
}

static UNUSED enum verdict rig_propose_as(struct rig *r, enum lock_kind kind,
                                          const char *name, const char *owner,
                                          uint64_t attempt, unsigned flags)
{
    rig_req(r, VERB_PROPOSE, name, owner, attempt, flags);
    r->req.kind = kind;
    r->req.flags |= REQ_SERVER_FENCE;
    if (!(flags & REQ_DETACHED)) r->req.flags |= REQ_NO_EXPIRY;
    r->req.ballot = rig_ballot();
    r->req.info = "4711 somehost a label";
    return rig_send(r);
}

static UNUSED enum verdict rig_propose(struct rig *r, const char *name,
                                       const char *owner, uint64_t attempt,
                                       unsigned flags)
{
    return rig_propose_as(r, KIND_PLAIN, name, owner, attempt, flags);
}

static UNUSED enum verdict rig_read(struct rig *r, const char *name,
                                    const char *owner, uint64_t attempt)
{
    return rig_propose_as(r, KIND_READ, name, owner, attempt, 0);
}

static UNUSED enum verdict rig_ask(struct rig *r, enum verb op,
                                   const char *name, const char *owner,
                                   uint64_t attempt)
{
    rig_req(r, op, name, owner, attempt, REQ_NO_EXPIRY);
    return rig_send(r);
}

static UNUSED enum verdict rig_release(struct rig *r, const char *name,
                                       const char *owner, uint64_t attempt)
{
    return rig_ask(r, VERB_RELEASE, name, owner, attempt);
}

static UNUSED enum verdict rig_inspect(struct rig *r, const char *name,
                                       const char *owner)
{
    return rig_ask(r, VERB_INSPECT, name, owner, 0);
}

/* All pages; the pattern may be NULL. */
static UNUSED void rig_list(struct rig *r, const char *pattern)
{
    uint64_t cursor = 0;
    r->rows_len = 0;
    do {
        rig_req(r, VERB_LIST, pattern, "", 0, 0);
        r->req.cursor = cursor;
        CHECK_INT(rig_send(r), V_GRANTED);
        cursor = r->reply.cursor;
    } while (cursor);
}

/* Poll once, at most `ms`; the timer only if `with_timer`. */
static UNUSED void rig_poll(struct rig *r, int ms, int with_timer)
{
    struct pollfd p = {r->fd, POLLIN, 0};
    if (poll(&p, r->fd >= 0, ms) > 0)
        hf__backend_file.process(r->c, r->fd, AWAIT_READ);
    if (with_timer && r->timer_us <= hf__clock_us())
        hf__backend_file.process(r->c, -1, 0);
}

/* Wait as the engine does until the lock is granted.  1 or 0. */
static UNUSED int rig_get(struct rig *r, const char *name, const char *owner,
                          uint64_t attempt)
{
    int64_t end_us = hf__clock_us() + RIG_WAIT_US;
    if (rig_propose(r, name, owner, attempt, 0) == V_GRANTED) return 1;
    rig_ask(r, VERB_WATCH, name, owner, 0);
    while (hf__clock_us() < end_us) {
        r->wakes = 0;
        if (rig_propose(r, name, owner, attempt, 0) == V_GRANTED) {
            rig_ask(r, VERB_UNWATCH, name, owner, 0);
            return 1;
        }
        if (r->reply.verdict == V_ERROR) break;
        while (!r->wakes && r->reply.verdict == V_BUSY
               && hf__clock_us() < end_us)
            rig_poll(r, 5, 1);
    }
    return 0;
}

/* ---- directories ------------------------------------------------------ */

static void dir_remove(void *arg)
{
    char *path = arg;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            if (unlinkat(dirfd(dir), e->d_name, 0))
                unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
    if (dir) closedir(dir);
    rmdir(path);
    free(path);
}

/* A fresh directory, removed when the test ends. */
static UNUSED const char *dir_make(void)
{
    char text[] = "/tmp/holdfast-test-XXXXXX";
    if (!mkdtemp(text)) TEST_FAIL("mkdtemp");
    char *dir = strdup(text);
    if (!dir) abort();
    test_cleanup(dir_remove, dir);
    return dir;
}

/* ---- processes -------------------------------------------------------- */

struct holder {
    pid_t pid;
    int said; /* what the child says */
    int told; /* what it is told */
    int64_t fence;
};

static UNUSED void holder_end(void *arg)
{
    struct holder *h = arg;
    if (h->pid > 0) {
        kill(h->pid, SIGKILL);
        waitpid(h->pid, NULL, 0);
        close(h->said);
        close(h->told);
    }
    h->pid = 0;
}

static void holder_run(const char *dir, const char *name, unsigned flags,
                       int said, int told)
{
    static struct rig r;
    char text[512], byte;
    struct hf_error err;
    int64_t fence = 0;
    snprintf(text, sizeof text, "file:%s", dir);
    if (rig_open_url(&r, text, &err) == HF_OK
        && rig_propose(&r, name, "holder:1", 1, flags) == V_GRANTED)
        fence = r.reply.fence;
    if (write(said, &fence, sizeof fence) < 0) _exit(1);
    if (read(told, &byte, 1) != 1) _exit(1);
    if (byte == 'r') rig_release(&r, name, "holder:1", 1);
    if (write(said, &byte, 1) < 0) _exit(1);
    for (;;) pause();
}

/* A process that holds `name`; its fence is 0 if it did not get it. */
static UNUSED void holder_start(struct holder *h, const char *dir,
                                const char *name, unsigned flags)
{
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC)) TEST_FAIL("pipe");
    fflush(stdout);
    h->pid = fork();
    if (h->pid == 0) {
        holder_run(dir, name, flags, up[1], down[0]);
        _exit(1);
    }
    close(up[1]);
    close(down[0]);
    h->said = up[0];
    h->told = down[1];
    test_cleanup(holder_end, h);
    if (read(h->said, &h->fence, sizeof h->fence) != sizeof h->fence)
        TEST_FAIL("the holder died");
}

static UNUSED void holder_release(struct holder *h)
{
    char byte = 'r';
    CHECK(write(h->told, &byte, 1) == 1);
    CHECK(read(h->said, &byte, 1) == 1);
}

static UNUSED void file_write(const char *dir, const char *file,
                              const char *text, size_t len)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text, len) != (ssize_t)len) TEST_FAIL("%s", path);
    close(fd);
}

static UNUSED size_t file_read_all(const char *dir, const char *file, char *out,
                                   size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
    if (n < 0) TEST_FAIL("%s", path);
    close(fd);
    out[n] = '\0';
    return (size_t)n;
}

#endif
