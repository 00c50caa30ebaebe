/*
 * test_main.c: runs what TEST() registered.  One rule: the exit status is 0
 * only if at least one test ran and none failed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#define CLEANUPS_MAX 128
#define ARGS_MAX 32

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
    longjmp(out_of_test, 1);
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

static int is_wanted(const struct test_case *t)
{
    char full[512];
    int names = 0;
    snprintf(full, sizeof full, "%s.%s", t->suite, t->name);
    for (int i = 0; i < args_len; i++) {
        if (strchr(args[i], '=')) continue;
        names++;
        if (strstr(full, args[i])) return 1;
    }
    return names == 0;
}

static int run_one(struct test_case *t)
{
    volatile int failed = 0;
    printf("%s.%s\n", t->suite, t->name);
    fflush(stdout);
    if (setjmp(out_of_test) == 0)
        t->run();
    else
        failed = 1;
    while (cleanups_len > 0) {
        cleanups_len--;
        cleanups[cleanups_len].fn(cleanups[cleanups_len].arg);
    }
    if (failed) printf("    FAILED %s.%s\n", t->suite, t->name);
    return failed;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (int i = 1; i < argc && args_len < ARGS_MAX; i++)
        args[args_len++] = argv[i];
    for (struct test_case *t = first; t; t = t->next) {
        if (!is_wanted(t)) continue;
        if (run_one(t))
            failed++;
        else
            passed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
