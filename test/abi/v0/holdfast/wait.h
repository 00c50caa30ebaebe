#ifndef HOLDFAST_WAIT_H
#define HOLDFAST_WAIT_H 
#include "lock.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_WAIT_TRY 1u
struct hf_wait_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    hf_cancel *cancel;
};
#define HF_WAIT_OPTIONS_INIT \
    { \
        sizeof(struct hf_wait_options), 0, 0, 0 \
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
