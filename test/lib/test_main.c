/*
 * test_main.c: runs what TEST() registered.  One rule: the exit status is 0
 * only if at least one test ran and none failed; it is 77 if all that ran were
 * skipped.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define CLEANUPS_MAX 128
#define ARGS_MAX 32
#define JOBS_MAX 8
#define EXIT_SKIPPED 77 /* SKIP_RETURN_CODE in cmake/tests.cmake */

enum outcome { PASSED, FAILED, SKIPPED }; /* longjmp() cannot give the first */

static struct test_case *first, *last;
static jmp_buf out_of_test;
static struct {
    void (*fn)(void *);
    void *arg;
} cleanups[CLEANUPS_MAX];
static int cleanups_len;
static const char *args[ARGS_MAX];
static int args_len;

void test_register(struct test_case *t)
{
    if (last)
        last->next = t;
    else
        first = t;
    last = t;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    printf("    %s:%d: ", file, line);
    vprintf(format, ap);
    printf("\n");
    va_end(ap);
    fflush(stdout);
    longjmp(out_of_test, FAILED);
}

void test_skip(const char *format, ...)
{
    const char *ci = getenv("CI");
    va_list ap;
    va_start(ap, format);
    printf("    %s: ", ci && *ci ? "cannot be skipped, CI is set" : "skipped");
    vprintf(format, ap);
    printf("\n");
    va_end(ap);
    fflush(stdout);
    longjmp(out_of_test, ci && *ci ? FAILED : SKIPPED);
}

void test_cleanup(void (*fn)(void *), void *arg)
{
    if (cleanups_len == CLEANUPS_MAX) abort();
    cleanups[cleanups_len].fn = fn;
    cleanups[cleanups_len++].arg = arg;
}

const char *test_arg(const char *key)
{
    size_t len = strlen(key);
    for (int i = 0; i < args_len; i++)
        if (!strncmp(args[i], key, len) && args[i][len] == '=')
            return args[i] + len + 1;
    return NULL;
}

int test_same_text(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Does `full` have one of these parts, which are separated by commas? */
static int is_named_in(const char *full, const char *parts)
{
    char part[128];
    for (int len; *parts; parts += len + (parts[len] == ',')) {
        len = (int)strcspn(parts, ",");
        snprintf(part, sizeof part, "%.*s", len, parts);
        if (len > 0 && strstr(full, part)) return 1;
    }
    return 0;
}

static int is_wanted(const struct test_case *t)
{
    char full[512];
    int names = 0;
    const char *without = test_arg("not");
    snprintf(full, sizeof full, "%s.%s", t->suite, t->name);
    if (without && is_named_in(full, without)) return 0;
    for (int i = 0; i < args_len; i++) {
        if (strchr(args[i], '=')) continue;
        names++;
        if (strstr(full, args[i])) return 1;
    }
    return names == 0;
}

static enum outcome run_one(struct test_case *t)
{
    volatile enum outcome how = PASSED;
    printf("%s.%s\n", t->suite, t->name);
    fflush(stdout);
    int jumped = setjmp(out_of_test);
    if (jumped == 0)
        t->run();
    else
        how = (enum outcome)jumped;
    while (cleanups_len > 0) {
        cleanups_len--;
        cleanups[cleanups_len].fn(cleanups[cleanups_len].arg);
    }
    if (how == FAILED) printf("    FAILED %s.%s\n", t->suite, t->name);
    return how;
}

struct score {
    int of[3]; /* by enum outcome */
};

/* One test after the other, each of which no other process has taken: `taken`
 * counts those that were, and is shared. */
static struct score run_part(atomic_int *taken)
{
    struct score s = {{0}};
    int number = 0, mine = atomic_fetch_add(taken, 1);
    for (struct test_case *t = first; t; t = t->next) {
        if (!is_wanted(t) || number++ != mine) continue;
        s.of[run_one(t)]++;
        mine = atomic_fetch_add(taken, 1);
    }
    return s;
}

struct job {
    pid_t pid;
    FILE *said;
    int score[2]; /* a pipe */
};

static void job_begin(struct job *j, atomic_int *taken)
{
    j->said = tmpfile();
    if (!j->said || pipe(j->score) != 0) abort();
    fflush(stdout);
    j->pid = fork();
    if (j->pid < 0) abort();
    if (j->pid > 0) {
        close(j->score[1]);
        return;
    }
    if (dup2(fileno(j->said), STDOUT_FILENO) < 0) abort();
    struct score s = run_part(taken);
    fflush(stdout);
    if (write(j->score[1], &s, sizeof s) != sizeof s) abort();
    exit(0);
}

/* One that died, or did not come to its end, has failed. */
static struct score job_end(struct job *j)
{
    struct score s = {{0}};
    int status = -1, c;
    int is_told = read(j->score[0], &s, sizeof s) == sizeof s;
    close(j->score[0]);
    waitpid(j->pid, &status, 0);
    rewind(j->said);
    while ((c = getc(j->said)) != EOF) putchar(c);
    fclose(j->said);
    if (is_told && status == 0) return s;
    printf("    FAILED: the process of these ended with 0x%x\n",
           (unsigned)status);
    s.of[FAILED]++;
    return s;
}

/* Most tests wait most of the time: "jobs=4" runs four at once, each in a
 * process with servers of its own.  A process that is free takes the next. */
static struct score run_all(int jobs)
{
    struct job all[JOBS_MAX];
    struct score sum = {{0}};
    atomic_int *taken = mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED) abort();
    atomic_init(taken, 0);
    if (jobs <= 1) return run_part(taken);
    for (int i = 0; i < jobs; i++) job_begin(&all[i], taken);
    for (int i = 0; i < jobs; i++) {
        struct score s = job_end(&all[i]);
        for (int k = 0; k < 3; k++) sum.of[k] += s.of[k];
    }
    return sum;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && args_len < ARGS_MAX; i++)
        args[args_len++] = argv[i];
    const char *given = test_arg("jobs");
    long jobs = given ? strtol(given, NULL, 10) : 1;
    if (jobs < 1 || jobs > JOBS_MAX) {
        printf("jobs=%s: 1 to %d\n", given, JOBS_MAX);
        return 1;
    }
    struct score s = run_all((int)jobs);
    printf("%d passed, %d failed", s.of[PASSED], s.of[FAILED]);
    if (s.of[SKIPPED] > 0) printf(", %d skipped", s.of[SKIPPED]);
    printf("\n");
    if (s.of[FAILED] > 0) return 1;
    if (s.of[PASSED] > 0) return 0;
    return s.of[SKIPPED] > 0 ? EXIT_SKIPPED : 1;
}
