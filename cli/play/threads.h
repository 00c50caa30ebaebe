/*
 * play/threads.h: two clients that are threads of one process.
 */
#ifndef HOLDFAST_CLI_PLAY_THREADS_H
#define HOLDFAST_CLI_PLAY_THREADS_H

#include "play/client.h"

/* Start a process in which fn() runs twice, on a thread for each role.  Both
 * `struct lab_proc` must stay until it ends.  A status as those of lab.h.  The
 * pid of the second one is 0: no signal reaches it alone. */
int threads_start(struct lab_proc *first, const struct role *first_role,
                  struct lab_proc *second, const struct role *second_role,
                  lab_proc_fn fn);

#endif
