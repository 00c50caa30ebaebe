/*
 * dir.c: the directory where the lock files live.  One rule: a
 * directory where flock(2) might not exclude all other processes is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/dir.h"
#include "base/error.h"
#include "sys/disk.h"
#include "sys/env.h"

#define DIR_LEN_MAX 1024

/* Write the directory that is used when none is given; 1 if it is our own
 * choice, which must then belong to this user. */
static int dir_default(char *out, size_t size)
{
    const char *given = hf__env("HOLDFAST_DIR");
    if (given) {
        snprintf(out, size, "%s", given);
        return 0;
    }
    if (geteuid() == 0)
        snprintf(out, size, "/var/lib/holdfast");
    else
        snprintf(out, size, "/var/tmp/holdfast-%lu", (unsigned long)geteuid());
    return 1;
}

static int dir_choose(const struct url *url, char *out, int *is_default,
                      struct hf_error *err)
{
    *is_default = 0;
    if (url->host && *url->host && strcmp(url->host, "localhost"))
        return hf__error_set(err, HF_INVALID,
                             "file://%s: a host: locks are on this one only",
                             url->host);
    if (url->path && *url->path)
        snprintf(out, DIR_LEN_MAX + 2, "%s", url->path);
    else
        *is_default = dir_default(out, DIR_LEN_MAX + 2);
    if (strlen(out) > DIR_LEN_MAX)
        return hf__error_set(err, HF_INVALID,
                             "file: directory longer than %d bytes",
                             DIR_LEN_MAX);
    if (out[0] != '/')
        return hf__error_set(err, HF_INVALID,
                             "file:%.100s: not an absolute directory", out);
    return HF_OK;
}

static int dir_refuse(const char *dir, int sys_errno, struct hf_error *err)
{
    int status = HF_DENIED;
    if (sys_errno == EMFILE || sys_errno == ENFILE) status = HF_UNAVAILABLE;
    if (sys_errno == ENOENT || sys_errno == ENOTDIR) status = HF_INVALID;
    return hf__error_errno(err, status, sys_errno, "file:%s: lock directory",
                           dir);
}

/* It is open: is it fit for locks? */
static int dir_check(struct backend_conn *c, struct hf_error *err)
{
    struct stat st;
    if (fstat(c->dir_fd, &st)) return dir_refuse(c->dir, errno, err);
    if (c->is_default_dir && st.st_uid != geteuid())
        return hf__error_set(err, HF_DENIED,
                             "file:%s: lock directory: belongs to user %lu",
                             c->dir, (unsigned long)st.st_uid);
    if (faccessat(c->dir_fd, ".", X_OK, AT_EACCESS))
        return dir_refuse(c->dir, errno, err);
    c->write_errno = 0;
    if (faccessat(c->dir_fd, ".", W_OK, AT_EACCESS)) c->write_errno = errno;
    if (!c->allow_network && hf__disk_is_network(c->dir_fd))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "file:%s: a network file system: its locks may "
                             "not reach other hosts (network=allow overrides)",
                             c->dir);
    c->file_mode = st.st_mode & (S_IWGRP | S_IWOTH) ? 0666 : 0600;
    c->dir_id = (struct file_id){.dev = st.st_dev, .ino = st.st_ino};
    return HF_OK;
}

static int dir_network_option(struct backend_conn *c, const struct url *url,
                              struct hf_error *err)
{
    const char *value = hf__url_option(url, "network");
    c->allow_network = value && !strcmp(value, "allow");
    if (!value || c->allow_network || !strcmp(value, "refuse")) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "file: network=%.60s: not allow or refuse", value);
}

static int dir_slash_option(struct backend_conn *c, const struct url *url,
                            struct hf_error *err)
{
    const char *value = hf__url_option(url, "slash");
    c->is_slash_plain = value && !strcmp(value, "name");
    if (!value || c->is_slash_plain || !strcmp(value, "path")) return HF_OK;
    return hf__error_set(err, HF_INVALID, "file: slash=%.60s: not path or name",
                         value);
}

/* Open it, made if it is not there.  The fd, or -1 with errno. */
static int dir_reach(const struct backend_conn *c)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    if (c->is_default_dir) flags |= O_NOFOLLOW;
    int fd = open(c->dir, flags);
    if (fd >= 0 || errno != ENOENT) return fd;
    if (mkdir(c->dir, geteuid() == 0 ? 0755 : 0700) && errno != EEXIST)
        return -1;
    return open(c->dir, flags);
}

int hf__file_dir_open(struct backend_conn *c, const struct url *url,
                      struct hf_error *err)
{
    char dir[DIR_LEN_MAX + 2];
    int status = dir_network_option(c, url, err);
    if (status == HF_OK) status = dir_slash_option(c, url, err);
    if (status == HF_OK) status = dir_choose(url, dir, &c->is_default_dir, err);
    if (status != HF_OK) return status;
    c->dir = hf__strdup(c->env->alloc, dir);
    if (!c->dir) return hf__error_set(err, HF_NOMEM, "file:%s: no memory", dir);
    c->dir_fd = dir_reach(c);
    if (c->dir_fd < 0) return dir_refuse(dir, errno, err);
    return dir_check(c, err);
}

/* Asked again each time: the directory's mode may have been changed. */
int hf__file_dir_check_write(struct backend_conn *c)
{
    if (!c->write_errno) return HF_OK;
    c->write_errno = 0;
    if (!faccessat(c->dir_fd, ".", W_OK, AT_EACCESS)) return HF_OK;
    c->write_errno = errno;
    return dir_refuse(c->dir, c->write_errno, &c->err);
}

int hf__file_dir_is_replaced(const struct backend_conn *c)
{
    struct stat st;
    return !stat(c->dir, &st)
           && (st.st_dev != c->dir_id.dev || st.st_ino != c->dir_id.ino);
}

int hf__file_dir_reopen(struct backend_conn *c)
{
    struct hf_error err;
    int old_fd = c->dir_fd, fd = dir_reach(c);
    if (fd < 0) return -1;
    c->dir_fd = fd;
    if (dir_check(c, &err) != HF_OK) {
        c->dir_fd = old_fd;
        close(fd);
        return -1;
    }
    close(old_fd);
    return 0;
}

void hf__file_dir_follow(struct backend_conn *c)
{
    if (hf__file_dir_is_replaced(c)) (void)hf__file_dir_reopen(c);
}
