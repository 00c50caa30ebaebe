#ifndef HOLDFAST_PROBE_H
#define HOLDFAST_PROBE_H 
#include "quorum.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_PROBE_SAMPLE_MS_MAX 3600000
typedef struct hf_probe hf_probe;
struct hf_probe_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t sample_ms;
    int64_t timeout_ms;
    const char *user;
    const char *password;
    const char *password_file;
};
#define HF_PROBE_OPTIONS_INIT \
    { \
        sizeof(struct hf_probe_options), 0, 0, 0, 0, 0, 0 \
    }
static inline void hf_probe_options_init(struct hf_probe_options *options)
{
    const struct hf_probe_options init = HF_PROBE_OPTIONS_INIT;
    *options = init;
}
enum hf_probe_member {
    HF_PROBE_ALONE = 0,
    HF_PROBE_UNKNOWN,
    HF_PROBE_UNMARKED,
    HF_PROBE_OURS,
    HF_PROBE_OTHERS
};
struct hf_probe_node {
    uint32_t struct_size;
    char url[256];
    int status;
    char text[HF_ERROR_TEXT_MAX];
    int answers;
    int64_t rtt_us;
    int samples;
    int64_t offset_us;
    int64_t skew_us;
    int64_t rate_ppm;
    int64_t rate_error_ppm;
    int64_t step_us;
    int member;
    int64_t votes_in_ms;
    int64_t max_lease_ms;
    int durable;
    char identity[96];
    const char *facts;
};
HF_API int hf_probe_open(const char *url,
                         const struct hf_probe_options *options, hf_probe **out,
                         struct hf_error *err);
HF_API void hf_probe_close(hf_probe *probe);
HF_API int hf_probe_len(const hf_probe *probe);
HF_API const struct hf_probe_node *hf_probe_node(const hf_probe *probe, int i);
HF_API int hf_probe_quorum(const hf_probe *probe);
HF_API int64_t hf_probe_drift_ppm(const hf_probe *probe);
HF_API int hf_probe_left_out(const hf_probe *probe);
HF_API int hf_probe_fact(const struct hf_probe_node *node, const char *name,
                         char *out, size_t size);
#ifdef __cplusplus
}
#endif
#endif
