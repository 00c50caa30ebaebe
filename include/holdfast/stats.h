/*
 * holdfast/stats.h: what a client has done since it was opened, in numbers.
 *
 *     struct hf_stats stats = HF_STATS_INIT;
 *     if (hf_client_stats(client, &stats, &err) == HF_OK && stats.granted > 0)
 *         printf("waited %llu us on average, lost %llu\n",
 *                (unsigned long long)(stats.wait_us / stats.granted),
 *                (unsigned long long)stats.lost);
 *
 * They count the locks and permits of one client, also those of elections, runs
 * (once.h) and sets.  Counters only rise.  Where each permit is a lock
 * (semaphore.h), each lock that was asked for is counted.  Latches, barriers
 * and values are not counted.
 *
 * A histogram is an array of HF_STATS_BINS numbers.  Bin 0 counts times below
 * one microsecond, bin i times from 2^(i-1) to below 2^i microseconds, and the
 * last bin all longer times as well, from 18 minutes.
 */
#ifndef HOLDFAST_STATS_H
#define HOLDFAST_STATS_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_STATS_BINS 32

struct hf_stats {
    /* Set by HF_STATS_INIT. */
    uint32_t struct_size;
    int32_t nodes_up; /* servers that can be reached now */

    int64_t held;    /* holds now, as the store sees them: a lock that its
                      * holder has acquired twice is one */
    int64_t waiting; /* acquires that have begun, and not yet ended */

    /* Acquires, by their end. */
    uint64_t granted;
    uint64_t taken; /* HF_TAKEN */
    uint64_t timed_out;
    uint64_t unavailable;
    uint64_t cancelled;
    uint64_t failed; /* any other status */

    uint64_t renewed;      /* renewals, extensions and further acquires by the
                            * holder that the store has confirmed */
    uint64_t renew_failed; /* those that were not confirmed in time; they are
                            * repeated while the hold is valid */
    uint64_t at_risk;      /* HF_STATE_AT_RISK was reported */
    uint64_t lost;         /* HF_STATE_LOST was reported */

    uint64_t connects;    /* times that a server became reachable, the first
                           * time included */
    uint64_t disconnects; /* times that a server was no longer reachable */

    /* Sums, and histograms, of times in microseconds. */
    uint64_t wait_us;                   /* until an acquire was granted */
    uint64_t hold_us;                   /* of holds that have ended */
    uint64_t renew_us;                  /* until a renewal was confirmed */
    uint64_t wait_bins[HF_STATS_BINS];  /* their sum is `granted` */
    uint64_t hold_bins[HF_STATS_BINS];  /* their sum: holds that have ended */
    uint64_t renew_bins[HF_STATS_BINS]; /* their sum is `renewed` */
};
#define HF_STATS_INIT                                                          \
    {                                                                          \
        sizeof(struct hf_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, {0}, {0},                                                 \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }
static inline void hf_stats_init(struct hf_stats *stats)
{
    const struct hf_stats init = HF_STATS_INIT;
    *stats = init;
}

/**
 * Return what the client has done since it was opened.  All numbers are of one
 * moment.  Sends nothing.
 *
 * @param client  borrowed
 * @param out     owned by the caller; HF_STATS_INIT; filled on HF_OK
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK       `out` is filled
 *         HF_INVALID  struct_size is not set
 *         HF_FORKED   the client was opened by the parent of this process
 *
 * Threads: any.
 */
HF_API int hf_client_stats(hf_client *client, struct hf_stats *out,
                           struct hf_error *err);

#ifdef __cplusplus
}
#endif

#endif
