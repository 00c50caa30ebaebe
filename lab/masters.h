/*
 * masters.h: some (five, usually) independent Redis servers, and everything
 * that can happen to one of them.  One rule: clients reach a server through its
 * proxy; the program that plays the fault asks the server itself.
 *
 *     static struct lab_masters f;
 *     lab_masters_start(&f, 5, "clock_shim.so");
 *     lab_masters_kill(&f, 2);
 *
 * Each server keeps an append-only file and syncs it with every command, so
 * that it loses nothing when it is killed, unless it is told to.
 */
#ifndef LAB_MASTERS_H
#define LAB_MASTERS_H

#include "lab/clock.h"
#include "lab/proxy.h"
#include "lab/server.h"

#define LAB_MASTERS_MAX 9

struct lab_master {
    struct lab_server redis; /* the server itself: lab_server_say() */
    struct lab_proxy proxy;  /* in front of it: lab_proxy_arm() */
    char url[64];            /* of the proxy, for clients */
    struct lab_clock clock;  /* its wall clock */
};

struct lab_masters {
    int len;
    struct lab_master nodes[LAB_MASTERS_MAX];
    char hosts[32 * LAB_MASTERS_MAX]; /* of the proxies: "127.0.0.1:1,..." */
};

/* Start `len` of them, each with its proxy and with a clock by the shim at that
 * path.  `f` must stay until it is stopped. */
int lab_masters_start(struct lab_masters *f, int len, const char *shim);
void lab_masters_stop(struct lab_masters *f);

/* kill -9. */
int lab_masters_kill(struct lab_masters *f, int node);
/* Start a killed one again: with its data, or as if its disk were new. */
int lab_masters_restart(struct lab_masters *f, int node);
int lab_masters_restart_empty(struct lab_masters *f, int node);
/* SIGSTOP and SIGCONT. */
int lab_masters_pause(struct lab_masters *f, int node);
int lab_masters_resume(struct lab_masters *f, int node);
/* Each byte to and from it is `ms` late; 0: no longer. */
int lab_masters_delay(struct lab_masters *f, int node, long ms);
/* 1: no line to it holds; 0: they do again. */
int lab_masters_sever(struct lab_masters *f, int node, int is_severed);
/* Its wall clock jumps, forward or back, and stays so across restarts. */
int lab_masters_jump(struct lab_masters *f, int node, int64_t ms);
/* Its wall clock, in milliseconds, as it says itself. */
int lab_masters_time_ms(struct lab_masters *f, int node, int64_t *out);

#endif
