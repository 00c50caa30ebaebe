#ifndef HOLDFAST_ELECTION_H
#define HOLDFAST_ELECTION_H 
#include "lock.h"
#ifdef __cplusplus
extern "C" {
#endif
typedef struct hf_election hf_election;
#define HF_ELECTION_NAME_MAX 480
#define HF_ELECTION_VALUE_MAX 60000
typedef void (*hf_election_fn)(hf_election *election, const struct hf_event *ev,
                               void *user);
struct hf_election_options {
    uint32_t struct_size;
    int32_t order;
    int64_t lease_ms;
    int64_t renew_ms;
    hf_election_fn on_state;
    void *user;
};
#define HF_ELECTION_OPTIONS_INIT \
    { \
        sizeof(struct hf_election_options), 0, 0, 0, 0, 0 \
    }
static inline void hf_election_options_init(struct hf_election_options *options)
{
    const struct hf_election_options init = HF_ELECTION_OPTIONS_INIT;
    *options = init;
}
#define HF_CAMPAIGN_TRY 1u
struct hf_campaign_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    hf_cancel *cancel;
    const void *value;
    size_t value_len;
};
#define HF_CAMPAIGN_OPTIONS_INIT \
    { \
        sizeof(struct hf_campaign_options), 0, 0, 0, 0, 0 \
    }
static inline void hf_campaign_options_init(struct hf_campaign_options *options)
{
    const struct hf_campaign_options init = HF_CAMPAIGN_OPTIONS_INIT;
    *options = init;
}
struct hf_leader {
    uint32_t struct_size;
    int is_led;
    int is_me;
    uint64_t fence;
    int64_t since_ms;
    int64_t now_ms;
    int64_t ttl_ms;
    int64_t pid;
    char owner[HF_OWNER_MAX];
    char host[HF_HOST_MAX];
    char label[HF_LABEL_MAX];
    uint64_t version;
    size_t len;
    char *data;
};
#define HF_LEADER_INIT \
    { \
        sizeof(struct hf_leader), 0, 0, 0, 0, 0, 0, 0, "", "", "", 0, 0, 0 \
    }
static inline void hf_leader_init(struct hf_leader *leader)
{
    const struct hf_leader init = HF_LEADER_INIT;
    *leader = init;
}
#define HF_AWAIT_TRY 1u
struct hf_await_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    int64_t look_ms;
    hf_cancel *cancel;
};
#define HF_AWAIT_OPTIONS_INIT \
    { \
        sizeof(struct hf_await_options), 0, 0, 0, 0 \
    }
static inline void hf_await_options_init(struct hf_await_options *options)
{
    const struct hf_await_options init = HF_AWAIT_OPTIONS_INIT;
    *options = init;
}
typedef void (*hf_campaigned_fn)(hf_election *election, int status,
                                 hf_hold *hold, const struct hf_error *err,
                                 void *user);
typedef void (*hf_resigned_fn)(hf_election *election, int status,
                               const struct hf_error *err, void *user);
typedef void (*hf_awaited_fn)(hf_election *election, int status,
                              const struct hf_leader *leader,
                              const struct hf_error *err, void *user);
HF_API int hf_election_open(hf_client *client, const char *name,
                            const struct hf_election_options *options,
                            hf_election **out, struct hf_error *err);
HF_API void hf_election_close(hf_election *election);
HF_API int hf_election_campaign(hf_election *election,
                                const struct hf_campaign_options *options,
                                hf_hold **hold, struct hf_error *err);
HF_API int hf_election_campaign_start(hf_election *election,
                                      const struct hf_campaign_options *options,
                                      hf_campaigned_fn cb, void *user,
                                      struct hf_error *err);
HF_API int hf_election_resign(hf_election *election, struct hf_error *err);
HF_API int hf_election_resign_start(hf_election *election, hf_resigned_fn cb,
                                    void *user, struct hf_error *err);
HF_API int hf_election_publish(hf_election *election, const void *value,
                               size_t value_len, struct hf_error *err);
typedef void (*hf_published_fn)(hf_election *election, int status,
                                const struct hf_error *err, void *user);
HF_API int hf_election_publish_start(hf_election *election, const void *value,
                                     size_t value_len, hf_published_fn cb,
                                     void *user, struct hf_error *err);
HF_API int hf_election_look(hf_election *election, struct hf_leader *out,
                            struct hf_error *err);
HF_API int hf_election_await(hf_election *election,
                             const struct hf_leader *seen,
                             const struct hf_await_options *options,
                             struct hf_leader *out, struct hf_error *err);
HF_API int hf_election_await_start(hf_election *election,
                                   const struct hf_leader *seen,
                                   const struct hf_await_options *options,
                                   hf_awaited_fn cb, void *user,
                                   struct hf_error *err);
HF_API void hf_leader_free(hf_election *election, struct hf_leader *leader);
HF_API hf_hold *hf_election_hold(hf_election *election);
#ifdef __cplusplus
}
#endif
#endif
