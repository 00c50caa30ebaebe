#ifndef HOLDFAST_GUARD_H
#define HOLDFAST_GUARD_H 
#include "client.h"
#include "value.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_GUARD_VALUE_MAX HF_VALUE_MAX
HF_API int hf_guard_file_replace(const char *path, uint64_t token,
                                 const void *data, size_t len,
                                 struct hf_error *err);
HF_API int hf_guard_file_rename(const char *path, uint64_t token,
                                const char *new_path, struct hf_error *err);
HF_API int hf_guard_file_touch(const char *path, uint64_t token,
                               struct hf_error *err);
HF_API int hf_guard_file_token(const char *path, uint64_t *out,
                               struct hf_error *err);
HF_API int hf_guard_touch(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);
HF_API int hf_guard_set(hf_client *client, const char *key, uint64_t token,
                        const void *data, size_t len, int64_t ttl_ms,
                        struct hf_error *err);
HF_API int hf_guard_delete(hf_client *client, const char *key, uint64_t token,
                           struct hf_error *err);
HF_API int hf_guard_token(hf_client *client, const char *key, uint64_t *out,
                          struct hf_error *err);
HF_API int hf_guard_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);
HF_API int hf_guard_claim(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);
HF_API int hf_guard_set_claimed(hf_client *client, const char *key,
                                uint64_t token, const void *data, size_t len,
                                int64_t ttl_ms, struct hf_error *err);
typedef void (*hf_guard_fn)(hf_client *client, int status, uint64_t token,
                            const struct hf_error *err, void *user);
HF_API int hf_guard_touch_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);
HF_API int hf_guard_set_start(hf_client *client, const char *key,
                              uint64_t token, const void *data, size_t len,
                              int64_t ttl_ms, hf_guard_fn cb, void *user,
                              struct hf_error *err);
HF_API int hf_guard_delete_start(hf_client *client, const char *key,
                                 uint64_t token, hf_guard_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_guard_token_start(hf_client *client, const char *key,
                                hf_guard_fn cb, void *user,
                                struct hf_error *err);
HF_API int hf_guard_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);
HF_API int hf_guard_claim_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);
HF_API int hf_guard_set_claimed_start(hf_client *client, const char *key,
                                      uint64_t token, const void *data,
                                      size_t len, int64_t ttl_ms,
                                      hf_guard_fn cb, void *user,
                                      struct hf_error *err);
HF_API const char *hf_guard_lua(void);
enum hf_guard_dialect {
    HF_GUARD_POSTGRES = 1,
    HF_GUARD_MARIADB = 2,
    HF_GUARD_SQLITE = 3
};
enum hf_guard_statement {
    HF_GUARD_CREATE = 1,
    HF_GUARD_CHECK = 2,
    HF_GUARD_TOKEN = 3,
    HF_GUARD_CLAIM = 4,
    HF_GUARD_STILL = 5,
    HF_GUARD_VERIFY = 6
};
HF_API const char *hf_guard_sql(int dialect, int statement);
#ifdef __cplusplus
}
#endif
#endif
