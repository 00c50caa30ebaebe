/*
 * env.c: see env.h.  One rule: nothing else in the library reads a variable.
 */
#include "sys/env.h"

#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

/* Does the program have rights that its user does not have? */
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

const char *hf__env(const char *name)
{
    const char *value = is_privileged() ? NULL : getenv(name);
    return value && value[0] ? value : NULL;
}
