/*
 * rig_zookeeper.h: a ZooKeeper server for the tests of one program.
 */
#ifndef HF_TEST_RIG_ZOOKEEPER_H
#define HF_TEST_RIG_ZOOKEEPER_H

#include "lab/zookeeper.h"
#include "lib/fake_env.h"

/* A root of its own on the server that all tests of this program share
 * ("zookeeper"), or always the same ("zookeeper-one"); its sessions are as long
 * as the longest lease of a test wants. */
void rig_zookeeper_fresh(char *url, size_t size, const char *kind);

/* The shared one, once it was started. */
struct lab_zookeeper *rig_zookeeper_shared(void);

/* One of the test's own, stopped when it ends. */
void zookeeper_begin(struct lab_zookeeper *z);
/* The same with an ensemble. */
void zookeeper_begin_all(struct lab_zookeeper *all);

/* The backend in a fake engine, on this URL; the link is up. */
void zookeeper_connect(struct fake_env *f, const char *url);

#endif
