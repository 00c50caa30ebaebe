#ifndef HOLDFAST_HOLD_H
#define HOLDFAST_HOLD_H 
#include "client.h"
#ifdef __cplusplus
extern "C" {
#endif
#define HF_TICKET_MAX 192
enum hf_guarantee {
    HF_GUARANTEE_STORE = 0,
    HF_GUARANTEE_LOCAL = 1
};
typedef void (*hf_hold_fn)(hf_hold *hold, int status,
                           const struct hf_error *err, void *user);
typedef void (*hf_hold_state_fn)(hf_hold *hold, const struct hf_event *ev,
                                 void *user);
HF_API uint64_t hf_hold_fence(const hf_hold *hold);
HF_API int64_t hf_hold_valid_ms(const hf_hold *hold);
HF_API int hf_hold_state(const hf_hold *hold);
HF_API void hf_hold_why(const hf_hold *hold, char text[HF_ERROR_TEXT_MAX]);
HF_API int64_t hf_hold_count(const hf_hold *hold);
HF_API int64_t hf_hold_lease_ms(const hf_hold *hold);
HF_API const char *hf_hold_name(const hf_hold *hold);
HF_API int hf_hold_guarantee(const hf_hold *hold);
HF_API int hf_hold_replicas(const hf_hold *hold);
HF_API size_t hf_hold_parts(const hf_hold *hold);
HF_API hf_hold *hf_hold_part(hf_hold *hold, size_t i);
HF_API int hf_hold_extend(hf_hold *hold, int64_t lease_ms,
                          struct hf_error *err);
HF_API int hf_hold_extend_start(hf_hold *hold, int64_t lease_ms, hf_hold_fn cb,
                                void *user, struct hf_error *err);
HF_API int hf_hold_feed(hf_hold *hold);
HF_API int hf_hold_release(hf_hold *hold, struct hf_error *err);
HF_API int hf_hold_release_start(hf_hold *hold, hf_hold_fn cb, void *user,
                                 struct hf_error *err);
HF_API int hf_hold_on_state(hf_hold *hold, hf_hold_state_fn fn, void *user,
                            struct hf_error *err);
HF_API int hf_hold_ticket(hf_hold *hold, char *ticket, size_t size,
                          struct hf_error *err);
HF_API int hf_hold_inherit(hf_hold *hold, int *out_fd, struct hf_error *err);
#ifdef __cplusplus
}
#endif
#endif
