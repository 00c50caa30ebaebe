/*
 * store.c: see store.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* The runners are in BUILD/bench, the modules in BUILD/module. */
void store_modules_find(void)
{
    char path[4096];
    const char rest[] = "/../module";

    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(rest));
    if (n < 0) return;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash) return;
    memcpy(slash, rest, sizeof(rest));
    setenv("HOLDFAST_MODULE_PATH", path, 0);
}

void store_url(char out[STORE_URL_MAX], const char *url, int64_t lease_ms)
{
    int is_session =
        strncmp(url, "zookeeper:", 10) == 0 || strncmp(url, "zk:", 3) == 0;
    int n;

    if (!is_session || strstr(url, "session="))
        n = snprintf(out, STORE_URL_MAX, "%s", url);
    else
        n = snprintf(out, STORE_URL_MAX, "%s%csession=%" PRId64 "ms", url,
                     strchr(url, '?') ? '&' : '?', 2 * lease_ms);
    if (n < 0 || n >= STORE_URL_MAX) fail("url=%s: too long", url);
}
