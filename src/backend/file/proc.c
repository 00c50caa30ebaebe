/*
 * proc.c: which process has which file locked, from /proc/locks.  One
 * rule: looking must not take a lock, for then a look could make a try fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

#include "backend/file/notify.h"
#include "backend/file/proc.h"
#include "backend/file/record_text.h"

#define READ_STEP 8192
#define LINE_BYTES_MIN 32 /* shorter than any line */
#define PAGE_BYTES 3000   /* one page has at least this */
#define READS_MAX 6

void hf__file_proc_free(struct backend_conn *c, struct kernel_locks *k)
{
    hf__free(c->env->alloc, k->rows);
    k->rows = NULL;
    k->len = 0;
}

#ifdef __linux__
/* The whole file with a NUL behind it, or NULL. */
static char *file_slurp(struct backend_conn *c, const char *path, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    char *text = NULL;
    size_t size = 0;
    *len = 0;
    for (;;) {
        if (size - *len < READ_STEP) {
            size = size * 2 + READ_STEP;
            char *more = hf__realloc(c->env->alloc, text, size + 1);
            if (!more) break;
            text = more;
        }
        ssize_t n = read(fd, text + *len, size - *len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            close(fd);
            text[*len] = '\0';
            return text;
        }
        *len += (size_t)n;
    }
    hf__free(c->env->alloc, text);
    close(fd);
    return NULL;
}

/* "1: FLOCK  ADVISORY  WRITE 6053 fe:00:9978108 0 EOF".  1 if it is a
 * hold or a mark of ours; a line with "->" is a process that waits. */
static int line_parse(const char *line, struct kernel_lock *k)
{
    char kind[16], access[16];
    long long pid, start;
    unsigned long long ino;
    if (sscanf(line, "%*d: %15s %*15s %15s %lld %x:%x:%llu %lld", kind, access,
               &pid, &k->major, &k->minor, &ino, &start)
        != 7)
        return 0;
    k->pid = pid;
    k->ino = ino;
    k->shared = !strcmp(access, "READ");
    k->is_waiter = !strcmp(kind, "OFDLCK");
    return k->is_waiter ? start == WAITER_OFFSET : !strcmp(kind, "FLOCK");
}

/* In another pid namespace the kernel leaves out what it cannot number. */
static int namespace_is_first(void)
{
    char text[64];
    ssize_t n = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    if (n <= 0) return 0;
    text[n] = '\0';
    return !strcmp(text, "pid:[4026531836]");
}

/* Adds what the list has now; waiters are counted in one reading only. */
static int rows_add(struct backend_conn *c, struct kernel_locks *k)
{
    size_t len;
    char *text = file_slurp(c, "/proc/locks", &len);
    if (!text) return -1;
    size_t most = k->len + len / LINE_BYTES_MIN + 1;
    struct kernel_lock *rows =
        hf__realloc(c->env->alloc, k->rows, most * sizeof *rows);
    if (rows) k->rows = rows;
    for (char *line = text, *end; rows && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        if (k->len < most && line_parse(line, &rows[k->len])
            && !(k->reads && rows[k->len].is_waiter))
            k->len++;
    }
    hf__free(c->env->alloc, text);
    if (len > PAGE_BYTES) k->is_paged = 1;
    k->reads++;
    return rows ? 0 : -1;
}

/* The kernel shows its list by pages: what is unlocked between two of them
 * hides the first of the next.  So a long one is read twice. */
void hf__file_proc_read(struct backend_conn *c, struct kernel_locks *out)
{
    *out = (struct kernel_locks){0};
    int rc = rows_add(c, out);
    if (rc == 0 && out->is_paged) rc = rows_add(c, out);
    out->is_complete = rc == 0 && namespace_is_first();
}

/* On these, stat(2) and the kernel's list name different devices. */
static int fs_is_layered(long type)
{
    return type == 0x9123683e || type == 0x794c7630; /* btrfs, overlayfs */
}

static int row_is_of(const struct kernel_lock *k, const struct file_place *p)
{
    if (k->ino != p->ino) return 0;
    if (p->is_layered) return k->major == 0;
    return k->major == p->major && k->minor == p->minor;
}

static void place_set(const struct stat *st, long fs_type,
                      struct file_place *out)
{
    out->ino = st->st_ino;
    out->major = major(st->st_dev);
    out->minor = minor(st->st_dev);
    out->is_layered = fs_is_layered(fs_type);
}

int hf__file_proc_place_of_fd(int fd, struct file_place *out)
{
    struct stat st;
    struct statfs fs;
    if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs)) return 0;
    place_set(&st, fs.f_type, out);
    return 1;
}

int hf__file_proc_place_of_path(const char *path, struct file_place *out)
{
    struct stat st;
    struct statfs fs;
    if (stat(path, &st) || statfs(path, &fs)) return 0;
    place_set(&st, fs.f_type, out);
    return 1;
}
#else
static int rows_add(struct backend_conn *c, struct kernel_locks *k)
{
    (void)c;
    (void)k;
    return -1;
}

void hf__file_proc_read(struct backend_conn *c, struct kernel_locks *out)
{
    (void)c;
    *out = (struct kernel_locks){0};
}

static int row_is_of(const struct kernel_lock *k, const struct file_place *p)
{
    (void)k;
    (void)p;
    return 0;
}

int hf__file_proc_place_of_fd(int fd, struct file_place *out)
{
    (void)fd;
    (void)out;
    return 0;
}

int hf__file_proc_place_of_path(const char *path, struct file_place *out)
{
    (void)path;
    (void)out;
    return 0;
}
#endif

const struct kernel_lock *hf__file_proc_find(const struct kernel_locks *k,
                                             const struct file_place *p)
{
    for (size_t i = 0; i < k->len; i++)
        if (!k->rows[i].is_waiter && row_is_of(&k->rows[i], p))
            return &k->rows[i];
    return NULL;
}

const struct kernel_lock *hf__file_proc_seek(struct backend_conn *c,
                                             struct kernel_locks *k,
                                             const struct file_place *p,
                                             const struct record *r)
{
    int is_expected =
        r->mode == RECORD_EXCLUSIVE && r->pid > 0 && !strcmp(r->boot, c->boot);
    const struct kernel_lock *found = hf__file_proc_find(k, p);
    while (!found && is_expected && k->is_paged && k->reads < READS_MAX
           && rows_add(c, k) == 0)
        found = hf__file_proc_find(k, p);
    return found;
}

int64_t hf__file_proc_waiters(const struct kernel_locks *k,
                              const struct file_place *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < k->len; i++)
        if (k->rows[i].is_waiter && row_is_of(&k->rows[i], p)) n++;
    return n;
}
