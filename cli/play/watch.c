/*
 * play/watch.c: see play/run.h.  The servers and clients of a run are killed by
 * the kernel when their parent ends; their files are not.  So a process waits,
 * in a session of its own, until the pipe to the command is closed, which also
 * kill -9 does, and removes the directory.
 */
#include "play/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/say.h"
#include "lab/folder.h"
#include "lab/lab.h"
#include "lab/wait.h"

#define TRIES 500 /* ten seconds: a server that is being killed may write */

static struct {
    char folder[160];
    int pipe_fd;
    pid_t pid;
} watch = {"", -1, 0};

static _Noreturn void watch_run(int pipe_fd)
{
    char c;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    for (int fd = 0; fd <= 2; fd++) (void)dup2(null_fd, fd);
    while (read(pipe_fd, &c, 1) < 0 && errno == EINTR) continue;
    for (int i = 0; i < TRIES && access(watch.folder, F_OK) == 0; i++) {
        lab_folder_clear(watch.folder);
        lab_pause_ms(20);
    }
    _exit(0);
}

int watch_begin(void)
{
    int ends[2];
    if (lab_folder_make(watch.folder, sizeof(watch.folder), "play") < 0
        || chmod(watch.folder, 0711) != 0 /* a database is another user */
        || pipe2(ends, O_CLOEXEC) != 0) {
        say_error("lab: %s", watch.folder[0] ? strerror(errno) : lab_error());
        return EXIT_BUG;
    }
    watch.pid = fork();
    if (watch.pid == 0) {
        close(ends[1]);
        watch_run(ends[0]);
    }
    close(ends[0]);
    watch.pipe_fd = ends[1];
    if (watch.pid < 0 || setenv("TMPDIR", watch.folder, 1) != 0) {
        say_error("lab: cannot begin: out of processes or memory");
        watch_end();
        return EXIT_BUG;
    }
    return EXIT_OK;
}

void watch_leave(void)
{
    close(watch.pipe_fd);
}

void watch_end(void)
{
    close(watch.pipe_fd);
    if (watch.pid > 0)
        while (waitpid(watch.pid, NULL, 0) < 0 && errno == EINTR) continue;
    else
        lab_folder_remove(watch.folder);
    watch.pid = 0;
}
