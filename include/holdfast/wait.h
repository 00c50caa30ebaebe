/*
 * holdfast/wait.h: how to wait for what nobody holds: latch.h, barrier.h.
 */
#ifndef HOLDFAST_WAIT_H
#define HOLDFAST_WAIT_H

#include "lock.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_WAIT_TRY 1u /* look once, and do not wait: HF_TAKEN if not yet */

/* Zero is every field's default. */
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

#ifdef __cplusplus
}
#endif

#endif
