/*
 * play/stage.h: what the files of the stage share: the run's own process, its
 * clients and servers.  One rule: one thread does all of it; while it waits for
 * anything it hears every client and looks at every store.
 */
#ifndef HOLDFAST_CLI_PLAY_STAGE_H
#define HOLDFAST_CLI_PLAY_STAGE_H

#include "lab/clock.h"
#include "lab/etcd.h"
#include "lab/proc.h"
#include "lab/proxy.h"
#include "lab/server.h"
#include "play/client.h"
#include "play/resource.h"

struct actor {
    struct lab_proc proc;
    struct role role;
    int lane;
    int is_busy;   /* its answer has not come yet */
    int has_begun; /* client_begins(), and nobody has asked for the answer */
    int answer;
    int believes;                 /* what it said last */
    char said[LAB_PROC_LINE_MAX]; /* of client_says() */
};

struct stock {
    struct lab_server redis;
    struct lab_clock clock; /* if the scene has clocks */
    struct lab_etcd etcd;   /* instead of Redis, if the scene is on etcd */
    int lane;
    int look_fd; /* for looking at the lock; -1: not connected */
    int is_down;
    int owner; /* a lane, or NO_LANE */
};

struct stage {
    struct play *play;
    struct actor actors[CAST_MAX];
    struct stock stores[STORES_MAX];
    int stores_len;
    struct lab_server resource;
    struct lab_proxy front;  /* of a pair: between clients and the primary */
    struct lab_proxy behind; /* between the primary and the replica */
    char where[WHERE_MAX];   /* of a resource that is not on Redis */
    int resource_lane;
};
extern struct stage stage; /* of this process: a run has one */

/* Let time pass, while everything is heard and looked at. */
void stage_turn(int64_t ms);
/* play/connect.c: tell a client of its stores and of the resource. */
void stage_connect(struct play *p, int client);
/* Tell a client what to do; wait for its answer. */
void stage_tell(int client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int stage_answer(int client);
void stage_event(enum event_kind kind, int lane, int other, const char *text);
/* play/clock.c: give a store a clock of its own, before it is started. */
int stage_clock(struct stock *s);
/* play/look.c: note which client has the lock in each store. */
void stage_look(void);
/* A scaled time: --speed. */
int64_t stage_ms(int64_t ms);

#endif
