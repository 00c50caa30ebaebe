/*
 * proxy.h: a loopback TCP proxy that cuts the line at a given byte.  One rule:
 * it passes bytes on unchanged and in order until the cut, and none after it.
 */
#ifndef HF_TEST_PROXY_H
#define HF_TEST_PROXY_H

#include <stdatomic.h>

enum proxy_way { PROXY_UP, PROXY_DOWN }; /* to the server, from the server */

#define PROXY_PAIRS_MAX 16

struct proxy {
    int port;        /* where it listens */
    int target_port; /* where the server does */
    int listen_fd;
    atomic_int stop;
    atomic_long bytes[2];  /* passed on, by way */
    atomic_long budget[2]; /* until the cut; -1: no cut */
    atomic_int cuts;
    atomic_int with_reset; /* cut with RST instead of FIN */
    struct {
        int client_fd;
        int server_fd;
    } pairs[PROXY_PAIRS_MAX];
    int pairs_len;
};

/* Start it for this test, on a thread of the rig.  `p` static. */
void proxy_begin(struct proxy *p, int target_port);

/* Forget the counts; cut once, after `n` more bytes that way (-1: never). */
void proxy_arm(struct proxy *p, enum proxy_way way, long n, int with_reset);

#endif
