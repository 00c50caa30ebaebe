#ifndef HOLDFAST_ONCE_H
#define HOLDFAST_ONCE_H 
#include "lock.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_once hf_once;
#define HF_ONCE_NAME_MAX 480
#define HF_ONCE_RESULT_MAX 60000
enum hf_once_outcome {
    HF_ONCE_MINE = 1,
    HF_ONCE_DONE = 2,
    HF_ONCE_RUNNING = 3,
    HF_ONCE_DIED = 4
};
#define HF_ONCE_RETRY \
    1u
#define HF_ONCE_TRY 2u
struct hf_once_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t period_ms;
    int64_t keep_ms;
    int64_t wait_ms;
    int64_t lease_ms;
    int64_t min_hold_ms;
    int64_t max_hold_ms;
    hf_cancel *cancel;
    int64_t renew_ms;
};
#define HF_ONCE_OPTIONS_INIT \
    { \
        sizeof(struct hf_once_options), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
static inline void hf_once_options_init(struct hf_once_options *options)
{
    const struct hf_once_options init = HF_ONCE_OPTIONS_INIT;
    *options = init;
}
struct hf_once_result {
    uint32_t struct_size;
    int outcome;
    int status;
    uint64_t fence;
    int64_t began_ms;
    int64_t ended_ms;
    int64_t valid_ms;
    int guarantee;
    char host[HF_HOST_MAX];
    int64_t pid;
    size_t len;
    char *data;
};
#define HF_ONCE_RESULT_INIT \
    { \
        sizeof(struct hf_once_result), 0, 0, 0, 0, 0, 0, 0, "", 0, 0, 0 \
    }
static inline void hf_once_result_init(struct hf_once_result *result)
{
    const struct hf_once_result init = HF_ONCE_RESULT_INIT;
    *result = init;
}
HF_API int hf_once_begin(hf_client *client, const char *name,
                         const struct hf_once_options *options, hf_once **out,
                         struct hf_once_result *result, struct hf_error *err);
typedef void (*hf_once_begun_fn)(hf_client *client, int status, hf_once *once,
                                 const struct hf_once_result *result,
                                 const struct hf_error *err, void *user);
HF_API int hf_once_begin_start(hf_client *client, const char *name,
                               const struct hf_once_options *options,
                               hf_once_begun_fn cb, void *user,
                               struct hf_error *err);
HF_API int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                       struct hf_error *err);
typedef void (*hf_once_ended_fn)(hf_client *client, int status,
                                 const struct hf_error *err, void *user);
HF_API int hf_once_end_start(hf_once *once, int status, const void *data,
                             size_t len, hf_once_ended_fn cb, void *user,
                             struct hf_error *err);
HF_API int hf_once_abandon(hf_once *once, struct hf_error *err);
HF_API int hf_once_abandon_start(hf_once *once, hf_once_ended_fn cb, void *user,
                                 struct hf_error *err);
HF_API hf_hold *hf_once_hold(const hf_once *once);
HF_API int hf_once_look(hf_client *client, const char *name,
                        const struct hf_once_options *options,
                        struct hf_once_result *result, struct hf_error *err);
typedef void (*hf_once_looked_fn)(hf_client *client, int status,
                                  const struct hf_once_result *result,
                                  const struct hf_error *err, void *user);
HF_API int hf_once_look_start(hf_client *client, const char *name,
                              const struct hf_once_options *options,
                              hf_once_looked_fn cb, void *user,
                              struct hf_error *err);
HF_API void hf_once_result_free(hf_client *client,
                                struct hf_once_result *result);
#ifdef __cplusplus
}
#endif
#endif
