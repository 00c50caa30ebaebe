#ifndef HOLDFAST_MULTI_H
#define HOLDFAST_MULTI_H 
#include "lock.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_multi hf_multi;
#define HF_MULTI_MAX 64
typedef void (*hf_multi_acquired_fn)(hf_multi *multi, int status, hf_hold *hold,
                                     const struct hf_error *err, void *user);
HF_API int hf_multi_open(hf_lock *const *locks, size_t len, hf_multi **out,
                         struct hf_error *err);
HF_API void hf_multi_close(hf_multi *multi);
HF_API int hf_multi_acquire(hf_multi *multi,
                            const struct hf_acquire_options *options,
                            hf_hold **hold, struct hf_error *err);
HF_API int hf_multi_try(hf_multi *multi, hf_hold **hold, struct hf_error *err);
HF_API int hf_multi_acquire_start(hf_multi *multi,
                                  const struct hf_acquire_options *options,
                                  hf_multi_acquired_fn cb, void *user,
                                  struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
