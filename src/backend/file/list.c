/*
 * list.c: the locks that are held, page by page.  One rule: a page looks
 * at a bounded number of files, and where to go on is the directory's own
 * position, so that nothing is kept between pages.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/dir.h"
#include "backend/file/error.h"
#include "backend/file/inspect.h"
#include "backend/file/kernel.h"
#include "backend/file/list.h"
#include "backend/file/name.h"
#include "backend/file/notify.h"
#include "backend/file/proc.h"
#include "backend/file/record_text.h"
#include "backend/file/request.h"
#include "base/error.h"
#include "base/glob.h"
#include "sys/clock.h"

#define LIST_PAGE_ROWS 64
#define LIST_PAGE_FILES 256

struct page {
    struct backend_conn *c;
    const struct request *req;
    struct kernel_locks locks;
    struct list_row *rows;
    size_t len;
    char name[TITLE_MAX]; /* of the file that is looked at */
    size_t name_len;
};

/* The lock's name, from the name of its file; 0 if that is hashed. */
static size_t name_from_file(const char *file, size_t len, char *out,
                             size_t size)
{
    if (memchr(file, '~', len)) return 0;
    return hf__file_title_decode(file, len - strlen(FILE_SUFFIX), out, size);
}

/* Read the record of `file`; 1 if p->name could be told. */
static int file_read(struct page *p, const char *file, int fd, struct record *r)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return 0;
    ssize_t n = pread(fd, p->c->text, sizeof p->c->text, 0);
    if (n < 0) return 0;
    enum record_state state = hf__file_record_parse(p->c->text, (size_t)n, r);
    if (state == RECORD_ALIEN) return 0;
    p->name_len =
        state == RECORD_OK
            ? hf__file_title_decode(r->title, r->title_len, p->name,
                                    sizeof p->name)
            : name_from_file(file, strlen(file), p->name, sizeof p->name);
    return p->name_len > 0;
}

static int page_add(struct page *p, const struct hf_info *info)
{
    char *name = hf__alloc(p->c->env->alloc, p->name_len + 1);
    if (!name) return HF_NOMEM;
    memcpy(name, p->name, p->name_len + 1);
    struct list_row *row = &p->rows[p->len++];
    row->name = name;
    row->name_len = p->name_len;
    row->info = *info;
    return HF_OK;
}

static int file_describe(struct page *p, const char *file, int fd)
{
    struct record r;
    struct hf_info info;
    struct file_place place, marked;
    struct kernel_lock probed;
    const struct kernel_lock *k = NULL;
    int is_path = !strncmp(file, "path~", 5);
    if (!file_read(p, file, fd, &r)) return HF_OK;
    if (p->req->name && !hf__glob_match(p->req->name, p->name, p->name_len))
        return HF_OK;
    if (is_path ? hf__file_proc_place_of_path(p->name, &place)
                : hf__file_proc_place_of_fd(fd, &place))
        k = hf__file_proc_seek(p->c, &p->locks, &place, &r);
    if (!k && !is_path && !p->locks.is_complete) {
        if (hf__file_kernel_probe(fd, &probed)) k = &probed;
        hf__file_notify_waiters(NULL, fd);
    }
    hf__file_inspect_fill(p->c, &r, k, is_path, p->req->owner, &info);
    if (!info.locked) return HF_OK;
    if (p->locks.rows && hf__file_proc_place_of_fd(fd, &marked))
        info.waiters = hf__file_proc_waiters(&p->locks, &marked);
    return page_add(p, &info);
}

static int file_look(struct page *p, const char *file)
{
    size_t len = strlen(file), suffix_len = strlen(FILE_SUFFIX);
    if (len <= suffix_len || file[0] == '.'
        || strcmp(file + len - suffix_len, FILE_SUFFIX))
        return HF_OK;
    int fd = openat(p->c->dir_fd, file,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return HF_OK; /* gone, or another user's */
    int status = file_describe(p, file, fd);
    close(fd);
    return status;
}

static int page_read(struct page *p, DIR *dir, struct reply *reply)
{
    if (p->req->cursor) seekdir(dir, (long)p->req->cursor);
    for (int files = 0; p->len < LIST_PAGE_ROWS; files++) {
        if (files == LIST_PAGE_FILES) break;
        struct dirent *entry = readdir(dir);
        if (!entry) return HF_OK;
        int status = file_look(p, entry->d_name);
        if (status != HF_OK) return status;
    }
    reply->cursor = (uint64_t)telldir(dir);
    return HF_OK;
}

static int page_fill(struct page *p, struct reply *reply)
{
    struct backend_conn *c = p->c;
    p->rows = hf__alloc(c->env->alloc, LIST_PAGE_ROWS * sizeof *p->rows);
    if (!p->rows) return HF_NOMEM;
    hf__file_dir_follow(c);
    int fd = openat(c->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        int status = hf__file_fail(c, "list", ".", errno);
        if (fd >= 0) close(fd);
        return status;
    }
    hf__file_proc_read(c, &p->locks);
    int status = page_read(p, dir, reply);
    hf__file_proc_free(c, &p->locks);
    closedir(dir);
    return status;
}

static void page_free(struct page *p)
{
    const struct allocator *a = p->c->env->alloc;
    while (p->len > 0) {
        char *name = (char *)(uintptr_t)p->rows[--p->len].name;
        hf__free(a, name);
    }
    hf__free(a, p->rows);
    p->rows = NULL;
}

int hf__file_list_has_any(struct backend_conn *c)
{
    struct request req = {.verb = VERB_LIST};
    size_t found;
    do {
        struct page p = {.c = c, .req = &req};
        struct reply reply = {0};
        int status = page_fill(&p, &reply);
        found = p.len;
        page_free(&p);
        if (status == HF_NOMEM)
            hf__error_set(&c->err, status, "file:%s: list: no memory", c->dir);
        if (status != HF_OK) return -1;
        req.cursor = reply.cursor;
    } while (!found && req.cursor);
    return found > 0;
}

int hf__file_list(struct backend_conn *c, struct request *req,
                  struct reply *reply)
{
    struct page p = {.c = c, .req = req};
    reply->node_us = hf__clock_wall_us();
    int status = page_fill(&p, reply);
    if (status == HF_NOMEM)
        hf__error_set(&c->err, status, "file:%s: list: no memory", c->dir);
    reply->verdict = V_GRANTED;
    reply->rows = p.rows;
    reply->rows_len = p.len;
    if (status != HF_OK) {
        hf__file_refuse(c, reply, status);
        reply->rows_len = 0;
    }
    c->env->reply(c->env, req, reply);
    page_free(&p);
    return ANSWER_GIVEN;
}
