/*
 * dbuser.c: see dbuser.h.  One rule: the data of an empty server are made once
 * on a machine; every server starts from a copy.
 */
#include "lab/dbuser.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/folder.h"
#include "lab/own.h"
#include "lab/wait.h"

#define EXIT_MISSING 127
#define LOOK_MS 5

void lab_dbuser_program(char *path, size_t size, const char *pattern,
                        const char *otherwise)
{
    glob_t found;
    int is_found = glob(pattern, 0, NULL, &found) == 0;
    snprintf(path, size, "%s",
             is_found ? found.gl_pathv[found.gl_pathc - 1] : otherwise);
    if (is_found) globfree(&found);
}

/* The user that runs the server: PostgreSQL refuses to run as root.  NULL:
 * there is none. */
static const struct passwd *user_of_server(void)
{
    if (geteuid() != 0) return getpwuid(geteuid());
    const struct passwd *user = getpwnam("postgres");
    return user ? user : getpwnam("nobody");
}

static void log_path(const char *dir, char path[LAB_DBUSER_PATH_MAX])
{
    snprintf(path, LAB_DBUSER_PATH_MAX, "%s/server.log", dir);
}

void lab_dbuser_log(const char *dir, char *text, size_t size)
{
    char path[LAB_DBUSER_PATH_MAX];
    size_t len = 0;
    log_path(dir, path);
    FILE *in = fopen(path, "re");
    if (in && fseek(in, -(long)(size - 1), SEEK_END) != 0) rewind(in);
    if (in) len = fread(text, 1, size - 1, in);
    if (in) fclose(in);
    text[len] = '\0';
}

static void output_to_log(const char *dir)
{
    char path[LAB_DBUSER_PATH_MAX];
    log_path(dir, path);
    int null = open("/dev/null", O_RDWR);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (null >= 0) dup2(null, 0);
    if (log >= 0) dup2(log, 1);
    if (log >= 0) dup2(log, 2);
    if (null > 2) close(null);
    if (log > 2) close(log);
}

_Noreturn void lab_dbuser_exec(const char *dir, const char *const *argv,
                               int at_end)
{
    const struct passwd *user = user_of_server();
    if (chdir(dir) != 0) _exit(1);
    if (geteuid() == 0
        && (!user || setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0
            || setuid(user->pw_uid) != 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, at_end); /* forgotten by a change of user */
    output_to_log(dir);
    execvp(argv[0], (char *const *)argv);
    _exit(EXIT_MISSING);
}

/* Run a program to its end: its exit status. */
static int program_run(const char *dir, const char *const *argv)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) lab_dbuser_exec(dir, argv, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int program_must(const char *dir, const char *engine,
                        const char *const *argv)
{
    char log[LAB_ERROR_MAX - 400];
    int status = program_run(dir, argv);
    if (status == 0) return LAB_OK;
    if (status == EXIT_MISSING)
        return lab__lack("%s: is not installed: no such program: %s", engine,
                         argv[0]);
    lab_dbuser_log(dir, log, sizeof log);
    return lab__fail("%s: failed: %s", argv[0], log);
}

static int folder_give(const char *path)
{
    const struct passwd *user = user_of_server();
    if (!user)
        return lab__lack("no user `postgres` or `nobody`, and a server does "
                         "not run as root");
    if (geteuid() != 0 || chown(path, user->pw_uid, user->pw_gid) == 0)
        return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

/* Is it a directory of that user's, and not put there by another? */
static int is_own_folder(const char *path)
{
    struct stat st;
    const struct passwd *user = user_of_server();
    return user && lstat(path, &st) == 0 && S_ISDIR(st.st_mode)
           && st.st_uid == user->pw_uid;
}

/* Where the data of an empty server are kept: by version and user. */
static void template_path(const struct lab_dbuser_data *how,
                          char path[LAB_DBUSER_PATH_MAX])
{
    const char *tmp = getenv("TMPDIR");
    const struct passwd *user = user_of_server();
    snprintf(path, LAB_DBUSER_PATH_MAX, "%.150s/hf-%.20s-%d-%ld",
             tmp ? tmp : "/tmp", how->engine, how->version,
             user ? (long)user->pw_uid : 0L);
}

/* Made beside its place and renamed, so that it is there whole or not at all.
 */
static int template_make(const struct lab_dbuser_data *how, const char *dir,
                         const char *path)
{
    char data[LAB_DBUSER_PATH_MAX];
    snprintf(data, sizeof data, "%.200s/new", dir);
    int status = program_must(dir, how->engine, how->argv);
    if (status != LAB_OK) return status;
    lab_folder_clear(path);
    if (rename(data, path) == 0) return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

static int template_need(const struct lab_dbuser_data *how, const char *dir,
                         char path[LAB_DBUSER_PATH_MAX])
{
    char lock_path[LAB_DBUSER_PATH_MAX + 8];
    int status = LAB_OK;
    template_path(how, path);
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock < 0) return lab__fail("%s: %s", lock_path, strerror(errno));
    if (flock(lock, LOCK_EX) != 0)
        status = lab__fail("%s: %s", lock_path, strerror(errno));
    if (status == LAB_OK && !is_own_folder(path))
        status = template_make(how, dir, path);
    close(lock);
    return status;
}

int lab_dbuser_data(const char *dir, const struct lab_dbuser_data *how)
{
    char template[LAB_DBUSER_PATH_MAX], data[LAB_DBUSER_PATH_MAX];
    const char *const argv[] = {"cp", "-a", template, data, NULL};
    snprintf(data, sizeof data, "%.200s/data", dir);
    int status = folder_give(dir);
    if (status == LAB_OK) status = template_need(how, dir, template);
    return status == LAB_OK ? program_must(dir, how->engine, argv) : status;
}

/* ---- a server's process ---- */

void lab_dbuser_reap(pid_t *pid)
{
    if (*pid <= 0) return;
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR) continue;
    *pid = 0;
}

int lab_dbuser_fail(const char *engine, int port, const char *dir,
                    const char *what)
{
    char log[LAB_ERROR_MAX - 200];
    lab_dbuser_log(dir, log, sizeof log);
    return lab__fail("%s on port %d: %s: its log ends with\n%s", engine, port,
                     what, log);
}

int lab_dbuser_await(const char *engine, int port, const char *dir, pid_t *pid,
                     int (*is_ready)(void *server), void *server)
{
    int64_t end_ms = lab_now_ms() + LAB_PATIENCE_MS;
    while (!is_ready(server)) {
        if (waitpid(*pid, NULL, WNOHANG) == *pid) {
            *pid = 0;
            return lab_dbuser_fail(engine, port, dir, "has ended");
        }
        if (lab_now_ms() > end_ms)
            return lab_dbuser_fail(engine, port, dir, "is not ready");
        lab_pause_ms(LOOK_MS);
    }
    return LAB_OK;
}
