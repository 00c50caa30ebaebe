/*
 * play/acts.c: the acts of play.h: a real process or server carries out each of
 * them, and the record keeps it.
 */
#include "play/stage.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/exit.h"
#include "lab/ask.h"
#include "lab/lab.h"
#include "lab/wait.h"

/* ---- the stage --------------------------------------------------------- */

int play_is_naive(const struct play *p)
{
    return p->way == WAY_NAIVE;
}

void play_wait(struct play *p, int64_t ms)
{
    (void)p;
    stage_turn(stage_ms(ms));
}

/* splitmix64, for which every seed is good. */
int play_choose(struct play *p, int n)
{
    uint64_t z = p->seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((z ^ z >> 31) % (uint64_t)n);
}

int play_needs(struct play *p, int is_so, const char *what)
{
    char text[EVENT_TEXT_MAX];
    if (is_so) return 1;
    snprintf(text, sizeof(text), "this did not happen: %s", what);
    play_says(p, FAULT_VOID, text);
    return 0;
}

void play_says(struct play *p, enum fault fault, const char *what)
{
    p->faults |= fault;
    snprintf(p->said, sizeof(p->said), "%s", what);
}

/* ---- the clients ------------------------------------------------------- */

int client_tries(struct play *p, int client)
{
    return client_waits(p, client, 0);
}

void client_begins(struct play *p, int client, int64_t ms)
{
    (void)p;
    stage_event(EVENT_ASKS, stage.actors[client].lane, NO_LANE, "");
    stage_tell(client, "acquire %lld", (long long)ms);
    stage.actors[client].has_begun = 1;
}

int client_got_it(struct play *p, int client)
{
    (void)p;
    stage.actors[client].has_begun = 0;
    return stage_answer(client);
}

int client_next(struct play *p)
{
    for (;;) {
        int has_begun = 0;
        for (int i = 0; i < p->scene->clients; i++) {
            const struct actor *a = &stage.actors[i];
            if (a->has_begun && !a->is_busy) return i;
            has_begun |= a->has_begun;
        }
        if (!has_begun) stage_fail(p, EXIT_BUG, "no client has begun");
        stage_turn(1);
    }
}

int client_waits(struct play *p, int client, int64_t ms)
{
    client_begins(p, client, ms);
    return client_got_it(p, client);
}

static int client_does(int client, const char *what)
{
    stage_tell(client, "%s", what);
    return stage_answer(client);
}

int client_checks(struct play *p, int client)
{
    (void)p;
    return client_does(client, "check");
}

int client_writes(struct play *p, int client)
{
    (void)p;
    return client_does(client, "write");
}

int client_forks(struct play *p, int client)
{
    (void)p;
    return client_does(client, "fork");
}

int client_releases(struct play *p, int client)
{
    (void)p;
    return client_does(client, "release");
}

const char *client_says(struct play *p, int client, const char *command)
{
    (void)p;
    stage_tell(client, "say %s", command);
    stage_answer(client);
    return stage.actors[client].said;
}

static void client_note(int client, enum event_kind kind, const char *why)
{
    struct event e = {.at_us = record_now_us(),
                      .until_us = UNTIL_TOLD,
                      .kind = (int)kind,
                      .lane = stage.actors[client].lane,
                      .other = NO_LANE};
    snprintf(e.text, sizeof(e.text), "%s", why);
    live_event(stage.play, record_event(&stage.play->record, &e));
}

void client_believes(struct play *p, int client, const char *why)
{
    (void)p;
    client_note(client, EVENT_BELIEVES, why);
}

void client_ends(struct play *p, int client, const char *why)
{
    (void)p;
    client_note(client, EVENT_ENDS, why);
}

/* Wait until the process has changed: a signal may take effect later than it is
 * sent. */
void client_pauses(struct play *p, int client)
{
    struct actor *a = &stage.actors[client];
    (void)p;
    lab_proc_signal(&a->proc, SIGSTOP);
    (void)waitpid(a->proc.pid, NULL, WUNTRACED);
    stage_event(EVENT_PAUSED, a->lane, NO_LANE, "");
}

void client_resumes(struct play *p, int client)
{
    struct actor *a = &stage.actors[client];
    (void)p;
    stage_event(EVENT_RESUMED, a->lane, NO_LANE, "");
    lab_proc_signal(&a->proc, SIGCONT);
}

