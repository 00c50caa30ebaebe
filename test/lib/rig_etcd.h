/*
 * rig_etcd.h: etcd servers for tests.
 */
#ifndef HF_TEST_RIG_ETCD_H
#define HF_TEST_RIG_ETCD_H

#include <stddef.h>

#include "lab/etcd.h"
#include "lib/fake_env.h"

/* The URL of a fresh prefix on the server that all tests of a run share. */
void rig_etcd_fresh(char *url, size_t size);
struct lab_etcd *rig_etcd_shared(void);

/* A server of the test's own, which is stopped when it ends. */
void etcd_begin(struct lab_etcd *p, const char *const *args);
/* A cluster. */
void etcds_begin(struct lab_etcd cluster[LAB_ETCDS]);

#endif
