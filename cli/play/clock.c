/*
 * play/clock.c: stores whose wall clocks can be set.  One rule: a clock that
 * cannot be set ends the run, for its scene would show nothing.
 */
#include "play/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/environment.h"
#include "common/exit.h"
#include "lab/lab.h"
#include "play/clock_shim.h"

#define LATE_S 30 /* an answer on a busy machine */

/* A new file: the old one may be in use, by a server that would crash. */
static int shim_write(const char *path)
{
    (void)remove(path);
    FILE *out = fopen(path, "we");
    size_t len = out ? fwrite(clock_shim, 1, clock_shim_len, out) : 0;
    if (out && fclose(out) != 0) len = 0;
    return len == clock_shim_len && chmod(path, 0755) == 0;
}

int stage_clock(struct stock *s)
{
    char path[200];
    const char *folder = environment_get("TMPDIR"); /* watch_begin() */
    snprintf(path, sizeof(path), "%s/clock_shim.so", folder ? folder : "/tmp");
    if (!shim_write(path))
        stage_fail(stage.play, EXIT_CONFIG, "%s: cannot be written", path);
    int status = lab_clock_start(&s->clock, path);
    s->redis.env = s->clock.env;
    return status;
}

/* The first line of TIME: seconds since 1970. */
static int64_t time_s(struct play *p, int store)
{
    return strtoll(store_says(p, store, "TIME"), NULL, 10);
}

void store_jumps(struct play *p, int store, int minutes)
{
    char text[EVENT_TEXT_MAX];
    int64_t before_s = time_s(p, store);
    lab_clock_jump(&stage.stores[store].clock, minutes * INT64_C(60000));
    int64_t late_s = time_s(p, store) - before_s - minutes * 60;
    if (late_s < -1 || late_s > LATE_S)
        stage_fail(p, EXIT_BUG,
                   "the clock of a server cannot be set: LD_PRELOAD has no "
                   "effect on it");
    snprintf(text, sizeof(text), "its clock jumps %d minutes", minutes);
    store_notes(p, store, text);
}