void client_dies(struct play *p, int client)
{
    struct actor *a = &stage.actors[client];
    (void)p;
    lab_proc_stop(&a->proc);
    stage_event(EVENT_KILLED, a->lane, NO_LANE, "");
}

void client_runs(struct play *p, int client)
{
    (void)p;
    stage_event(EVENT_ASKS, stage.actors[client].lane, NO_LANE, "");
    client_does(client, "run");
}

int client_until_runs(struct play *p, int client)
{
    int64_t end_us = record_now_us() + LAB_PATIENCE_MS * INT64_C(1000);
    (void)p;
    while (!stage.actors[client].believes && record_now_us() < end_us)
        stage_turn(1);
    return stage.actors[client].believes;
}

void supervisor_dies(struct play *p, int client)
{
    (void)p;
    client_does(client, "bereave");
}

void acts_pause(struct play *p)
{
    enum { A, B };
    if (!play_needs(p, client_waits(p, A, 20000), "client A has the lock")
        || !play_needs(p, client_checks(p, A), "client A still has it"))
        return;
    play_wait(p, 200);
    client_pauses(p, A);
    play_wait(p, 200);
    if (!play_needs(p, client_waits(p, B, 20000), "client B has the lock"))
        return;
    play_wait(p, 200);
    if (!play_needs(p, client_writes(p, B), "client B has written")) return;
    play_wait(p, 200);
    client_resumes(p, A);
    client_writes(p, A);
    play_wait(p, 200);
    client_releases(p, B);
}

/* ---- the stores -------------------------------------------------------- */

const char *store_says(struct play *p, int store, const char *command)
{
    (void)p;
    return lab_server_say(&stage.stores[store].redis, "%s", command);
}

void store_notes(struct play *p, int store, const char *what)
{
    (void)p;
    stage_event(EVENT_NOTE, stage.stores[store].lane, NO_LANE, what);
}

void store_dies(struct play *p, int store)
{
    struct stock *s = &stage.stores[store];
    (void)p;
    if (s->look_fd >= 0) close(s->look_fd);
    s->look_fd = -1;
    s->is_down = 1;
    (void)lab_server_shutdown(&s->redis, 0);
    s->owner = NO_LANE;
    stage_event(EVENT_KILLED, s->lane, NO_LANE, "");
}

void store_restarts(struct play *p, int store, int is_empty)
{
    struct stock *s = &stage.stores[store];
    if ((is_empty && lab_server_forget(&s->redis) < 0)
        || lab_server_restart(&s->redis) < 0)
        stage_fail(p, EXIT_BUG, "%s", lab_error());
    s->is_down = 0;
    stage_event(EVENT_STARTED, s->lane, NO_LANE,
                is_empty ? "restarted, empty" : "restarted");
}

int64_t store_counts(struct play *p, int store, const char *command)
{
    char field[64];
    const char *said = store_says(p, store, "INFO commandstats");
    snprintf(field, sizeof(field), "cmdstat_%s:calls=", command);
    const char *at = strstr(said, field);
    return at ? strtoll(at + strlen(field), NULL, 10) : 0;
}

void line_delays(struct play *p, int64_t ms)
{
    (void)p;
    lab_proxy_delay(&stage.front, LAB_DOWN, (long)stage_ms(ms));
}

/* ---- the pair ------------------------------------------------------------ */

void pair_lags(struct play *p)
{
    lab_proxy_delay(&stage.behind, LAB_DOWN, 3600000);
    store_notes(p, 1, "lags behind");
}

void pair_fails_over(struct play *p)
{
    struct lab_server *replica = &stage.stores[1].redis;
    store_dies(p, 0);
    if (lab_server_do(replica, "REPLICAOF NO ONE") < 0)
        stage_fail(p, EXIT_BUG, "%s", lab_error());
    lab_proxy_aim(&stage.front, replica->port);
    store_notes(p, 1, "becomes the primary");
}

void pair_returns(struct play *p)
{
    store_restarts(p, 0, 1);
    if (lab_server_follow(&stage.stores[0].redis, "127.0.0.1",
                          stage.stores[1].redis.port)
        < 0)
        stage_fail(p, EXIT_BUG, "%s", lab_error());
    store_notes(p, 0, "is a replica now");
}
