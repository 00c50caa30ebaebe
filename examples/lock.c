/*
 * lock.c: the smallest useful program: only one copy of it works at a time,
 * wherever its copies run.
 *
 *     ./lock                          on this host, without any server
 *     ./lock redis://127.0.0.1        on every host that uses this Redis
 */
#include <holdfast/holdfast.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    hf_hold *hold;
    struct hf_error err = {0};
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);

    if (status == HF_OK)
        status = hf_lock_open(client, "nightly-report", &lock, &err);
    if (status == HF_OK) status = hf_lock_acquire(lock, NULL, &hold, &err);
    if (status == HF_OK) {
        printf("held, fence %llu\n", (unsigned long long)hf_hold_fence(hold));
        /* ... the work: nobody else is here ... */
        status = hf_hold_release(hold, &err);
    }
    if (status != HF_OK) fprintf(stderr, "lock: %s\n", err.text);
    hf_lock_close(lock);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
