#ifndef HOLDFAST_CLIENT_H
#define HOLDFAST_CLIENT_H 
#include <stddef.h>
#include "status.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_client hf_client;
typedef struct hf_cancel hf_cancel;
typedef struct hf_hold hf_hold;
#define HF_THREAD_STACK_MIN 65536
enum hf_state {
    HF_STATE_NONE = 0,
    HF_STATE_HELD = 1,
    HF_STATE_AT_RISK = 2,
    HF_STATE_LOST = 3
};
struct hf_event {
    uint32_t struct_size;
    int state;
    int status;
    uint64_t holder;
    hf_hold *hold;
    uint64_t fence;
    int64_t valid_ms;
    char name[513];
    size_t name_len;
    char text[HF_ERROR_TEXT_MAX];
};
#define HF_EVENT_INIT \
    { \
        sizeof(struct hf_event), 0, 0, 0, 0, 0, 0, "", 0, "" \
    }
static inline void hf_event_init(struct hf_event *event)
{
    const struct hf_event init = HF_EVENT_INIT;
    *event = init;
}
typedef void (*hf_state_fn)(const struct hf_event *ev, void *user);
enum hf_log_level {
    HF_LOG_ERROR = 1,
    HF_LOG_WARN = 2,
    HF_LOG_INFO = 3,
    HF_LOG_DEBUG = 4
};
typedef void (*hf_log_fn)(int level, const char *line, void *user);
struct hf_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*resize)(void *ptr, size_t size, void *user);
    void (*release)(void *ptr, void *user);
    void *user;
};
#define HF_CLIENT_OWN_LOOP 1u
enum hf_fallback {
    HF_FALLBACK_DEFAULT = 0,
    HF_FALLBACK_FAIL = 1,
    HF_FALLBACK_WAIT = 2,
    HF_FALLBACK_LOCAL = 3
};
struct hf_client_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t lease_ms;
    int64_t timeout_ms;
    int64_t patience_ms;
    int64_t drift_ppm;
    int64_t spin_us;
    const char *user;
    const char *password;
    const char *label;
    struct hf_allocator allocator;
    hf_log_fn log;
    void *log_user;
    int log_level;
    hf_state_fn on_state;
    void *state_user;
    int32_t fallback;
    int32_t handover;
    int64_t handover_ms;
    const char *password_file;
};
#define HF_CLIENT_OPTIONS_INIT \
    { \
        sizeof(struct hf_client_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            {0, 0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }
static inline void hf_client_options_init(struct hf_client_options *options)
{
    const struct hf_client_options init = HF_CLIENT_OPTIONS_INIT;
    *options = init;
}
#define HF_CAP_FENCE 0x01u
#define HF_CAP_LEASE 0x02u
#define HF_CAP_KERNEL 0x08u
#define HF_CAP_DETACHED 0x10u
#define HF_CAP_WATCH 0x20u
#define HF_CAP_BREAK 0x40u
#define HF_CAP_LIST 0x80u
#define HF_CAP_BALLOT 0x100u
#define HF_CAP_VALUE 0x200u
#define HF_CAP_GUARD 0x400u
#define HF_CAP_RW 0x800u
#define HF_CAP_QUEUE 0x1000u
#define HF_CAP_PERMIT 0x2000u
#define HF_CAP_TALLY 0x4000u
HF_API int hf_client_open(const char *url,
                          const struct hf_client_options *options,
                          hf_client **out, struct hf_error *err);
HF_API void hf_client_close(hf_client *client);
HF_API unsigned hf_client_caps(const hf_client *client);
HF_API const char *hf_client_url(const hf_client *client);
HF_API int hf_client_settings(const hf_client *client,
                              struct hf_client_options *out,
                              struct hf_error *err);
#define HF_URL_PASSWORD 0x01u
#define HF_URL_QUORUM 0x02u
#define HF_URL_SENTINEL 0x04u
#define HF_URL_CLUSTER 0x08u
#define HF_URL_PROCESS 0x10u
#define HF_URL_STRING 0x20u
HF_API unsigned hf_url_traits(const char *url);
enum hf_link {
    HF_LINK_UP = 0,
    HF_LINK_CONNECTING = 1,
    HF_LINK_DOWN = 2,
    HF_LINK_REFUSED = 3,
    HF_LINK_ASKING = 4,
    HF_LINK_BLANK = 5,
    HF_LINK_QUARANTINED = 6,
    HF_LINK_CLOCK = 7
};
struct hf_node {
    uint32_t struct_size;
    char url[256];
    int up;
    int settled;
    int64_t quarantine_left_ms;
    int status;
    char text[HF_ERROR_TEXT_MAX];
    int64_t clock_offset_ms;
    char identity[96];
    int durable;
    int link;
};
typedef void (*hf_node_fn)(const struct hf_node *node, void *user);
HF_API int hf_client_nodes(hf_client *client, hf_node_fn fn, void *user);
HF_API uint64_t hf_holder_self(void);
HF_API uint64_t hf_holder_new(void);
HF_API int hf_client_event_fd(hf_client *client);
HF_API int hf_client_next_event(hf_client *client, struct hf_event *out);
HF_API int hf_client_fd(hf_client *client);
HF_API int hf_client_process(hf_client *client);
HF_API int64_t hf_client_timeout_ms(hf_client *client);
HF_API int hf_cancel_open(hf_client *client, hf_cancel **out);
HF_API void hf_cancel_fire(hf_cancel *cancel);
HF_API void hf_cancel_reset(hf_cancel *cancel);
HF_API void hf_cancel_close(hf_cancel *cancel);
#ifdef __cplusplus
}
#endif
#endif
