#ifndef HOLDFAST_LOCK_H
#define HOLDFAST_LOCK_H 
#include "hold.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_lock hf_lock;
#define HF_NAME_MAX 512
#define HF_LEASE_MS_MAX 86400000
#define HF_LEASE_MS_MIN 10
#define HF_ACQUIRE_FIXED 1u
#define HF_ACQUIRE_DETACHED \
    4u
#define HF_ACQUIRE_NO_REENTRY \
    8u
#define HF_ACQUIRE_UPGRADE \
    16u
#define HF_ACQUIRE_TRY 32u
enum hf_kind {
    HF_KIND_PLAIN = 0,
    HF_KIND_READ = 1,
    HF_KIND_WRITE = 2,
    HF_KIND_PERMIT = 3
};
enum hf_order {
    HF_ORDER_ANY = 0,
    HF_ORDER_FAIR = 1,
    HF_ORDER_WRITERS = 2
};
struct hf_lock_options {
    uint32_t struct_size;
    int32_t kind;
    int32_t order;
};
#define HF_LOCK_OPTIONS_INIT \
    { \
        sizeof(struct hf_lock_options), 0, 0 \
    }
static inline void hf_lock_options_init(struct hf_lock_options *options)
{
    const struct hf_lock_options init = HF_LOCK_OPTIONS_INIT;
    *options = init;
}
enum hf_backoff {
    HF_BACKOFF_NONE = 0,
    HF_BACKOFF_EXPONENTIAL = 1,
    HF_BACKOFF_CONSTANT = 2,
    HF_BACKOFF_JITTER = 3
};
struct hf_acquire_options {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t holder;
    int64_t wait_ms;
    int64_t lease_ms;
    hf_cancel *cancel;
    int64_t renew_ms;
    int64_t max_hold_ms;
    int64_t feed_ms;
    int64_t backoff_ms;
    int64_t backoff_max_ms;
    int32_t backoff;
    int32_t backoff_factor;
    int64_t permits;
};
#define HF_ACQUIRE_OPTIONS_INIT \
    { \
        sizeof(struct hf_acquire_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0 \
    }
static inline void hf_acquire_options_init(struct hf_acquire_options *options)
{
    const struct hf_acquire_options init = HF_ACQUIRE_OPTIONS_INIT;
    *options = init;
}
#define HF_OWNER_MAX 128
#define HF_HOST_MAX 64
#define HF_LABEL_MAX 64
#define HF_LAYOUT_MAX 16
struct hf_info {
    uint32_t struct_size;
    int locked;
    int shared;
    int mine;
    int foreign;
    int detached;
    int64_t ttl_ms;
    int64_t count;
    int64_t owner_count;
    uint64_t fence;
    int64_t since_ms;
    int64_t now_ms;
    int64_t waiters;
    int64_t pid;
    char owner[HF_OWNER_MAX];
    char host[HF_HOST_MAX];
    char label[HF_LABEL_MAX];
    char layout[HF_LAYOUT_MAX];
    int guarantee;
    int nodes;
    int nodes_heard;
    int nodes_agree;
    int64_t queued;
    int64_t position;
    int64_t readers;
    int64_t permits;
    int64_t available;
};
#define HF_INFO_INIT \
    { \
        sizeof(struct hf_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", "", \
            "", "", 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
static inline void hf_info_init(struct hf_info *info)
{
    const struct hf_info init = HF_INFO_INIT;
    *info = init;
}
typedef void (*hf_acquired_fn)(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user);
typedef void (*hf_inspected_fn)(hf_lock *lock, int status,
                                const struct hf_info *info,
                                const struct hf_error *err, void *user);
typedef void (*hf_broken_fn)(hf_lock *lock, int status, int was_locked,
                             const struct hf_error *err, void *user);
HF_API int hf_lock_open(hf_client *client, const char *name, hf_lock **out,
                        struct hf_error *err);
HF_API int hf_lock_open_n(hf_client *client, const char *name, size_t name_len,
                          hf_lock **out, struct hf_error *err);
HF_API int hf_lock_open_as(hf_client *client, const char *name,
                           const struct hf_lock_options *options, hf_lock **out,
                           struct hf_error *err);
HF_API int hf_lock_kind(const hf_lock *lock);
HF_API void hf_lock_close(hf_lock *lock);
HF_API const char *hf_lock_name(const hf_lock *lock);
HF_API int hf_lock_acquire(hf_lock *lock,
                           const struct hf_acquire_options *options,
                           hf_hold **hold, struct hf_error *err);
HF_API int hf_lock_acquire_start(hf_lock *lock,
                                 const struct hf_acquire_options *options,
                                 hf_acquired_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err);
HF_API int hf_lock_release(hf_lock *lock, int64_t *count, struct hf_error *err);
HF_API int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err);
HF_API int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                               struct hf_error *err);
HF_API int hf_lock_inspect(hf_lock *lock, struct hf_info *info,
                           struct hf_error *err);
HF_API int hf_lock_inspect_start(hf_lock *lock, hf_inspected_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err);
HF_API int hf_lock_is_mine(hf_lock *lock, int *out, struct hf_error *err);
HF_API int hf_lock_hold_count(hf_lock *lock, int64_t *out,
                              struct hf_error *err);
HF_API int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err);
HF_API int hf_lock_attach(hf_lock *lock, const char *ticket, int64_t lease_ms,
                          hf_hold **hold, struct hf_error *err);
HF_API int hf_lock_attach_start(hf_lock *lock, const char *ticket,
                                int64_t lease_ms, hf_acquired_fn cb, void *user,
                                struct hf_error *err);
HF_API int hf_ticket_release(hf_lock *lock, const char *ticket,
                             struct hf_error *err);
typedef void (*hf_ticket_released_fn)(hf_lock *lock, int status,
                                      const struct hf_error *err, void *user);
HF_API int hf_ticket_release_start(hf_lock *lock, const char *ticket,
                                   hf_ticket_released_fn cb, void *user,
                                   struct hf_error *err);
struct hf_list_row {
    uint32_t struct_size;
    const char *name;
    size_t name_len;
    const struct hf_info *info;
};
typedef int (*hf_list_fn)(const struct hf_list_row *row, void *user);
HF_API int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                          void *user, struct hf_error *err);
typedef void (*hf_listed_fn)(hf_client *client, int status,
                             const struct hf_error *err, void *user);
HF_API int hf_client_list_start(hf_client *client, const char *match,
                                hf_list_fn fn, hf_listed_fn cb, void *user,
                                struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
