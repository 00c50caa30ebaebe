/*
 * optimistic.c: a counter that any number of processes raise, without a lock:
 * read it with its version, write it if it is still that one, else again.
 *
 *     ./optimistic                        on this host, without any server
 *     ./optimistic redis://127.0.0.1      on every host that uses this Redis
 */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <stdlib.h>

/* May run several times: it only computes. */
static int count_up(const struct hf_value *now, struct hf_value_next *next,
                    void *user)
{
    char *text = user;
    long visits = now->data ? strtol(now->data, NULL, 10) : 0;
    next->data = text;
    next->len = (size_t)snprintf(text, 32, "%ld", visits + 1);
    return 0;
}

int main(int argc, char **argv)
{
    hf_client *client = NULL;
    struct hf_error err = {0};
    char text[32];
    uint64_t version = 0;
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);

    if (status == HF_OK)
        status = hf_value_update(client, "visits", count_up, text, NULL,
                                 &version, &err);
    if (status == HF_OK)
        printf("visit %s, version %llu\n", text, (unsigned long long)version);
    else
        fprintf(stderr, "optimistic: %s\n", err.text);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
