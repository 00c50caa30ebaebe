/*
 * urls.c: see urls.h.  One rule: both ways are measured in the same way, in
 * turn, by this process.
 */
#define _POSIX_C_SOURCE 200809L
#include "urls.h"

#include "tool.h"

#define WARM_OPS 5000

void url_open(const char *url, hf_client **client, hf_lock **lock)
{
    struct hf_error err;

    if (hf_client_open(url, NULL, client, &err) != HF_OK
        || hf_lock_open(*client, "bench", lock, &err) != HF_OK)
        fail("%s: %s", url, err.text);
}

/* Both ways decide for themselves whether to spin: let them. */
static double rate(const char *url, double secs)
{
    hf_client *client;
    hf_lock *lock;
    struct hf_error err;
    uint64_t start = 0, took = 0;
    int ops = 0;

    url_open(url, &client, &lock);
    for (int i = -WARM_OPS; (double)took < secs * (double)NS_PER_S; i++) {
        if (i == 0) start = now_ns();
        if (hf_lock_acquire(lock, NULL, NULL, &err) != HF_OK
            || hf_lock_release(lock, NULL, &err) != HF_OK)
            fail("%s: %s", url, err.text);
        if (i < 0) continue;
        took = now_ns() - start;
        ops++;
    }
    hf_client_close(client);
    return ops / ((double)took / (double)NS_PER_S);
}

void urls_compare(struct bench *b, const struct work *w, const char *url,
                  const char *direct, double ratio_min)
{
    double ours[ROUNDS_MAX], reference[ROUNDS_MAX], ratios[ROUNDS_MAX];

    for (int i = 0; i < b->rounds; i++) {
        reference[i] = rate(direct, b->secs);
        ours[i] = rate(url, b->secs);
        ratios[i] = ours[i] / reference[i];
    }
    struct row row = {w->name,
                      "ops/s",
                      median(ours, b->rounds),
                      median(reference, b->rounds),
                      median(ratios, b->rounds),
                      JUDGE_RATIO_MIN,
                      ratio_min,
                      ""};
    table_add(&b->table, row, NULL);
}
