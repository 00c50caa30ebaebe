/*
 * play/client.h: a client, in a process of its own.  The stage sends it
 * commands, a line each; the client sends back events, a line each, and ends
 * each command with an answer:
 *
 *     acquire 5000                 to it
 *     E 2 81234 981234 33 -        from it: an event, as in record.h
 *     D 1                          and the answer
 */
#ifndef HOLDFAST_CLI_PLAY_CLIENT_H
#define HOLDFAST_CLI_PLAY_CLIENT_H

#include "lab/proc.h"
#include "play/run.h"

#define LOCK_NAME "lock"
#define RESOURCE_NAME "account"

/* What a client knows when its process begins. */
struct role {
    const struct play *play;
    int number;
    int64_t lease_ms;
};

/* For the clients of both ways. */
void client_event(struct lab_proc *self, enum event_kind kind, int64_t at_us,
                  int64_t until_us, uint64_t fence, const char *text);
void client_done(struct lab_proc *self, int result);
/* Fork a child that ends with end(arg), 1 if it has released the lock; the
 * answer. */
void client_fork(struct lab_proc *self, int (*end)(void *), void *arg);

/* The programs of the two ways: for lab_proc_start(); `arg` is a role. */
int client_naive(struct lab_proc *self, const void *arg);
int client_holdfast(struct lab_proc *self, const void *arg);

#endif
