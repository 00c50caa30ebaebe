/*
 * five.h: lab/masters.h in a test: some (five, usually) independent Redis
 * servers, and everything that can happen to one of them.  One rule: clients
 * reach a server through its proxy, the test reaches it directly.
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

#include "lab/masters.h"
#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig_redis.h"

#define FIVE_MAX LAB_MASTERS_MAX

/* Start `len` of them, each with its proxy, and the rig.  `f` static. */
void five_begin(struct lab_masters *f, int len);

/* Those of lab/masters.h, which must succeed. */
#define five_kill(f, node) LAB_CHECK(lab_masters_kill(f, node))
#define five_restart(f, node) LAB_CHECK(lab_masters_restart(f, node))
#define five_restart_empty(f, node)                                            \
    LAB_CHECK(lab_masters_restart_empty(f, node))
#define five_stop(f, node) LAB_CHECK(lab_masters_pause(f, node))
#define five_cont(f, node) LAB_CHECK(lab_masters_resume(f, node))
#define five_delay(f, node, ms) LAB_CHECK(lab_masters_delay(f, node, ms))
#define five_sever(f, node, is_severed)                                        \
    LAB_CHECK(lab_masters_sever(f, node, is_severed))
#define five_jump(f, node, ms) LAB_CHECK(lab_masters_jump(f, node, ms))

/* Its wall clock, in milliseconds, as it says itself. */
int64_t five_time_ms(struct lab_masters *f, int node);

#endif
