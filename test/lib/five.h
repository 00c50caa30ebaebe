/*
 * five.h: some (five, usually) independent Redis servers, and everything that
 * can happen to one of them.  One rule: clients reach a server through its
 * proxy, the test reaches it directly.
 *
 *     static struct lab_masters f;
 *     five_begin(&f, 5);
 *     hf_client *c = rig_client_at(f.nodes[0].url, NULL);
 *     five_kill(&f, 2);
 *
 * Each server keeps an append-only file and syncs it with every command, so
 * that it loses nothing when it is killed, unless it is told to.
 */
#ifndef HF_TEST_FIVE_H
#define HF_TEST_FIVE_H

#include "lab/clock.h"
#include "lib/proxy.h"
#include "lib/rig_redis.h"

#define FIVE_MAX 9

struct lab_master {
    struct lab_server redis; /* the server itself: redis_say() */
    struct lab_proxy proxy;  /* in front of it: proxy_delay(), proxy_arm() */
    char url[64];            /* of the proxy, for clients */
    struct lab_clock clock;
};

struct lab_masters {
    int len;
    struct lab_master nodes[FIVE_MAX];
    char hosts[32 * FIVE_MAX]; /* "127.0.0.1:1,127.0.0.1:2": of the proxies */
};

/* Start `len` of them, each with its proxy, and the rig.  `f` static. */
void five_begin(struct lab_masters *f, int len);

/* kill -9. */
void five_kill(struct lab_masters *f, int node);
/* Start a killed one again: with its data, or as if its disk were new. */
void five_restart(struct lab_masters *f, int node);
void five_restart_empty(struct lab_masters *f, int node);
/* SIGSTOP and SIGCONT. */
void five_stop(struct lab_masters *f, int node);
void five_cont(struct lab_masters *f, int node);
/* Each byte to and from it is `ms` late; 0: no longer. */
void five_delay(struct lab_masters *f, int node, long ms);
/* 1: no line to it holds; 0: they do again. */
void five_sever(struct lab_masters *f, int node, int is_severed);
/* Its wall clock jumps, forward or back; it also does so across restarts. */
void five_jump(struct lab_masters *f, int node, int64_t ms);
/* Its wall clock, in milliseconds, as it says itself. */
int64_t five_time_ms(struct lab_masters *f, int node);

#endif
