/*
 * play/look.c: which client really has the lock: every server is asked every
 * few milliseconds.
 */
#include "play/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/ask.h"
#include "play/etcd.h"

static int client_lane(long number)
{
    if (number < 0 || number >= stage.play->scene->clients) return NO_LANE;
    return stage.actors[number].lane;
}

/* Jobs are run by other programs, and threads choose no number of their own:
 * these owners are known by their order. */
static int job_owner(const char *said)
{
    static char seen[CAST_MAX][80];
    if (!strchr(said, ':')) return NO_LANE;
    for (int i = 0; i < stage.play->scene->clients; i++) {
        if (!seen[i][0]) snprintf(seen[i], sizeof(seen[i]), "%.79s", said);
        if (strncmp(seen[i], said, sizeof(seen[i]) - 1) == 0)
            return stage.actors[i].lane;
    }
    return NO_LANE;
}

/* The naive way stores the client's letter; holdfast a hash with a field
 * "<client uuid>:<holder>", or a text that has this behind a first word.
 * Clients have the holders 1, 2, ... */
static int owner_of(const char *said)
{
    const struct scene *scene = stage.play->scene;
    if ((scene->has_jobs || scene->has_threads) && !play_is_naive(stage.play))
        return job_owner(said);
    if (play_is_naive(stage.play))
        return said[0] >= 'A' && said[1] == 0 ? client_lane(said[0] - 'A')
                                              : NO_LANE;
    int is_text =
        strncmp(said, "hf1:", 4) == 0 || strncmp(said, "holdfast1 ", 10) == 0;
    for (const char *at = said + 4 * is_text; (at = strchr(at, ':')); at++) {
        char *end;
        long holder = strtol(at + 1, &end, 10);
        if (end > at + 1 && (*end == '\n' || *end == 0 || is_text))
            return client_lane(holder - 1);
    }
    return NO_LANE;
}

static void redis_look(struct stock *s, char *said, size_t size)
{
    if (s->look_fd < 0) s->look_fd = lab_ask_connect(NULL, s->redis.port);
    if (s->look_fd < 0) return;
    int is_string = play_is_naive(stage.play) || stage.play->scene->has_claims;
    lab_ask_say(s->look_fd, is_string ? "GET " LOCK_NAME : "HKEYS " LOCK_NAME,
                said, size);
}

static void store_look(struct stock *s)
{
    char said[4096] = "";
    if (s->is_down) return;
    if (stage.play->scene->is_etcd)
        etcd_look(s->etcd.port, play_is_naive(stage.play), said, sizeof(said));
    else
        redis_look(s, said, sizeof(said));
    int owner = owner_of(said);
    if (owner == s->owner) return;
    s->owner = owner;
    stage_event(EVENT_HAS, s->lane, owner, "");
}

void stage_look(void)
{
    for (int i = 0; i < stage.stores_len; i++)
        if (stage.stores[i].redis.pid > 0 || stage.stores[i].etcd.pid > 0)
            store_look(&stage.stores[i]);
}
