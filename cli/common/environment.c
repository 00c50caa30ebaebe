/*
 * common/environment.c: the environment variables.  Two rules: a program with
 * more rights than its user (set-user-id) ignores them; and a command that
 * holdfast runs finds no password and no ticket among them.
 */
#include "common/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

/* As src/sys/env.c has it, which only the library sees. */
static int is_privileged(void)
{
#if defined(__linux__)
    return getauxval(AT_SECURE) != 0;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__)        \
    || defined(__OpenBSD__) || defined(__DragonFly__) || defined(__sun)
    return issetugid() != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

const char *environment_get(const char *name)
{
    const char *value = is_privileged() ? NULL : getenv(name);
    return value && value[0] ? value : NULL;
}

int environment_is_empty(const char *name)
{
    const char *value = is_privileged() ? NULL : getenv(name);
    return value && !value[0];
}

void environment_number(const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, value);
    setenv(name, text, 1);
}

void environment_clean(const char *url)
{
    static const char *const secrets[] = {
        "HOLDFAST_PASSWORD", "HOLDFAST_SENTINEL_PASSWORD", "HOLDFAST_TICKET"};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        unsetenv(secrets[i]);
    setenv("HOLDFAST_URL", url, 1);
}
