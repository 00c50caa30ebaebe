/*
 * boot.c: the marker of a directory that is a member of a quorum.
 *
 * A restart of the host ends all kernel locks and may lose the last counters,
 * so the identity is the host's boot.  One rule: the marker is looked at and
 * replaced under a lock on its own file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/boot.h"
#include "backend/file/dir.h"
#include "backend/file/error.h"
#include "backend/file/list.h"
#include "backend/file/request.h"
#include "base/error.h"
#include "sys/clock.h"
#include "sys/write.h"

/* No lock's file begins with a dot. */
#define BOOT_FILE ".boot"
#define OPEN_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)

/* A quarantine that another client began counts as well. */
int hf__file_boot_is_missing(const struct backend_conn *c,
                             const struct request *req, int64_t wall_us)
{
    char text[MARKER_TEXT_MAX + 1];
    struct marker m;
    int fd = openat(c->dir_fd, BOOT_FILE, O_RDONLY | OPEN_FLAGS);
    if (fd < 0) return 1;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    close(fd);
    if (n < 1 || text[n - 1] != '\n') return 1;
    text[n - 1] = '\0';
    if (hf__marker_parse(text, &m) != 0 || m.settled_us > wall_us) return 1;
    return req->group && strcmp(req->group, m.group) != 0;
}

static int boot_fail(struct backend_conn *c, const char *what)
{
    return hf__file_fail(c, what, BOOT_FILE, errno);
}

/* A marker that is cut short counts as no marker. */
static int marker_load(struct backend_conn *c, int fd, struct marker *m)
{
    char text[MARKER_TEXT_MAX + 1];
    *m = (struct marker){0};
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (n < 0) return boot_fail(c, "read");
    text[n] = '\0';
    if (n == 0 || text[n - 1] != '\n') return HF_OK;
    text[n - 1] = '\0';
    if (hf__marker_parse(text, m) != 0)
        return hf__error_set(&c->err, HF_CONFLICT,
                             "file:%.80s: %s: not a boot marker of ours: "
                             "delete it to begin anew",
                             c->dir, BOOT_FILE);
    return HF_OK;
}

static int marker_store(struct backend_conn *c, int fd, const struct marker *m)
{
    char text[MARKER_TEXT_MAX + 1];
    hf__marker_format(m, text);
    size_t len = strlen(text);
    text[len++] = '\n';
    /* Forced to disk: the marker must outlive the locks that it is about. */
    if (hf__write_at(fd, text, len, 0) != 0 || ftruncate(fd, (off_t)len)
        || fsync(fd))
        return boot_fail(c, "write");
    return HF_OK;
}

static int marker_is(const struct marker *a, const struct marker *b)
{
    return !strcmp(a->group, b->group) && !strcmp(a->identity, b->identity)
           && a->settled_us == b->settled_us && a->lease_us == b->lease_us
           && a->is_durable == b->is_durable && a->is_synced == b->is_synced;
}

/* Two directories of one host are two members of a quorum. */
static void identity_make(const struct backend_conn *c, char *out, size_t size)
{
    out[0] = '\0';
    if (!strcmp(c->boot, "unknown")) return;
    snprintf(out, size, "%s-%llx-%llx", c->boot,
             (unsigned long long)c->dir_id.dev,
             (unsigned long long)c->dir_id.ino);
}

static int boot_decide(struct backend_conn *c, const struct request *req,
                       struct marker *m, int64_t now_us)
{
    char identity[IDENTITY_MAX];
    const char *why = NULL;
    struct boot_facts facts = {.identity = identity, .now_us = now_us};
    identity_make(c, identity, sizeof identity);
    if (hf__boot_wants_locks(req)) {
        int found = hf__file_list_has_any(c);
        if (found < 0) return c->err.status;
        facts.has_locks = found;
    }
    int status = hf__boot_decide(m, req, &facts, &c->boot_reply, &why);
    if (status == HF_OK) return HF_OK;
    return hf__error_set(&c->err, status, "file:%.80s: %s", c->dir, why);
}

static int boot_do(struct backend_conn *c, const struct request *req, int fd,
                   int64_t now_us)
{
    struct marker old, m;
    struct stat st;
    if (fd >= 0 && fstat(fd, &st)) return boot_fail(c, "stat");
    if (fd >= 0 && !S_ISREG(st.st_mode))
        return hf__error_set(&c->err, HF_CONFLICT,
                             "file:%.80s: %s: not a regular file", c->dir,
                             BOOT_FILE);
    old = (struct marker){0};
    int status = fd >= 0 ? marker_load(c, fd, &old) : HF_OK;
    if (status != HF_OK) return status;
    m = old;
    status = boot_decide(c, req, &m, now_us);
    if (status != HF_OK || (req->flags & REQ_BOOT_LOOK) || marker_is(&m, &old))
        return status;
    return marker_store(c, fd, &m);
}

int hf__file_boot(struct backend_conn *c, struct request *req,
                  struct reply *reply)
{
    int looks = (req->flags & REQ_BOOT_LOOK) != 0;
    int64_t now_us = hf__clock_wall_us();
    hf__file_dir_follow(c);
    int fd = openat(c->dir_fd, BOOT_FILE,
                    (looks ? O_RDONLY : O_RDWR | O_CREAT) | OPEN_FLAGS,
                    c->file_mode);
    if (fd < 0 && !(looks && errno == ENOENT))
        return hf__file_refuse(c, reply, boot_fail(c, "open"));
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        int is_busy = errno == EWOULDBLOCK;
        int status = is_busy ? HF_OK : boot_fail(c, "lock");
        close(fd);
        return is_busy ? ANSWER_AGAIN : hf__file_refuse(c, reply, status);
    }
    int status = boot_do(c, req, fd, now_us);
    if (fd >= 0) close(fd);
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    reply->verdict = V_GRANTED;
    reply->node_us = now_us;
    reply->boot = &c->boot_reply;
    return ANSWER_DONE;
}
