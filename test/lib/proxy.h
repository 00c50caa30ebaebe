/*
 * proxy.h: lab/proxy.h in a test: a loopback TCP proxy that delays and cuts.
 */
#ifndef HF_TEST_PROXY_H
#define HF_TEST_PROXY_H

#include "lab/proxy.h"

#define PROXY_UP LAB_UP
#define PROXY_DOWN LAB_DOWN

/* Start it for this test; stopped when the test ends.  `p` static. */
void proxy_begin(struct lab_proxy *p, int target_port);

/* These cannot fail: the lab's own, by a short name. */
#define proxy_arm(p, way, n, with_reset) lab_proxy_arm(p, way, n, with_reset)
#define proxy_delay(p, way, ms) lab_proxy_delay(p, way, ms)
#define proxy_aim(p, target_port) lab_proxy_aim(p, target_port)
#define proxy_sever(p, is_severed) lab_proxy_sever(p, is_severed)

#endif
