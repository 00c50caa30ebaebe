/*
 * stress_run.c: see stress_run.h.  One rule: the child does nothing before
 * exec() that may wait for a thread of the test.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "lib/rig.h"
#include "lib/stress_run.h"

#define END_MS 60000
#define ENDED_BY_TERM (128 + SIGTERM)

static int command_run(struct lab_proc *self, const void *arg)
{
    const struct stress_run *s = arg;
    (void)self;
    int fd = open(s->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) return 127;
    execv(TEST_COMMAND, (char *const *)s->words);
    return 127;
}

void stress_run_begin(struct stress_run *s, const char *url, const char *dir,
                      const char *const *words)
{
    int n = 0;
    snprintf(s->history, sizeof s->history, "%s/history", dir);
    snprintf(s->out, sizeof s->out, "%s/stress.out", dir);
    s->words[n++] = TEST_COMMAND;
    s->words[n++] = "stress";
    s->words[n++] = "--url";
    s->words[n++] = url;
    s->words[n++] = "--history";
    s->words[n++] = s->history;
    s->words[n++] = "--time";
    s->words[n++] = "10m"; /* until it is told to end */
    for (; *words; words++) {
        CHECK(n < STRESS_WORDS_MAX - 1);
        s->words[n++] = *words;
    }
    s->words[n] = NULL;
    proc_start(&s->proc, command_run, s);
}

static void out_show(const struct stress_run *s)
{
    char line[512];
    FILE *f = fopen(s->out, "re");
    while (f && fgets(line, sizeof line, f)) printf("    stress: %s", line);
    if (f) fclose(f);
}

void stress_run_end(struct stress_run *s, struct history *h)
{
    proc_signal(&s->proc, SIGTERM);
    int code = proc_wait(&s->proc, END_MS);
    if (code != ENDED_BY_TERM) {
        out_show(s);
        TEST_FAIL("stress ends with %d, not with %d", code, ENDED_BY_TERM);
    }
    if (!history_judge(s->history, h)) TEST_FAIL("%s", h->why);
    printf("    %d operations: %d acquires, %d writes accepted, %d refused, "
           "%d answers lost\n",
           h->ops, h->acquired, h->accepted, h->refused, h->unknown);
}
