/*
 * handover.c: one thread takes the lock, another works under it and gives it
 * back.  What travels between them is the hold: whoever has the handle may use
 * it, on any thread.
 *
 *     ./handover [URL]
 */
#include <holdfast/holdfast.h>
#include <pthread.h>
#include <stdio.h>

struct parcel {
    hf_hold *hold;
    int status;
    struct hf_error err;
};

static void *worker_run(void *arg)
{
    struct parcel *p = arg;
    if (hf_hold_state(p->hold) == HF_STATE_HELD)
        printf("worker: mine now, fence %llu\n",
               (unsigned long long)hf_hold_fence(p->hold));
    p->status = hf_hold_release(p->hold, &p->err);
    return NULL;
}

static int hand_over(hf_lock *lock, struct hf_error *err)
{
    struct parcel parcel = {NULL, HF_INTERNAL, {0}};
    pthread_t worker;
    int status = hf_lock_acquire(lock, NULL, &parcel.hold, err);
    if (status != HF_OK) return status;
    printf("main: held, handing it over\n");
    if (pthread_create(&worker, NULL, worker_run, &parcel) != 0)
        return hf_hold_release(parcel.hold, err);
    pthread_join(worker, NULL);
    *err = parcel.err;
    return parcel.status;
}

int main(int argc, char **argv)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "parcel", &lock, &err);
    if (status == HF_OK) status = hand_over(lock, &err);
    if (status != HF_OK) fprintf(stderr, "handover: %s\n", err.text);
    hf_lock_close(lock);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
