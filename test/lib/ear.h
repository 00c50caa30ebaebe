/*
 * ear.h: a classic subscriber with a connection of its own, as a program of
 * another library is one.  One rule: what it hears comes from the server, and
 * not through our client.
 *
 *     ear_open(&r, "redisson_lock__channel:{a}");
 *     CHECK(ear_hears("$1\r\n0\r\n"));
 */
#ifndef HF_TEST_EAR_H
#define HF_TEST_EAR_H

#include "lib/rig_redis.h"

/* SUBSCRIBE to the channel, and wait until that is confirmed.  There is one ear
 * at a time: another one, and the end of the test, close it. */
void ear_open(const struct lab_server *r, const char *channel);

/* Wait until `text` has come, as it is on the line; what came before it is
 * forgotten.  0 if it did not come in time. */
int ear_hears(const char *text);

#endif
