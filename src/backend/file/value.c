/*
 * value.c: reading and replacing the files of values.
 *
 * One rule: between looking at the version and replacing the file, the guard
 * is held; it is never held across anything that waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/dir.h"
#include "backend/file/error.h"
#include "backend/file/kernel.h"
#include "backend/file/lock.h"
#include "backend/file/name.h"
#include "backend/file/request.h"
#include "backend/file/value.h"
#include "backend/file/value_text.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"
#include "sys/write.h"

#define VALUE_SUFFIX ".value"
#define GUARDS 16 /* so that different keys seldom meet */
#define OPEN_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)

/* One value under way, with the names of its files. */
struct job {
    struct backend_conn *c;
    const struct request *req;
    int64_t wall_us;
    char file[FILE_NAME_SIZE + sizeof VALUE_SUFFIX];
    char guard[32];
    char fresh[64]; /* written, then renamed to `file` */
    char *text;     /* VALUE_FILE_MAX bytes */
    struct file_value old;
    uint64_t version; /* of what is there; 0: nothing */
};

static int job_begin(struct job *j, struct backend_conn *c,
                     const struct request *req)
{
    size_t end;
    unsigned bucket = (unsigned)(hash64(req->name, req->name_len) % GUARDS);
    *j = (struct job){.c = c, .req = req, .wall_us = hf__clock_wall_us()};
    if (req->name_len == 0 || req->name_len > NAME_LEN_MAX
        || req->data_len > HF_VALUE_MAX || req->lease_us < 0)
        return hf__error_set(&c->err, HF_INVALID,
                             "file: value: key, length or life out of range");
    hf__file_name(req->name, req->name_len, j->file);
    end = strlen(j->file) - strlen(FILE_SUFFIX);
    memcpy(j->file + end, VALUE_SUFFIX, sizeof VALUE_SUFFIX);
    snprintf(j->guard, sizeof j->guard, ".value-%x", bucket);
    /* By user: in a sticky directory a user cannot replace another's file. */
    snprintf(j->fresh, sizeof j->fresh, ".value-%x-%lu.new", bucket,
             (unsigned long)geteuid());
    j->text = hf__alloc(c->env->alloc, VALUE_FILE_MAX + 1);
    if (!j->text)
        return hf__error_set(&c->err, HF_NOMEM, "file:%s: no memory", c->dir);
    hf__file_dir_follow(c);
    return HF_OK;
}

static void job_end(struct job *j)
{
    hf__free(j->c->env->alloc, j->text);
}

static int job_fail(struct job *j, const char *what)
{
    return hf__file_fail(j->c, what, j->file, errno);
}

static int job_conflict(struct job *j, const char *why)
{
    return hf__error_set(&j->c->err, HF_CONFLICT, "file:%.80s: %.80s: %s",
                         j->c->dir, j->file, why);
}

/* ---- reading ------------------------------------------------------------ */

