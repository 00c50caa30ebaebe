/*
 * play/play.h: the acts of which a scene is made.  A scene is a file of
 * play/scene/: its clients and servers, the acts, and what the naive way does.
 * One rule: all that a scene shows happens to real servers and to real
 * processes; nothing is simulated, and no time is assumed that can be waited
 * for.
 *
 * Every scene is played twice with the same acts: the naive way, in raw Redis
 * commands, and holdfast's way, through the public API.
 */
#ifndef HOLDFAST_CLI_PLAY_PLAY_H
#define HOLDFAST_CLI_PLAY_PLAY_H

#include <stddef.h>
#include <stdint.h>

#include "play/record.h"

#define CAST_MAX 12
#define STORES_MAX 5

/* What can go wrong, as judged by the record or said by the scene. */
enum fault {
    FAULT_NONE = 0,
    FAULT_OVERLAP = 1, /* two clients believed to hold the lock */
    FAULT_CORRUPT = 2, /* a resource took a write of a former holder */
    FAULT_STUCK = 4,   /* no client holds the lock, and none can get it */
    FAULT_HERD = 8,    /* waiters ask the server far too often */
    FAULT_UNFAIR = 16, /* a waiter was served before one that came earlier */
    FAULT_VOID = 32    /* the fault was not reached: this proves nothing */
};

/* Where the resource is that clients write to. */
enum resource { ON_REDIS, IN_FILE, IN_SQLITE, IN_POSTGRES };

/* The naive way's commands: $me is the client's letter, $lease the lease in
 * milliseconds.  An answer of OK or 1 grants the lock. */
struct naive {
    const char *acquire;
    const char *release;
};

struct play;

struct scene {
    const char *title; /* what happens, in a few words */
    const char *story; /* what is to be watched, in a sentence or two */
    const char *naive_way;
    const char *holdfast_way;
    const char *difference; /* what made the difference, in a sentence */
    unsigned faults;  /* the naive way shows these, and holdfast none of them */
    int clients;      /* 1 to CAST_MAX */
    int stores;       /* 1 to STORES_MAX: of a quorum, or see is_pair */
    int naive_stores; /* if the naive way has fewer; 0: as many */
    int is_pair; /* a primary and its replica, which clients reach through a
                  * proxy that pair_fails_over() turns round */
    int is_far;  /* client A reaches the store through a proxy that can delay
                  * what the store answers: line_delays() */
    int is_etcd; /* the store is a server of etcd; naive: "lock", "unlock" */
    int is_fair; /* holdfast's lock serves in the order of arrival */

    int has_threads;  /* the two clients are threads of one process */
    int has_clocks;   /* each store has its own: store_jumps() */
    int has_jobs;     /* clients only run jobs, in their order: client_runs() */
    int has_resource; /* clients write to it */
    enum resource resource; /* 0: on a Redis server of its own */
    int has_claims; /* holdfast's clients claim it, with unique tokens */
    int lease_ms;
    int is_fixed;      /* holdfast's way does not renew the lease */
    const char *query; /* of the URL of holdfast's clients, or NULL */
    const char *const *store_args; /* of redis-server, or NULL */
    const char *const *naive_args; /* of that in the naive way, if others */
    struct naive naive;
    int naive_needs; /* servers that must grant; 0: more than half of them */
    const char *naive_token; /* sent after a grant: its answer is the fence */
    const char *naive_write; /* on Redis, with $token; NULL: a plain SET */
    void (*acts)(struct play *p);
};

/* ---- the stage -------------------------------------------------------- */

/* 1 in the naive way's run. */
int play_is_naive(const struct play *p);
/* Let this time pass; --speed makes it longer or shorter. */
void play_wait(struct play *p, int64_t ms);
/* A number from 0 to n - 1, from --seed. */
int play_choose(struct play *p, int n);
/* The scene goes on only if this is true; otherwise the run has failed. */
int play_needs(struct play *p, int is_so, const char *what);
/* Add to the verdict what the record cannot show; `fault` is FAULT_NONE if all
 * went well. */
void play_says(struct play *p, enum fault fault, const char *what);

/* ---- the clients, numbered from 0: A, B, C ---------------------------- */

/* Try once to acquire the lock.  1 if it was granted. */
int client_tries(struct play *p, int client);
/* Acquire it, waiting for at most `ms`.  1 if it was granted. */
int client_waits(struct play *p, int client, int64_t ms);
/* The same in two steps: client_begins() asks, client_next() waits for an
 * answer. */
void client_begins(struct play *p, int client, int64_t ms);
int client_got_it(struct play *p, int client);
/* Wait until a client that began has its answer.  Returns its number. */
int client_next(struct play *p);
/* Let the client ask itself whether it still holds the lock.  The naive client
 * always says yes. */
int client_checks(struct play *p, int client);
/* Write to the resource, without another check.  1 if it was accepted. */
int client_writes(struct play *p, int client);
/* Fork a child, which releases all it knows of, as many programs do at their
 * end.  1 if that child is told that it has released the lock. */
int client_forks(struct play *p, int client);
/* Release the lock.  1 if the answer says that the client held it until now. */
int client_releases(struct play *p, int client);
/* Only in the naive way: this command, in which $me and $lease are replaced.
 * Its answer stays until the next one. */
const char *client_says(struct play *p, int client, const char *command);
/* The naive client begins, or ceases, to believe that it holds the lock;
 * `why` is shown. */
void client_believes(struct play *p, int client, const char *why);
void client_ends(struct play *p, int client, const char *why);
/* SIGSTOP, SIGCONT, SIGKILL. */
void client_pauses(struct play *p, int client);
void client_resumes(struct play *p, int client);
void client_dies(struct play *p, int client);

/* Begin to run a job under the lock, by a supervisor: holdfast run, or a
 * program that acquires, renews, and releases at the end.  Then the client
 * believes to hold the lock while its job runs. */
void client_runs(struct play *p, int client);
/* Wait until its job runs: 1, or 0 if that took too long. */
int client_until_runs(struct play *p, int client);
/* SIGKILL, to the supervisor alone. */
void supervisor_dies(struct play *p, int client);

/* The acts of each scene pause...: client A is paused before its write. */
void acts_pause(struct play *p);

/* ---- the stores, numbered from 0 -------------------------------------- */

/* Ask the server itself; the answer stays until the next question. */
const char *store_says(struct play *p, int store, const char *command);
void store_notes(struct play *p, int store, const char *what);
/* SIGKILL; and start it again with what it has on disk, or with an empty one */
void store_dies(struct play *p, int store);
void store_restarts(struct play *p, int store, int is_empty);
/* How many of these commands the server has carried out. */
int64_t store_counts(struct play *p, int store, const char *command);

/* Its wall clock jumps forward; back, if `minutes` is negative. */
void store_jumps(struct play *p, int store, int minutes);

/* Answers to client A are `ms` late from now on. */
void line_delays(struct play *p, int64_t ms);

/* Of a pair: cut the replica off from its primary.  And: kill the primary, make
 * the replica the primary, and lead clients there. */
void pair_lags(struct play *p);
void pair_fails_over(struct play *p);
/* The old primary comes back as the replica of the new one. */
void pair_returns(struct play *p);

#endif
