/*
 * certs.c: see certs.h.  One rule: a command that fails says with which word it
 * was started.
 */
#include "lab/certs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/folder.h"
#include "lab/own.h"

#define PATHS 8
#define EXIT_MISSING 127

const char *lab_certs_path(const struct lab_certs *c, const char *name)
{
    static char paths[PATHS][256];
    static int next;
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof paths[0], "%s/%s", c->dir, name);
    return path;
}

static const char *path_of(const struct lab_certs *c, const char *stem,
                           const char *kind)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", stem, kind);
    return lab_certs_path(c, name);
}

static _Noreturn void openssl_exec(const char *const *argv)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++) dup2(null, fd);
    execvp(argv[0], (char *const *)argv);
    _exit(EXIT_MISSING);
}

static int openssl_run(const char *const *argv)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) openssl_exec(argv);
    if (pid < 0)
        return lab__fail("openssl: cannot be forked: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (status == 0) return LAB_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_MISSING)
        return lab__lack("openssl: is not installed: no such program in PATH");
    return lab__fail("openssl %s: failed: wait status %d", argv[1], status);
}

/* ---- life --------------------------------------------------------------- */

static void certs_stop(void *arg)
{
    lab_certs_stop(arg);
}

void lab_certs_stop(struct lab_certs *c)
{
    lab__life_end(certs_stop, c);
    lab_folder_remove(c->dir);
}

int lab_certs_start(struct lab_certs *c)
{
    int status = lab_folder_make(c->dir, sizeof c->dir, "certs");
    if (status == LAB_OK) status = lab__life_begin(certs_stop, c);
    if (status == LAB_OK) status = lab_certs_authority(c, "ca");
    if (status != LAB_OK) lab_certs_stop(c);
    return status;
}

/* ---- keys and certificates ---------------------------------------------- */

int lab_certs_authority(struct lab_certs *c, const char *stem)
{
    char subject[80];
    snprintf(subject, sizeof subject, "/CN=authority %s", stem);
    const char *const argv[] = {"openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:prime256v1",
                                "-nodes",
                                "-days",
                                "30",
                                "-subj",
                                subject,
                                "-keyout",
                                path_of(c, stem, "key"),
                                "-out",
                                path_of(c, stem, "crt"),
                                NULL};
    return openssl_run(argv);
}

static int request_make(struct lab_certs *c, const char *stem)
{
    char subject[80];
    snprintf(subject, sizeof subject, "/CN=%s", stem);
    const char *const argv[] = {"openssl",
                                "req",
                                "-new",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:prime256v1",
                                "-nodes",
                                "-subj",
                                subject,
                                "-keyout",
                                path_of(c, stem, "key"),
                                "-out",
                                path_of(c, stem, "csr"),
                                NULL};
    return openssl_run(argv);
}

int lab_certs_make(struct lab_certs *c, const char *stem, const char *authority,
                   const char *names, int days)
{
    char text[160], number[16];
    int status = request_make(c, stem);
    if (status != LAB_OK) return status;
    snprintf(text, sizeof text, "%s%s\n",
             names ? "subjectAltName=" : "basicConstraints=CA:FALSE",
             names ? names : "");
    status = lab_certs_write(c, "names", text, 0600);
    if (status != LAB_OK) return status;
    snprintf(number, sizeof number, "%d", days);
    const char *const argv[] = {"openssl",
                                "x509",
                                "-req",
                                "-in",
                                path_of(c, stem, "csr"),
                                "-CA",
                                path_of(c, authority, "crt"),
                                "-CAkey",
                                path_of(c, authority, "key"),
                                "-CAcreateserial",
                                "-days",
                                number,
                                "-extfile",
                                lab_certs_path(c, "names"),
                                "-out",
                                path_of(c, stem, "crt"),
                                NULL};
    return openssl_run(argv);
}

int lab_certs_lock_key(struct lab_certs *c, const char *stem, const char *to,
                       const char *password)
{
    int status = lab_certs_write(c, "words", password, 0600);
    if (status != LAB_OK) return status;
    char source[300];
    snprintf(source, sizeof source, "file:%s", lab_certs_path(c, "words"));
    const char *const argv[] = {
        "openssl",  "pkey", "-in",  path_of(c, stem, "key"), "-aes256",
        "-passout", source, "-out", path_of(c, to, "key"),   NULL};
    return openssl_run(argv);
}

int lab_certs_write(struct lab_certs *c, const char *name, const char *text,
                    unsigned mode)
{
    const char *path = lab_certs_path(c, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t len = strlen(text);
    int is_written = fd >= 0 && write(fd, text, len) == (ssize_t)len
                     && fchmod(fd, (mode_t)mode) == 0;
    if (!is_written)
        lab__fail("%s: cannot be written: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return is_written ? LAB_OK : LAB_FAILED;
}

int lab_certs_replace(struct lab_certs *c, const char *from, const char *to)
{
    if (rename(lab_certs_path(c, from), lab_certs_path(c, to)) == 0)
        return LAB_OK;
    return lab__fail("%s/%s: cannot become %s: %s", c->dir, from, to,
                     strerror(errno));
}
