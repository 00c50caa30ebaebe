#ifndef HOLDFAST_QUORUM_H
#define HOLDFAST_QUORUM_H 
#include "client.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_QUORUM_NODES_MAX 16
#define HF_QUORUM_FORCE 1u
#define HF_QUORUM_DURABLE 2u
struct hf_quorum_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t max_lease_ms;
    int64_t timeout_ms;
    const char *user;
    const char *password;
    const char *password_file;
};
#define HF_QUORUM_OPTIONS_INIT \
    { \
        sizeof(struct hf_quorum_options), 0, 0, 0, 0, 0, 0 \
    }
static inline void hf_quorum_options_init(struct hf_quorum_options *options)
{
    const struct hf_quorum_options init = HF_QUORUM_OPTIONS_INIT;
    *options = init;
}
struct hf_quorum_node {
    uint32_t struct_size;
    char url[256];
    int status;
    int changed;
    int durable;
    int64_t left_ms;
    int64_t max_lease_ms;
    char identity[96];
    char text[HF_ERROR_TEXT_MAX];
};
typedef void (*hf_quorum_fn)(const struct hf_quorum_node *node, void *user);
HF_API int hf_quorum_init(const char *url,
                          const struct hf_quorum_options *options,
                          hf_quorum_fn fn, void *user, struct hf_error *err);
HF_API int hf_quorum_replace(const char *url, const char *old_url,
                             const char *new_url,
                             const struct hf_quorum_options *options,
                             hf_quorum_fn fn, void *user, struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
