/*
 * run/process/tree.c: every descendant of a process, by way of /proc.
 *
 * The list is a snapshot: what is forked meanwhile is missed, so a caller that
 * wants all of them dead repeats until there are none.
 */
#include "run/process/process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TREE_MAX 4096

/* Append the pids in one /proc/PID/task/TID/children. */
static size_t children_read(const char *path, pid_t *out, size_t len,
                            size_t out_max)
{
    char buf[4096];
    size_t kept = 0; /* of a number cut by the end of the buffer */
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return len;
    while ((n = read(fd, buf + kept, sizeof(buf) - 1 - kept)) > 0) {
        size_t end = kept + (size_t)n;
        char *p = buf, *stop;
        buf[end] = '\0';
        while (len < out_max && (stop = strchr(p, ' ')) != NULL) {
            long pid = strtol(p, NULL, 10);
            if (pid > 0) out[len++] = (pid_t)pid;
            p = stop + 1;
        }
        kept = end - (size_t)(p - buf);
        if (len >= out_max || kept >= sizeof(buf) / 2) break;
        memmove(buf, p, kept);
    }
    close(fd);
    return len;
}

/* Append the children of all threads of `pid`. */
static size_t children_list(pid_t pid, pid_t *out, size_t len, size_t out_max)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (!tasks) return len;
    struct dirent *task;
    while ((task = readdir(tasks)) != NULL) {
        if (!isdigit((unsigned char)task->d_name[0])) continue;
        snprintf(path, sizeof(path), "/proc/%ld/task/%.20s/children", (long)pid,
                 task->d_name);
        len = children_read(path, out, len, out_max);
    }
    closedir(tasks);
    return len;
}

size_t tree_list(pid_t root, pid_t *out, size_t out_max)
{
    size_t len = children_list(root, out, 0, out_max);
    for (size_t i = 0; i < len; i++)
        len = children_list(out[i], out, len, out_max);
    return len;
}

void tree_signal(pid_t root, int sig)
{
    static pid_t pids[TREE_MAX];
    size_t len = tree_list(root, pids, TREE_MAX);
    for (size_t i = 0; i < len; i++) {
        if (pids[i] != getpid()) kill(pids[i], sig);
    }
    /* A stopped process takes notice of TERM only when it goes on. */
    for (size_t i = 0; sig == SIGTERM && i < len; i++) {
        if (pids[i] != getpid()) kill(pids[i], SIGCONT);
    }
}
