/*
 * idempotent.c: a request that may arrive twice is served once; a repeated
 * request gets the stored answer.
 *
 *     ./idempotent order-4711                     on this host
 *     ./idempotent order-4711 redis://127.0.0.1   whichever host it reaches
 */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

/* The first one: do the work, store the answer. */
static int serve(hf_once *run, uint64_t fence, struct hf_error *err)
{
    char answer[64];
    snprintf(answer, sizeof answer, "booked under %llu",
             (unsigned long long)fence);
    printf("served: %s\n", answer);
    return hf_once_end(run, 0, answer, strlen(answer), err);
}

static int request(hf_client *client, const char *key, struct hf_error *err)
{
    struct hf_once_options options = HF_ONCE_OPTIONS_INIT;
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_once *run = NULL;
    options.keep_ms = 3600000; /* repetitions come within the hour */
    options.wait_ms = 5000;    /* for one that is being served right now */
    int status = hf_once_begin(client, key, &options, &run, &result, err);
    if (status != HF_OK) return status;
    if (result.outcome == HF_ONCE_MINE)
        status = serve(run, result.fence, err);
    else if (result.outcome == HF_ONCE_DONE)
        printf("again: %s\n", result.data ? result.data : "");
    else
        printf("begun on %s by %lld, and never ended\n", result.host,
               (long long)result.pid);
    hf_once_result_free(client, &result);
    return status;
}

int main(int argc, char **argv)
{
    hf_client *client = NULL;
    struct hf_error err = {0};
    if (argc < 2) {
        fprintf(stderr, "usage: idempotent KEY [URL]\n");
        return 64;
    }
    int status = hf_client_open(argc > 2 ? argv[2] : NULL, NULL, &client, &err);
    if (status == HF_OK) status = request(client, argv[1], &err);
    if (status != HF_OK) fprintf(stderr, "idempotent: %s\n", err.text);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
