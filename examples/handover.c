/*
 * handover.c: one thread takes the lock, another works under it and gives it
 * back.  What travels between them is the holder's number: a hold belongs to
 * it, not to a thread.
 *
 *     ./handover [URL]
 */
#include <holdfast/holdfast.h>
#include <pthread.h>
#include <stdio.h>

struct parcel {
    hf_lock *lock;
    uint64_t holder;
    int status;
    struct hf_error err;
};

static void *worker_run(void *arg)
{
    struct parcel *p = arg;
    if (hf_lock_state(p->lock, p->holder) == HF_STATE_HELD)
        printf("worker: mine now, fence %llu\n",
               (unsigned long long)hf_lock_fence(p->lock, p->holder));
    p->status = hf_lock_release_as(p->lock, p->holder, NULL, &p->err);
    return NULL;
}

static int hand_over(hf_lock *lock, struct hf_error *err)
{
    struct hf_acquire_options options = HF_ACQUIRE_OPTIONS_INIT;
    struct parcel parcel = {lock, hf_holder_new(), HF_INTERNAL, {0}};
    pthread_t worker;
    options.holder = parcel.holder;
    int status = hf_lock_acquire(lock, &options, NULL, err);
    if (status != HF_OK) return status;
    printf("main: held, handing it over\n");
    if (pthread_create(&worker, NULL, worker_run, &parcel) != 0)
        return hf_lock_release_as(lock, parcel.holder, NULL, err);
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
