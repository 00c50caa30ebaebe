/*
 * file_proc.c: who has which file locked, from /proc/locks.  One rule: looking
 * must not take a lock, for then a look could make somebody's try fail.
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

#include "backend/file/file.h"

#define READ_STEP 8192
#define LINE_BYTES_MIN 32 /* shorter than any line */

void hf__file_kernel_locks_free(struct backend_conn *c, struct kernel_locks *k)
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

/* "1: FLOCK  ADVISORY  WRITE 6053 fe:00:9978108 0 EOF".  1 if it is one of
 * those that matter; a line with "->" is somebody who waits. */
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
    k->is_bell = !strcmp(kind, "OFDLCK");
    return k->is_bell ? start == BELL_OFFSET : !strcmp(kind, "FLOCK");
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

void hf__file_kernel_locks_read(struct backend_conn *c,
                                struct kernel_locks *out)
{
    size_t len;
    *out = (struct kernel_locks){0};
    char *text = file_slurp(c, "/proc/locks", &len);
    if (!text) return;
    out->rows = hf__alloc(c->env->alloc,
                          (len / LINE_BYTES_MIN + 1) * sizeof *out->rows);
    for (char *line = text, *end; out->rows && *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        if (out->len < len / LINE_BYTES_MIN + 1
            && line_parse(line, &out->rows[out->len]))
            out->len++;
    }
    out->is_complete = out->rows && namespace_is_first();
    hf__free(c->env->alloc, text);
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

int hf__file_place_of_fd(int fd, struct file_place *out)
{
    struct stat st;
    struct statfs fs;
    if (fd < 0 || fstat(fd, &st) || fstatfs(fd, &fs)) return 0;
    place_set(&st, fs.f_type, out);
    return 1;
}

int hf__file_place_of_path(const char *path, struct file_place *out)
{
    struct stat st;
    struct statfs fs;
    if (stat(path, &st) || statfs(path, &fs)) return 0;
    place_set(&st, fs.f_type, out);
    return 1;
}
#else
void hf__file_kernel_locks_read(struct backend_conn *c,
                                struct kernel_locks *out)
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

int hf__file_place_of_fd(int fd, struct file_place *out)
{
    (void)fd;
    (void)out;
    return 0;
}

int hf__file_place_of_path(const char *path, struct file_place *out)
{
    (void)path;
    (void)out;
    return 0;
}
#endif

const struct kernel_lock *hf__file_kernel_locks_find(
    const struct kernel_locks *k, const struct file_place *p)
{
    for (size_t i = 0; i < k->len; i++)
        if (!k->rows[i].is_bell && row_is_of(&k->rows[i], p))
            return &k->rows[i];
    return NULL;
}

int64_t hf__file_kernel_locks_waiters(const struct kernel_locks *k,
                                      const struct file_place *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < k->len; i++)
        if (k->rows[i].is_bell && row_is_of(&k->rows[i], p)) n++;
    return n;
}
