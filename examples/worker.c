/*
 * worker.c: long work in steps under one lock, which the watchdog renews.  The
 * file refuses the writes of a worker that has been succeeded.
 *
 *     ./worker [URL [FILE [STEPS]]]
 */
#include <holdfast/holdfast.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WRITE_MS 200 /* what a write may take: needed before each of them */

static atomic_int must_stop; /* set on the client's thread */

static void on_state(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold, (void)user;
    if (ev->state == HF_STATE_LOST) atomic_store(&must_stop, 1);
}

static int work(hf_hold *hold, const char *path, long steps,
                struct hf_error *err)
{
    uint64_t fence = hf_hold_fence(hold);
    /* Touch first: no earlier holder can write from here on. */
    int status = hf_guard_file_touch(path, fence, err);
    for (long i = 1; status == HF_OK && i <= steps; i++) {
        char text[32];
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* work */
        if (atomic_load(&must_stop) || hf_hold_valid_ms(hold) < WRITE_MS) {
            hf_hold_why(hold, err->text);
            return HF_LOST;
        }
        snprintf(text, sizeof text, "step %ld\n", i);
        status = hf_guard_file_replace(path, fence, text, strlen(text), err);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    hf_hold *hold = NULL;
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "worker", &lock, &err);
    if (status == HF_OK) status = hf_lock_acquire(lock, NULL, &hold, &err);
    if (status == HF_OK) status = hf_hold_on_state(hold, on_state, NULL, &err);
    if (status == HF_OK)
        status = work(hold, argc > 2 ? argv[2] : "worker.out",
                      argc > 3 ? strtol(argv[3], NULL, 10) : 10, &err);
    if (status != HF_OK) fprintf(stderr, "worker: %s\n", err.text);
    hf_client_close(client); /* releases the lock if it is still held */
    return status == HF_OK ? 0 : 1;
}
