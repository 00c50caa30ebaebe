/*
 * play/run.h: the two runs of a scene, and their verdicts.  One rule: a run is
 * a process of its own, whose servers and clients end with it, and it leaves
 * its record in memory that is shared with the command.
 */
#ifndef HOLDFAST_CLI_PLAY_RUN_H
#define HOLDFAST_CLI_PLAY_RUN_H

#include "play/play.h"

enum way { WAY_NAIVE, WAY_HOLDFAST, WAYS };

struct play {
    const char *name;
    const struct scene *scene;
    enum way way;
    int64_t speed; /* percent */
    uint64_t seed; /* and state of play_choose() */
    int is_json;
    int is_quiet;
    struct record record;
    unsigned faults;           /* enum fault */
    char said[EVENT_TEXT_MAX]; /* of play_says() */
    char verdict[256];         /* in one sentence */
    int64_t overlap_us;
    int accepted, refused, stale; /* writes */
    char failure[512];            /* why it could not be played; "": it was */
    int exit_code;                /* of that */
};

/* A scene and its name, by the file it is in. */
struct scene_row {
    const char *name;
    const struct scene *scene;
};
extern const struct scene_row scenes[]; /* NULL at the end */
const struct scene *scene_find(const char *name);
/* The scene with the most similar name, or NULL if none is similar. */
const char *scene_nearest(const char *name);

/* Play it in a process of its own; `p` is shared with that.  An exit code. */
int run_play(struct play *p);

/* play/judge.c: fill in what came of it. */
void run_judge(struct play *p);

/* play/live.c: a line for an event, while the run goes on. */
void live_begin(const struct play *p);
void live_event(const struct play *p, const struct event *e);
void live_verdict(const struct play *p);
/* What an event says, in words: "granted, fence 33". */
const char *event_words(const struct play *p, const struct event *e, char *out,
                        size_t size);

/* play/stage.c: what the process of a run does; it does not return. */
_Noreturn void stage_run(struct play *p);
_Noreturn void stage_fail(struct play *p, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* play/watch.c: a directory for all that servers write, which becomes $TMPDIR,
 * and a process that removes it when this one has ended, however it ended. */
int watch_begin(void);
/* Of a child: only the command itself keeps the watch awake. */
void watch_leave(void);
void watch_end(void);

#endif
