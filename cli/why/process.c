/*
 * why/process.c: whether the process that holds a lock still lives.
 *
 * Only a process of this host can be looked at.  A pid is worth little by
 * itself: one that is younger than the hold belongs to another process.
 */
#include "common/duration.h"
#include "why/why.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AGE_ERROR_MS 2000 /* clocks and ticks are rounded */

static int host_is_ours(const char *host)
{
    char here[HF_HOST_MAX] = "";
    if (gethostname(here, sizeof(here) - 1) != 0) return 0;
    return strcmp(here, host) == 0;
}

/* The state letter and the age of a process by /proc; 0, or -1. */
static int stat_read(int64_t pid, char *state, int64_t *age_ms)
{
    char path[64], line[1024];
    unsigned long long start = 0;
    long ticks = sysconf(_SC_CLK_TCK);
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    char *got = fgets(line, sizeof(line), f);
    (void)fclose(f);
    /* The program's name, in brackets, may hold brackets and blanks. */
    char *p = got ? strrchr(line, ')') : NULL;
    if (!p || !p[1] || ticks <= 0) return -1;
    *state = p[2];
    /* The letter is field 3, when it began is field 22: proc(5). */
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    if (!p) return -1;
    start = strtoull(p + 1, NULL, 10);
    *age_ms = clock_ms() - (int64_t)(start * 1000 / (unsigned long long)ticks);
    return 0;
}

enum process process_look(const struct hf_info *info)
{
    char state = 'R';
    int64_t age_ms = INT64_MAX;
    if (info->pid <= 0 || info->detached || !info->host[0])
        return PROCESS_UNKNOWN;
    if (!host_is_ours(info->host)) return PROCESS_ELSEWHERE;
    if (kill((pid_t)info->pid, 0) != 0 && errno == ESRCH) return PROCESS_GONE;
    if (stat_read(info->pid, &state, &age_ms) != 0) return PROCESS_ALIVE;
    if (state == 'Z' || state == 'X') return PROCESS_GONE;
    if (info->since_ms > 0
        && age_ms + AGE_ERROR_MS < info->now_ms - info->since_ms)
        return PROCESS_GONE;
    return state == 'T' || state == 't' ? PROCESS_STOPPED : PROCESS_ALIVE;
}

const char *process_name(enum process process)
{
    switch (process) {
    case PROCESS_ELSEWHERE:
        return "elsewhere";
    case PROCESS_ALIVE:
        return "alive";
    case PROCESS_STOPPED:
        return "stopped";
    case PROCESS_GONE:
        return "gone";
    default:
        return "unknown";
    }
}
