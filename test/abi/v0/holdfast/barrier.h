#ifndef HOLDFAST_BARRIER_H
#define HOLDFAST_BARRIER_H 
#include "wait.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_barrier hf_barrier;
#define HF_BARRIER_PARTIES_MAX 1000
struct hf_passed {
    uint32_t struct_size;
    uint64_t generation;
    int64_t index;
};
#define HF_PASSED_INIT \
    { \
        sizeof(struct hf_passed), 0, 0 \
    }
static inline void hf_passed_init(struct hf_passed *passed)
{
    const struct hf_passed init = HF_PASSED_INIT;
    *passed = init;
}
typedef void (*hf_passed_fn)(hf_barrier *barrier, int status,
                             const struct hf_passed *passed,
                             const struct hf_error *err, void *user);
HF_API int hf_barrier_open(hf_client *client, const char *name, int64_t parties,
                           hf_barrier **out, struct hf_error *err);
HF_API void hf_barrier_close(hf_barrier *barrier);
HF_API const char *hf_barrier_name(const hf_barrier *barrier);
HF_API int hf_barrier_wait(hf_barrier *barrier,
                           const struct hf_wait_options *options,
                           struct hf_passed *passed, struct hf_error *err);
HF_API int hf_barrier_wait_start(hf_barrier *barrier,
                                 const struct hf_wait_options *options,
                                 hf_passed_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_barrier_waiting(hf_barrier *barrier, int64_t *waiting,
                              struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
