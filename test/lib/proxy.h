/*
 * proxy.h: a loopback TCP proxy that delays, and that cuts the line at a given
 * byte or altogether.  One rule: it passes bytes on unchanged and in order
 * until the cut, and none after it.
 */
#ifndef HF_TEST_PROXY_H
#define HF_TEST_PROXY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum lab_way { PROXY_UP, PROXY_DOWN }; /* to the server, from the server */

#define PROXY_PAIRS_MAX 16
#define PROXY_CHUNKS_MAX 8 /* on their way at once, in one direction */

/* Bytes that have come and are not passed on yet. */
struct proxy_chunk {
    int64_t came_ms;
    size_t at, len;
    char buf[4096];
};

/* One direction of one line. */
struct proxy_lane {
    int from_fd, to_fd;
    int has_ended; /* nothing more will come */
    int first, len;
    struct proxy_chunk chunks[PROXY_CHUNKS_MAX]; /* a ring */
};

struct lab_proxy {
    int port;               /* where it listens */
    atomic_int target_port; /* where the server does */
    int listen_fd;
    atomic_int stop;
    atomic_long bytes[2];  /* passed on, by way */
    atomic_long budget[2]; /* until the cut; -1: no cut */
    atomic_int cuts;
    atomic_int with_reset;   /* cut with RST instead of FIN */
    atomic_long delay_ms[2]; /* from coming to being passed on */
    atomic_int is_severed;
    struct proxy_lane pairs[PROXY_PAIRS_MAX][2]; /* by way */
    int pairs_len;
};

/* Start it for this test, on a thread of the rig.  `p` static. */
void proxy_begin(struct lab_proxy *p, int target_port);

/* Forget the counts; cut once, after `n` more bytes that way (-1: never). */
void proxy_arm(struct lab_proxy *p, enum lab_way way, long n, int with_reset);

/* From now on bytes that way are passed on so long after they came; those that
 * are on their way too. */
void proxy_delay(struct lab_proxy *p, enum lab_way way, long ms);

/* New lines lead to this port from now on. */
void proxy_aim(struct lab_proxy *p, int target_port);

/* 1: break every line, and every new one at once; 0: no longer. */
void proxy_sever(struct lab_proxy *p, int is_severed);

#endif
