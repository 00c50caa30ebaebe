/*
 * holdfast/wait.h: options of the calls that wait without acquiring a hold:
 * latch.h, barrier.h.
 *
 *     struct hf_wait_options options = HF_WAIT_OPTIONS_INIT;
 *     options.wait_ms = 5000;
 *     if (hf_latch_wait(latch, &options, &err) == HF_TIMEOUT)
 *         puts("the latch is still closed after 5 seconds");
 */
#ifndef HOLDFAST_WAIT_H
#define HOLDFAST_WAIT_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_WAIT_TRY 1u /* check once and do not wait: HF_TAKEN if not ready */

/* How to wait.  Zero is every field's default. */
struct hf_wait_options {
    uint32_t struct_size; /* set by HF_WAIT_OPTIONS_INIT */
    uint32_t flags;       /* HF_WAIT_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    hf_cancel *cancel;    /* borrowed until the call is over; may be NULL */
};
#define HF_WAIT_OPTIONS_INIT                                                   \
    {                                                                          \
        sizeof(struct hf_wait_options), 0, 0, 0                                \
    }
static inline void hf_wait_options_init(struct hf_wait_options *options)
{
    const struct hf_wait_options init = HF_WAIT_OPTIONS_INIT;
    *options = init;
}

#ifdef __cplusplus
}
#endif

#endif
