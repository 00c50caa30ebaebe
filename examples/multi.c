/*
 * multi.c: two accounts are locked together, or not at all; a program that
 * names them the other way round waits, and none waits for ever.
 *
 *     ./multi                         on this host, without any server
 *     ./multi redis://127.0.0.1 redis://127.0.0.2    one lock on each server
 */
#include <holdfast/holdfast.h>
#include <stdio.h>

static int transfer(hf_lock *const *accounts, struct hf_error *err)
{
    struct hf_acquire_options options = HF_ACQUIRE_OPTIONS_INIT;
    hf_hold *hold;
    hf_multi *both = NULL;
    int status = hf_multi_open(accounts, 2, &both, err);
    options.wait_ms = 10000; /* for the two of them */
    if (status == HF_OK) status = hf_multi_acquire(both, &options, &hold, err);
    if (status == HF_OK) {
        printf("held, fences %llu and %llu, for %lld ms unless renewed\n",
               (unsigned long long)hf_hold_fence(hf_hold_part(hold, 0)),
               (unsigned long long)hf_hold_fence(hf_hold_part(hold, 1)),
               (long long)hf_hold_valid_ms(hold));
        /* ... send each fence with the writes to its account ... */
        status = hf_hold_release(hold, err);
    }
    hf_multi_close(both);
    return status;
}

int main(int argc, char **argv)
{
    hf_client *clients[2] = {NULL, NULL};
    hf_lock *accounts[2] = {NULL, NULL};
    struct hf_error err = {0};
    const char *first = argc > 1 ? argv[1] : NULL;
    int status = hf_client_open(first, NULL, &clients[0], &err);
    if (status == HF_OK && argc > 2)
        status = hf_client_open(argv[2], NULL, &clients[1], &err);
    if (status == HF_OK)
        status = hf_lock_open(clients[0], "account-17", &accounts[0], &err);
    if (status == HF_OK)
        status = hf_lock_open(clients[1] ? clients[1] : clients[0], "account-4",
                              &accounts[1], &err);
    if (status == HF_OK) status = transfer(accounts, &err);
    if (status != HF_OK) fprintf(stderr, "multi: %s\n", err.text);
    for (int i = 0; i < 2; i++) hf_lock_close(accounts[i]);
    for (int i = 0; i < 2; i++) hf_client_close(clients[i]);
    return status == HF_OK ? 0 : 1;
}
