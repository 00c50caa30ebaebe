/*
 * proxy.h: a loopback TCP proxy that delays, and that cuts the line at a given
 * byte or altogether.  One rule: it passes bytes on unchanged and in order
 * until the cut, and none after it.
 *
 *     static struct lab_proxy p;
 *     lab_proxy_start(&p, s.port);            clients connect to p.port
 *     lab_proxy_delay(&p, LAB_DOWN, 200);     answers come late
 *     lab_proxy_arm(&p, LAB_DOWN, 5, 1);      reset after five bytes of one
 *     lab_proxy_stop(&p);
 */
#ifndef LAB_PROXY_H
#define LAB_PROXY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum lab_way { LAB_UP, LAB_DOWN }; /* to the server, from the server */

#define LAB_PROXY_PAIRS_MAX 16
#define LAB_PROXY_CHUNKS_MAX 8 /* on their way at once, in one direction */

/* Bytes that have come and are not passed on yet. */
struct lab_proxy_chunk {
    int64_t came_ms;
    size_t at, len;
    char buf[4096];
};

/* One direction of one line. */
struct lab_proxy_lane {
    int from_fd, to_fd;
    int has_ended; /* nothing more will come */
    int first, len;
    struct lab_proxy_chunk chunks[LAB_PROXY_CHUNKS_MAX]; /* a ring */
};

struct lab_proxy {
    int port;               /* where it listens */
    atomic_int target_port; /* where the server does */
    int listen_fd;
    pthread_t thread;
    int has_thread;
    atomic_int stop;
    atomic_long bytes[2];  /* passed on, by way */
    atomic_long budget[2]; /* until the cut; -1: no cut */
    atomic_int cuts;
    atomic_int with_reset;   /* cut with RST instead of FIN */
    atomic_long delay_ms[2]; /* from coming to being passed on */
    atomic_int is_severed;
    struct lab_proxy_lane pairs[LAB_PROXY_PAIRS_MAX][2]; /* by way */
    int pairs_len;
};

/* Start it on a thread of its own.  Nothing needs to listen at the target: a
 * line to a closed port is closed again.  `p` must stay until it is stopped. */
int lab_proxy_start(struct lab_proxy *p, int target_port);

/* Close all lines and the port.  Nothing happens to one that was stopped. */
void lab_proxy_stop(struct lab_proxy *p);

/* Forget the counts; cut once, after `n` more bytes that way (-1: never). */
void lab_proxy_arm(struct lab_proxy *p, enum lab_way way, long n,
                   int with_reset);

/* From now on bytes that way are passed on `ms` after they came, also those
 * that are on their way. */
void lab_proxy_delay(struct lab_proxy *p, enum lab_way way, long ms);

/* New lines lead to this port from now on. */
void lab_proxy_aim(struct lab_proxy *p, int target_port);

/* 1: break every line, and every new one at once; 0: no longer. */
void lab_proxy_sever(struct lab_proxy *p, int is_severed);

#endif
