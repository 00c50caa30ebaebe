#ifndef HOLDFAST_SEMAPHORE_H
#define HOLDFAST_SEMAPHORE_H 
#include "lock.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_semaphore hf_semaphore;
#define HF_PERMITS_MAX 1000
#define HF_SEMAPHORE_MAX 1000000000
#define HF_SEMAPHORE_SLOTS_MAX 64
#define HF_SEMAPHORE_PLAIN 1u
#define HF_SEMAPHORE_OURS 2u
struct hf_semaphore_options {
    uint32_t struct_size;
    uint32_t flags;
    int32_t order;
    int64_t permits;
};
#define HF_SEMAPHORE_OPTIONS_INIT \
    { \
        sizeof(struct hf_semaphore_options), 0, 0, 0 \
    }
static inline void hf_semaphore_options_init(
    struct hf_semaphore_options *options)
{
    const struct hf_semaphore_options init = HF_SEMAPHORE_OPTIONS_INIT;
    *options = init;
}
struct hf_semaphore_state {
    uint32_t struct_size;
    int is_set;
    int is_done;
    int64_t available;
    int64_t capacity;
    int64_t taken;
};
#define HF_SEMAPHORE_STATE_INIT \
    { \
        sizeof(struct hf_semaphore_state), 0, 0, 0, 0, 0 \
    }
static inline void hf_semaphore_state_init(struct hf_semaphore_state *state)
{
    const struct hf_semaphore_state init = HF_SEMAPHORE_STATE_INIT;
    *state = init;
}
#define HF_SEMAPHORE_ANYWAY 1u
#define HF_SEMAPHORE_IF_SET 2u
typedef void (*hf_semaphore_acquired_fn)(hf_semaphore *sem, int status,
                                         hf_hold *hold,
                                         const struct hf_error *err,
                                         void *user);
typedef void (*hf_semaphore_fn)(hf_semaphore *sem, int status,
                                const struct hf_semaphore_state *state,
                                const struct hf_error *err, void *user);
HF_API int hf_semaphore_open(hf_client *client, const char *name,
                             const struct hf_semaphore_options *options,
                             hf_semaphore **out, struct hf_error *err);
HF_API void hf_semaphore_close(hf_semaphore *sem);
HF_API hf_lock *hf_semaphore_lock(hf_semaphore *sem);
HF_API int hf_semaphore_acquire(hf_semaphore *sem,
                                const struct hf_acquire_options *options,
                                hf_hold **hold, struct hf_error *err);
HF_API int hf_semaphore_try(hf_semaphore *sem, hf_hold **hold,
                            struct hf_error *err);
HF_API int hf_semaphore_acquire_start(hf_semaphore *sem,
                                      const struct hf_acquire_options *options,
                                      hf_semaphore_acquired_fn cb, void *user,
                                      struct hf_error *err);
HF_API int hf_semaphore_attach(hf_semaphore *sem, const char *ticket,
                               int64_t lease_ms, hf_hold **hold,
                               struct hf_error *err);
HF_API int hf_semaphore_attach_start(hf_semaphore *sem, const char *ticket,
                                     int64_t lease_ms,
                                     hf_semaphore_acquired_fn cb, void *user,
                                     struct hf_error *err);
HF_API int hf_semaphore_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);
HF_API int hf_semaphore_try_set(hf_semaphore *sem, int64_t number,
                                struct hf_semaphore_state *out,
                                struct hf_error *err);
HF_API int hf_semaphore_set(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);
HF_API int hf_semaphore_add(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);
HF_API int hf_semaphore_drain(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);
HF_API int hf_semaphore_delete(hf_semaphore *sem,
                               struct hf_semaphore_state *out,
                               struct hf_error *err);
enum hf_semaphore_change {
    HF_SEMAPHORE_LOOK = 0,
    HF_SEMAPHORE_SET = 1,
    HF_SEMAPHORE_TRY_SET = 2,
    HF_SEMAPHORE_ADD = 3,
    HF_SEMAPHORE_DRAIN = 4,
    HF_SEMAPHORE_DELETE = 5
};
HF_API int hf_semaphore_change_start(hf_semaphore *sem, int change,
                                     int64_t number, uint32_t flags,
                                     hf_semaphore_fn cb, void *user,
                                     struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
