/*
 * holdfast/status.h: the statuses that calls return.
 *
 *     int status = hf_lock_acquire(lock, NULL, &hold, &err);
 *     if (status != HF_OK)
 *         printf("%s: %s\n", hf_status_name(status), err.text);
 *     if (hf_status_advice(status) == HF_ADVICE_STOP)
 *         abort();
 *
 * Most calls return one of these; `struct hf_error` adds the details in words.
 * Values are part of the ABI and are never renumbered.
 */
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

/* One row per code: name, value, advice, text.  Values never change. */
#define HF_STATUS_MAP(X)                                                       \
    X(OK, 0, NONE, "success")                                                  \
    X(TAKEN, -1, RETRY, "held by another holder")                              \
    X(TIMEOUT, -2, RETRY, "not acquired before the deadline")                  \
    X(UNAVAILABLE, -3, RETRY, "too few nodes answered")                        \
    X(LOST, -4, STOP, "taken away while it was held")                          \
    X(CANCELLED, -5, NONE, "cancelled by the caller")                          \
    X(EXPIRED, -6, STOP,                                                       \
      "not held any more: its lease ended, or it was released, broken, or "    \
      "lost by the store")                                                     \
    X(INVALID, -7, FIX, "an argument or the order of calls is wrong")          \
    X(NOT_OWNER, -8, FIX, "not held by this holder")                           \
    X(CONFLICT, -9, FIX, "something that is no lock is stored there")          \
    X(DENIED, -10, FIX, "not permitted")                                       \
    X(UNSUPPORTED, -11, FIX, "this backend cannot do that")                    \
    X(FORKED, -12, FIX, "opened by the parent of this process")                \
    X(CLOSED, -13, STOP, "the client is closed")                               \
    X(NOMEM, -14, RETRY, "out of memory")                                      \
    X(INTERNAL, -15, STOP, "a bug in holdfast")                                \
    X(CHANGED, -16, RETRY, "changed since it was read")                        \
    X(STALE, -17, STOP, "the resource has seen a higher token")                \
    X(EMPTY, -18, RETRY, "nothing is there now")

enum hf_status {
#define HF_STATUS_ENUM(name, value, advice, text) HF_##name = (value),
    HF_STATUS_MAP(HF_STATUS_ENUM)
#undef HF_STATUS_ENUM
};

/* What the caller should do about a status. */
enum hf_advice {
    HF_ADVICE_NONE = 0,  /* nothing is wrong */
    HF_ADVICE_RETRY = 1, /* the same call may succeed later */
    HF_ADVICE_STOP = 2,  /* stop touching the protected resource */
    HF_ADVICE_FIX = 3    /* change the call, the configuration or the rights */
};

#define HF_ERROR_TEXT_MAX 256 /* bytes in a text, with the NUL */

/*
 * Why a call failed.  Filled by the call, owned by the caller.  It needs no
 * initialiser, and its size never changes: a later version uses what is
 * reserved.
 *
 * The text goes from the outside to the cause: "where: what: why".  It does not
 * begin with the name of the object that the call was made on, which the caller
 * knows: put the name in front when the text is printed.  A server is named,
 * and so is a lock that is one of several: "lock b: held by another holder".
 */
struct hf_error {
    int status;                   /* enum hf_status */
    int node;                     /* index of the server concerned, or -1 */
    int sys_errno;                /* 0 if no system call was involved */
    char text[HF_ERROR_TEXT_MAX]; /* "redis://10.0.0.2: AUTH refused: ..." */
    int unasked;                  /* 1 with HF_TIMEOUT if the wait was over
                                   * before enough members of a quorum had
                                   * answered; it is unknown whether there is a
                                   * holder */
    int reserved[8];              /* 0 */
};

/**
 * Return the name of a status: "TAKEN" for HF_TAKEN.
 *
 * @param status  any value
 * @return a constant string, borrowed, never NULL; "?" for an unknown value
 *
 * Threads: any.
 */
HF_API const char *hf_status_name(int status);

/**
 * Return a description of a status: "held by another holder" for HF_TAKEN.
 *
 * @param status  any value
 * @return a constant string, borrowed, never NULL; "unknown status" for an
 *         unknown value
 *
 * Threads: any.
 */
HF_API const char *hf_status_text(int status);

/**
 * Return what the caller should do about a status.
 *
 * @param status  any value
 * @return enum hf_advice; HF_ADVICE_STOP for an unknown value
 *
 * Threads: any.
 */
HF_API int hf_status_advice(int status);

#ifdef __cplusplus
}
#endif
#endif
