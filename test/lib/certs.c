/*
 * certs.c: see certs.h.  One rule: a command that fails fails the test, and
 * says with which words it was started.
 */
#include "lib/certs.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define PATHS 8

const char *certs_path(const struct lab_certs *c, const char *name)
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
    return certs_path(c, name);
}

static void openssl_run(const char *const *argv)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp("openssl", (char *const *)argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (status != 0)
        TEST_FAIL("openssl %s: status %d%s", argv[1], status,
                  status == 127 << 8 ? ": is it installed?" : "");
}

static int entry_remove(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void certs_end(void *arg)
{
    struct lab_certs *c = arg;
    if (c->dir[0]) nftw(c->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    c->dir[0] = 0;
}

static void dir_make(struct lab_certs *c)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(c->dir, sizeof c->dir, "%s/hf-certs-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(c->dir) != NULL);
}

void certs_begin(struct lab_certs *c)
{
    dir_make(c);
    test_cleanup(certs_end, c);
    certs_authority(c, "ca");
}

static struct lab_certs *shared;

static void shared_end(void)
{
    certs_end(shared);
}

void certs_begin_shared(struct lab_certs *c)
{
    dir_make(c);
    shared = c;
    atexit(shared_end);
    certs_authority(c, "ca");
}

void certs_authority(struct lab_certs *c, const char *stem)
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
    openssl_run(argv);
}

static void request_make(struct lab_certs *c, const char *stem)
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
    openssl_run(argv);
}

void certs_make(struct lab_certs *c, const char *stem, const char *authority,
                const char *names, int days)
{
    char text[160], number[16];
    request_make(c, stem);
    snprintf(text, sizeof text, "%s%s\n",
             names ? "subjectAltName=" : "basicConstraints=CA:FALSE",
             names ? names : "");
    certs_write(c, "names", text, 0600);
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
                                certs_path(c, "names"),
                                "-out",
                                path_of(c, stem, "crt"),
                                NULL};
    openssl_run(argv);
}

void certs_lock_key(struct lab_certs *c, const char *stem, const char *to,
                    const char *password)
{
    certs_write(c, "words", password, 0600);
    char source[300];
    snprintf(source, sizeof source, "file:%s", certs_path(c, "words"));
    const char *const argv[] = {
        "openssl",  "pkey", "-in",  path_of(c, stem, "key"), "-aes256",
        "-passout", source, "-out", path_of(c, to, "key"),   NULL};
    openssl_run(argv);
}

void certs_write(struct lab_certs *c, const char *name, const char *text,
                 unsigned mode)
{
    const char *path = certs_path(c, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    size_t len = strlen(text);
    CHECK(fd >= 0);
    CHECK(write(fd, text, len) == (ssize_t)len);
    CHECK(fchmod(fd, (mode_t)mode) == 0);
    close(fd);
}

void certs_replace(struct lab_certs *c, const char *from, const char *to)
{
    CHECK(rename(certs_path(c, from), certs_path(c, to)) == 0);
}
