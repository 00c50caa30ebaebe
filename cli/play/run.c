/*
 * play/run.c: one run, in a process of its own; and the scenes by their names.
 */
#include "play/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/say.h"
#include "scenes.h"

const struct scene_row scenes[] = {SCENE_ROWS};

const struct scene *scene_find(const char *name)
{
    for (int i = 0; scenes[i].name; i++)
        if (strcmp(scenes[i].name, name) == 0) return scenes[i].scene;
    return NULL;
}

#define NAME_MAX_HERE 40

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* The edit distance (Levenshtein) of two names. */
static int distance(const char *a, const char *b)
{
    int row[NAME_MAX_HERE + 1];
    int b_len = (int)strnlen(b, NAME_MAX_HERE);
    for (int j = 0; j <= b_len; j++) row[j] = j;
    for (int i = 0; a[i] && i < NAME_MAX_HERE; i++) {
        int corner = row[0];
        row[0] = i + 1;
        for (int j = 1; j <= b_len; j++) {
            int cost = corner + (a[i] != b[j - 1]);
            corner = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, cost);
        }
    }
    return row[b_len];
}

const char *scene_nearest(const char *name)
{
    const char *nearest = NULL;
    int best = NAME_MAX_HERE;
    for (int i = 0; scenes[i].name; i++) {
        /* A word of the name is as good as the whole. */
        int d =
            strstr(scenes[i].name, name) ? 0 : distance(name, scenes[i].name);
        if (d < best) {
            best = d;
            nearest = scenes[i].name;
        }
    }
    return best <= (int)(strlen(name) + 2) / 2 ? nearest : NULL;
}

static int run_await(struct play *p, pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    snprintf(p->failure, sizeof(p->failure), "the run was ended by signal %d",
             WTERMSIG(status));
    return EXIT_BUG;
}

int run_play(struct play *p)
{
    live_begin(p);
    (void)fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) stage_run(p);
    if (pid < 0)
        snprintf(p->failure, sizeof(p->failure), "cannot fork: %s",
                 strerror(errno));
    p->exit_code = pid < 0 ? EXIT_BUG : run_await(p, pid);
    if (p->exit_code) {
        say_error("lab: %s: %s", p->name, p->failure);
        return p->exit_code;
    }
    run_judge(p);
    live_verdict(p);
    return EXIT_OK;
}
