/*
 * play/scene/supervisor.c: the program that runs a job under the lock is killed
 * with SIGKILL, which no program can handle.  Its job runs on; the lock does
 * not.
 */
#include "play/play.h"

enum { A, B };

static void acts(struct play *p)
{
    client_runs(p, A);
    if (!play_needs(p, client_until_runs(p, A), "the job of client A runs"))
        return;
    play_wait(p, 300);
    client_runs(p, B);
    play_wait(p, 300);
    supervisor_dies(p, A);
    if (!play_needs(p, client_until_runs(p, B), "the job of client B runs"))
        return;
    play_wait(p, 400);
}

const struct scene scene_supervisor = {
    .title = "A supervisor is killed, and its job runs on",
    .story = "Client A runs a job under the lock, and client B waits to run "
             "the same job. The process that runs the job of A, and renews its "
             "lease, is killed with SIGKILL.",
    .naive_way = "a program acquires, runs the job, renews, and releases",
    .holdfast_way = "holdfast run",
    .difference = "No process can handle SIGKILL, so another one must watch "
                  "it. The guardian of holdfast run kills the job and all its "
                  "descendants when the supervisor is gone, and before the "
                  "lease ends.",
    .faults = FAULT_OVERLAP,
    .clients = 2,
    .stores = 1,
    .has_jobs = 1,
    .lease_ms = 1500,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts,
};
