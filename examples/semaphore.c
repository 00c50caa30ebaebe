/*
 * semaphore.c: twenty downloads, at most eight of them at a time, counted over
 * all copies of the program.
 *
 *     ./semaphore                         on this host
 *     ./semaphore redis://127.0.0.1       on all hosts
 */
#include <holdfast/holdfast.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define DOWNLOADS 20

static atomic_int running, most, done;

static void *download(void *arg)
{
    hf_semaphore *sem = arg;
    struct hf_error err;
    hf_hold *hold;
    if (hf_semaphore_acquire(sem, NULL, &hold, &err) != HF_OK) {
        fprintf(stderr, "semaphore: %s\n", err.text);
        return NULL;
    }
    int now = atomic_fetch_add(&running, 1) + 1, before = atomic_load(&most);
    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* the work */
    atomic_fetch_sub(&running, 1);
    if (hf_hold_release(hold, &err) == HF_OK) atomic_fetch_add(&done, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct hf_semaphore_options options = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_semaphore *sem = NULL;
    pthread_t thread[DOWNLOADS];
    int started = 0;
    options.permits = 8; /* set by the first copy that acquires one */
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK)
        status = hf_semaphore_open(client, "downloads", &options, &sem, &err);
    if (status != HF_OK) fprintf(stderr, "semaphore: %s\n", err.text);
    while (status == HF_OK && started < DOWNLOADS
           && pthread_create(&thread[started], NULL, download, sem) == 0)
        started++;
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
    printf("%d done, at most %d at a time\n", done, most);
    hf_semaphore_close(sem);
    hf_client_close(client);
    return done == DOWNLOADS ? 0 : 1;
}
