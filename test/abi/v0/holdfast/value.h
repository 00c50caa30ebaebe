#ifndef HOLDFAST_VALUE_H
#define HOLDFAST_VALUE_H 
#include "client.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_VALUE_MAX 65536
#define HF_VALUE_ANY UINT64_MAX
#define HF_VALUE_TTL_MS_MAX INT64_C(31622400000)
struct hf_value {
    uint32_t struct_size;
    uint64_t version;
    int64_t ttl_ms;
    int64_t now_ms;
    size_t len;
    char *data;
};
#define HF_VALUE_INIT \
    { \
        sizeof(struct hf_value), 0, 0, 0, 0, 0 \
    }
static inline void hf_value_init(struct hf_value *value)
{
    const struct hf_value init = HF_VALUE_INIT;
    *value = init;
}
HF_API int hf_value_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);
HF_API void hf_value_free(hf_client *client, struct hf_value *value);
HF_API int hf_value_write(hf_client *client, const char *key, uint64_t version,
                          const void *data, size_t len, int64_t ttl_ms,
                          uint64_t *written, struct hf_error *err);
HF_API int hf_value_delete(hf_client *client, const char *key, uint64_t version,
                           struct hf_error *err);
typedef void (*hf_value_read_fn)(hf_client *client, int status,
                                 const struct hf_value *value,
                                 const struct hf_error *err, void *user);
typedef void (*hf_value_written_fn)(hf_client *client, int status,
                                    uint64_t version,
                                    const struct hf_error *err, void *user);
HF_API int hf_value_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);
HF_API int hf_value_write_start(hf_client *client, const char *key,
                                uint64_t version, const void *data, size_t len,
                                int64_t ttl_ms, hf_value_written_fn cb,
                                void *user, struct hf_error *err);
HF_API int hf_value_delete_start(hf_client *client, const char *key,
                                 uint64_t version, hf_value_written_fn cb,
                                 void *user, struct hf_error *err);
struct hf_value_next {
    uint32_t struct_size;
    int remove;
    const void *data;
    size_t len;
    int64_t ttl_ms;
};
typedef int (*hf_value_fn)(const struct hf_value *now,
                           struct hf_value_next *next, void *user);
#define HF_UPDATE_TRY 1u
struct hf_update_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    int64_t tries;
};
#define HF_UPDATE_OPTIONS_INIT \
    { \
        sizeof(struct hf_update_options), 0, 0, 0 \
    }
static inline void hf_update_options_init(struct hf_update_options *options)
{
    const struct hf_update_options init = HF_UPDATE_OPTIONS_INIT;
    *options = init;
}
HF_API int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                           void *user, const struct hf_update_options *options,
                           uint64_t *written, struct hf_error *err);
HF_API int hf_value_update_start(hf_client *client, const char *key,
                                 hf_value_fn fn,
                                 const struct hf_update_options *options,
                                 hf_value_written_fn cb, void *user,
                                 struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