/* All of the file, at most VALUE_FILE_MAX + 1 bytes; -1 with errno. */
static ssize_t text_read(struct job *j, int fd)
{
    size_t len = 0;
    while (len < VALUE_FILE_MAX + 1) {
        ssize_t n =
            pread(fd, j->text + len, VALUE_FILE_MAX + 1 - len, (off_t)len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

static int title_is_ours(const struct job *j)
{
    char title[TITLE_MAX];
    size_t n = hf__file_title_encode(j->req->name, j->req->name_len, title,
                                     sizeof title);
    return n == j->old.title_len && !memcmp(title, j->old.title, n);
}

static int value_load(struct job *j, int fd)
{
    struct stat st;
    if (fstat(fd, &st)) return job_fail(j, "stat");
    if (!S_ISREG(st.st_mode)) return job_conflict(j, "not a regular file");
    ssize_t n = text_read(j, fd);
    if (n < 0) return job_fail(j, "read");
    if (n > VALUE_FILE_MAX
        || hf__file_value_parse(j->text, (size_t)n, &j->old) != 0)
        return job_conflict(j, "damaged, or not a value of ours: delete it to "
                               "begin anew");
    if (!title_is_ours(j)) return job_conflict(j, "is the file of another key");
    if (!j->old.expires_us || j->old.expires_us > j->wall_us)
        j->version = j->old.version;
    return HF_OK;
}

/* Read what is there; j->version is 0 if there is no value, or it has ended. */
static int value_look(struct job *j)
{
    int fd = openat(j->c->dir_fd, j->file, O_RDONLY | OPEN_FLAGS);
    if (fd < 0) return errno == ENOENT ? HF_OK : job_fail(j, "open");
    int status = value_load(j, fd);
    close(fd);
    return status;
}

int hf__file_value_read(struct backend_conn *c, struct request *req,
                        struct reply *reply)
{
    struct job j;
    int status = job_begin(&j, c, req);
    if (status == HF_OK) status = value_look(&j);
    reply->verdict = V_GRANTED;
    reply->node_us = j.wall_us;
    if (status != HF_OK) {
        hf__file_refuse(c, reply, status);
    } else if (j.version) {
        reply->version = j.version;
        reply->data = j.old.data;
        reply->data_len = j.old.len;
        if (j.old.expires_us) reply->ttl_us = j.old.expires_us - j.wall_us;
    }
    c->env->reply(c->env, req, reply);
    job_end(&j);
    return ANSWER_GIVEN;
}

/* ---- the guard ---------------------------------------------------------- */

static int guard_open(struct job *j)
{
    struct backend_conn *c = j->c;
    int fd = openat(c->dir_fd, j->guard, O_RDWR | OPEN_FLAGS);
    if (fd < 0 && errno == ENOENT)
        fd = openat(c->dir_fd, j->guard, O_RDWR | OPEN_FLAGS | O_CREAT,
                    c->file_mode);
    /* Nothing can be made in a directory that was deleted. */
    if (fd < 0 && errno == ENOENT && !hf__file_dir_reopen(c))
        fd = openat(c->dir_fd, j->guard, O_RDWR | OPEN_FLAGS | O_CREAT,
                    c->file_mode);
    return fd;
}

static int guard_is_current(const struct job *j, int fd)
{
    struct stat mine, now;
    return !fstat(fd, &mine)
           && !fstatat(j->c->dir_fd, j->guard, &now, AT_SYMLINK_NOFOLLOW)
           && mine.st_dev == now.st_dev && mine.st_ino == now.st_ino;
}

/* HF_OK with the guard in `fd`, FILE_BUSY, or a status. */
static int guard_take(struct job *j, int *fd)
{
    for (int i = 0; i < REOPENS_MAX; i++) {
        *fd = guard_open(j);
        if (*fd < 0) return job_fail(j, "guard");
        int refused = flock(*fd, LOCK_EX | LOCK_NB) ? errno : 0;
        if (!refused && guard_is_current(j, *fd)) return HF_OK;
        close(*fd);
        if (refused == EWOULDBLOCK) break;
        if (refused && refused != EINTR)
            return hf__file_fail(j->c, "flock", j->guard, refused);
    }
    return FILE_BUSY;
}

/* ---- writing ------------------------------------------------------------ */

static int fresh_write(struct job *j, size_t len)
{
    int dir_fd = j->c->dir_fd;
    (void)unlinkat(dir_fd, j->fresh, 0); /* of a writer that died */
    int fd = openat(dir_fd, j->fresh, O_WRONLY | O_CREAT | O_EXCL | OPEN_FLAGS,
                    j->c->file_mode);
    if (fd < 0) return job_fail(j, "create");
    int failed = hf__write_at(fd, j->text, len, 0);
    if (!failed) failed = renameat(dir_fd, j->fresh, dir_fd, j->file);
    int status = failed ? job_fail(j, "write") : HF_OK;
    close(fd);
    if (failed) (void)unlinkat(dir_fd, j->fresh, 0);
    return status;
}

static int value_set(struct job *j, struct reply *reply)
{
    char title[TITLE_MAX];
    const struct request *req = j->req;
    struct file_value v = {.title = title,
                           .version = (uint64_t)j->wall_us,
                           .attempt = req->attempt,
                           .data = req->data,
                           .len = req->data_len};
    v.title_len =
        hf__file_title_encode(req->name, req->name_len, title, sizeof title);
    /* Also above a value that has ended: its file still tells its version. */
    if (v.version <= j->old.version) v.version = j->old.version + 1;
    if (req->lease_us > 0) v.expires_us = j->wall_us + req->lease_us;
    memcpy(v.owner, req->owner, sizeof v.owner);
    int status = fresh_write(j, hf__file_value_format(&v, j->text));
    if (status == HF_OK) reply->version = v.version;
    return status;
}

static int value_remove(struct job *j)
{
    if (!unlinkat(j->c->dir_fd, j->file, 0) || errno == ENOENT) return HF_OK;
    return job_fail(j, "delete");
}

static int is_repeated(const struct job *j)
{
    return j->version && j->old.attempt == j->req->attempt
           && !strcmp(j->old.owner, j->req->owner);
}

/* The caller holds the guard. */
static int value_write(struct job *j, struct reply *reply)
{
    const struct request *req = j->req;
    int status = value_look(j);
    reply->verdict = V_GRANTED;
    reply->version = j->version;
    if (status != HF_OK || is_repeated(j)) return status;
    if (req->version != HF_VALUE_ANY && req->version != j->version) {
        reply->verdict = V_OTHER;
        return HF_OK;
    }
    reply->version = 0;
    return req->flags & REQ_DELETE ? value_remove(j) : value_set(j, reply);
}

int hf__file_value_write(struct backend_conn *c, struct request *req,
                         struct reply *reply)
{
    struct job j;
    int fd = -1, status = job_begin(&j, c, req);
    reply->node_us = j.wall_us;
    if (status == HF_OK) status = guard_take(&j, &fd);
    if (status == HF_OK) {
        status = value_write(&j, reply);
        /* Explicitly: a child that was forked by others may share it. */
        (void)flock(fd, LOCK_UN);
        close(fd);
    }
    job_end(&j);
    if (status == FILE_BUSY) return ANSWER_AGAIN;
    return status == HF_OK ? ANSWER_DONE : hf__file_refuse(c, reply, status);
}
