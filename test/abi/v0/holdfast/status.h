#ifndef HOLDFAST_STATUS_H
#define HOLDFAST_STATUS_H 
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__) && !defined(HF_API)
#define HF_API __attribute__((visibility("default")))
#elif !defined(HF_API)
#define HF_API 
#endif
#define HF_STATUS_MAP(X) \
    X(OK, 0, NONE, "success") \
    X(TAKEN, -1, RETRY, "held by someone else") \
    X(TIMEOUT, -2, RETRY, "not acquired before the deadline") \
    X(UNAVAILABLE, -3, RETRY, "too few nodes answered") \
    X(LOST, -4, STOP, "taken away while it was held") \
    X(CANCELLED, -5, NONE, "cancelled by the caller") \
    X(EXPIRED, -6, STOP, \
      "not held any more: its lease ended, or it was released, broken, or " \
      "lost by the store") \
    X(INVALID, -7, FIX, "an argument or the order of calls is wrong") \
    X(NOT_OWNER, -8, FIX, "not held by this holder") \
    X(CONFLICT, -9, FIX, "something that is no lock is stored there") \
    X(DENIED, -10, FIX, "not permitted") \
    X(UNSUPPORTED, -11, FIX, "this backend cannot do that") \
    X(FORKED, -12, FIX, "opened by the parent of this process") \
    X(CLOSED, -13, STOP, "the client is closed") \
    X(NOMEM, -14, RETRY, "out of memory") \
    X(INTERNAL, -15, STOP, "a bug in holdfast") \
    X(CHANGED, -16, RETRY, "changed by someone else since it was read") \
    X(STALE, -17, STOP, "a higher token has been there: this hold is over") \
    X(EMPTY, -18, RETRY, "nothing is there now")
enum hf_status {
#define HF_STATUS_ENUM(name,value,advice,text) HF_ ##name = (value),
    HF_STATUS_MAP(HF_STATUS_ENUM)
#undef HF_STATUS_ENUM
};
enum hf_advice {
    HF_ADVICE_NONE = 0,
    HF_ADVICE_RETRY = 1,
    HF_ADVICE_STOP = 2,
    HF_ADVICE_FIX = 3
};
#define HF_ERROR_TEXT_MAX 256
struct hf_error {
    int status;
    int node;
    int sys_errno;
    char text[HF_ERROR_TEXT_MAX];
    int unasked;
    int reserved[8];
};
HF_API const char *hf_status_name(int status);
HF_API const char *hf_status_text(int status);
HF_API int hf_status_advice(int status);
#ifdef __cplusplus
}
#endif
#endif
