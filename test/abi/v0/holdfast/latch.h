#ifndef HOLDFAST_LATCH_H
#define HOLDFAST_LATCH_H 
#include "wait.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_latch hf_latch;
#define HF_LATCH_MAX 1000000000
typedef void (*hf_latch_fn)(hf_latch *latch, int status, int64_t left,
                            const struct hf_error *err, void *user);
typedef void (*hf_latch_waited_fn)(hf_latch *latch, int status,
                                   const struct hf_error *err, void *user);
HF_API int hf_latch_open(hf_client *client, const char *name, hf_latch **out,
                         struct hf_error *err);
#define HF_LATCH_OURS 1u
HF_API int hf_latch_open_as(hf_client *client, const char *name, uint32_t flags,
                            hf_latch **out, struct hf_error *err);
HF_API void hf_latch_close(hf_latch *latch);
HF_API const char *hf_latch_name(const hf_latch *latch);
HF_API int hf_latch_set(hf_latch *latch, int64_t count, struct hf_error *err);
HF_API int hf_latch_down(hf_latch *latch, int64_t *left, struct hf_error *err);
HF_API int hf_latch_count(hf_latch *latch, int64_t *left, struct hf_error *err);
HF_API int hf_latch_delete(hf_latch *latch, int *was_set, struct hf_error *err);
HF_API int hf_latch_wait(hf_latch *latch, const struct hf_wait_options *options,
                         struct hf_error *err);
HF_API int hf_latch_set_start(hf_latch *latch, int64_t count, hf_latch_fn cb,
                              void *user, struct hf_error *err);
HF_API int hf_latch_down_start(hf_latch *latch, hf_latch_fn cb, void *user,
                               struct hf_error *err);
HF_API int hf_latch_count_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                struct hf_error *err);
HF_API int hf_latch_delete_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_latch_wait_start(hf_latch *latch,
                               const struct hf_wait_options *options,
                               hf_latch_waited_fn cb, void *user,
                               struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
