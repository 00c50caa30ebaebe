/*
 * record.c: reading and writing the record.  One rule: it is written only under
 * the kernel lock; what is read without it may be half of a write, and is read
 * again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/file/error.h"
#include "backend/file/lock.h"
#include "backend/file/record.h"
#include "backend/file/record_text.h"
#include "base/error.h"
#include "sys/write.h"

#define LEFT_US_MAX (HF_LEASE_MS_MAX * US_PER_MS + US_PER_S)
#define UNLOCKED_READS 4 /* a read may meet a write half-way */

static int record_conflict(struct backend_conn *c, const struct file_lock *l,
                           const char *why)
{
    return hf__error_set(&c->err, HF_CONFLICT, "file:%.80s: %.80s: %s", c->dir,
                         l->file, why);
}

static void record_warn(struct backend_conn *c, const struct file_lock *l)
{
    char line[HF_ERROR_TEXT_MAX];
    snprintf(line, sizeof line,
             "file:%.80s: %.80s: record is damaged: fences go on from the "
             "clock",
             c->dir, l->file);
    if (c->env->log) c->env->log(c->env, HF_LOG_WARN, line);
}

static int record_read(struct backend_conn *c, struct file_lock *l, int fd,
                       struct record *r, enum record_state *state)
{
    ssize_t n;
    do {
        n = pread(fd, c->text, sizeof c->text, 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0) return hf__file_fail(c, "read", l->file, errno);
    *state = hf__file_record_parse(c->text, (size_t)n, r);
    return HF_OK;
}

int hf__file_record_load(struct backend_conn *c, struct file_lock *l, int fd,
                         int is_locked, struct record *r)
{
    enum record_state state = RECORD_EMPTY;
    if (l->is_path) fd = l->record_fd;
    memset(r, 0, sizeof *r);
    for (int i = 0; fd >= 0 && i < (is_locked ? 1 : UNLOCKED_READS); i++) {
        int status = record_read(c, l, fd, r, &state);
        if (status != HF_OK) return status;
        if (state != RECORD_TORN) break;
    }
    if (state == RECORD_ALIEN)
        return record_conflict(c, l, "not a lock of ours: left as it is");
    if (state == RECORD_TORN && is_locked) record_warn(c, l);
    if (state == RECORD_OK
        && (r->title_len != l->title_len
            || memcmp(r->title, l->title, r->title_len)))
        return record_conflict(c, l, "is the file of another name");
    l->detached_until_us =
        hf__file_record_is_live(c, r, 0, NULL) ? r->deadline_us : 0;
    return HF_OK;
}

int hf__file_record_store(struct backend_conn *c, struct file_lock *l, int fd,
                          struct record *r)
{
    if (l->is_path) fd = l->record_fd;
    r->title = l->title;
    r->title_len = l->title_len;
    size_t len = hf__file_record_format(r, c->text);
    if (hf__write_at(fd, c->text, len, 0) != 0)
        return hf__file_fail(c, "write", l->file, errno);
    return HF_OK;
}

int hf__file_record_is_live(const struct backend_conn *c,
                            const struct record *r, int64_t now_us,
                            int64_t *left_us)
{
    if (r->mode != RECORD_DETACHED || strcmp(r->boot, c->boot)) return 0;
    int64_t left = r->deadline_us - now_us;
    if (left_us) *left_us = left;
    /* Longer than any lease: written by a clock that ran before a reboot. */
    return left > 0 && (now_us == 0 || left <= LEFT_US_MAX);
}
