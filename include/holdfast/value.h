/*
 * holdfast/value.h: optimistic locking: a value with a version.
 *
 * Read a value and its version, compute, write if it is still the version that
 * was read.  Nobody waits for anybody; who comes second is told HF_CHANGED and
 * reads again.  hf_value_update() does that in a loop with an end.
 *
 * A version is a number that only rises, for as long as the store keeps its
 * data: even when the value was deleted or ran out in between, for it is never
 * below the store's clock in microseconds.
 *
 * A key is no lock's name: on some stores the two would be the same thing, and
 * each is refused where the other is.
 */
#ifndef HOLDFAST_VALUE_H
#define HOLDFAST_VALUE_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_VALUE_MAX 65536                       /* bytes in a value */
#define HF_VALUE_ANY UINT64_MAX                  /* write whatever is there */
#define HF_VALUE_TTL_MS_MAX INT64_C(31622400000) /* 366 days */

/* What was read. */
struct hf_value {
    uint64_t version; /* 0: there is no value */
    int64_t ttl_ms;   /* until it ends by itself; -1 never; -2 no value */
    int64_t now_ms;   /* wall clock of the store */
    size_t len;       /* bytes in `data` */
    char *data;       /* owned by the caller: hf_value_free(); a NUL is behind
                       * it, not counted; NULL if there is no value */
};

/**
 * Read a value.
 *
 * @param client  borrowed; needs HF_CAP_VALUE
 * @param key     1 to 512 bytes (HF_NAME_MAX of lock.h), copied
 * @param out     filled on HF_OK, also if there is no value (version 0);
 *                owned by the caller: hf_value_free()
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK, HF_INVALID (a bad key), HF_CONFLICT (something that is no
 *         such value is stored there), HF_UNAVAILABLE, HF_DENIED,
 *         HF_UNSUPPORTED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_value_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);

/**
 * Free what hf_value_read() allocated.
 *
 * @param client  borrowed; the one it was read from
 * @param value   its data is taken; it is empty afterwards
 *
 * Threads: any.
 */
HF_API void hf_value_free(hf_client *client, struct hf_value *value);

/**
 * Write a value if it has not changed.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  what was read; 0: only if there is none; HF_VALUE_ANY:
 *                 whatever is there
 * @param data     copied; at most HF_VALUE_MAX bytes; may be NULL if len is 0
 * @param len      bytes in `data`
 * @param ttl_ms   the value ends by itself after so long; 0: never
 * @param written  filled on HF_OK with the new version; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           written
 *         HF_CHANGED      it has another version now; nothing was written
 *         HF_UNAVAILABLE  no answer: it may have been written, or may yet be
 *         HF_INVALID (key, length or ttl), HF_CONFLICT, HF_DENIED,
 *         HF_UNSUPPORTED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * A request whose answer was lost is repeated inside the library, and carried
 * out once; with HF_VALUE_ANY it is not repeated.  A copy that is still on its
 * way after HF_UNAVAILABLE is refused by the store once timeout_ms of the
 * options and 100 ms have passed since this returned, by the store's clock (if
 * that is not set back): whoever reads then reads what stays.
 *
 * Threads: any.
 */
HF_API int hf_value_write(hf_client *client, const char *key, uint64_t version,
                          const void *data, size_t len, int64_t ttl_ms,
                          uint64_t *written, struct hf_error *err);

/**
 * Delete a value if it has not changed.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  what was read; 0: there is none, and nothing to be done;
 *                 HF_VALUE_ANY: whatever is there
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           deleted; or `version` is 0 or HF_VALUE_ANY, and there
 *                         was none
 *         HF_CHANGED      it has another version now, or none; nothing was
 *                         deleted
 *         HF_UNAVAILABLE  no answer: it may have been deleted, or may yet be,
 *                         within the bound of hf_value_write()
 *         HF_INVALID (the key), HF_CONFLICT, HF_DENIED, HF_UNSUPPORTED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * Threads: any.
 */
HF_API int hf_value_delete(hf_client *client, const char *key, uint64_t version,
                           struct hf_error *err);

/* Told of an asynchronous read.  `value` is borrowed, NULL unless HF_OK; `err`
 * is borrowed. */
typedef void (*hf_value_read_fn)(hf_client *client, int status,
                                 const struct hf_value *value,
                                 const struct hf_error *err, void *user);

/* Told of an asynchronous write or delete.  `version` is the new one, 0 if it
 * was deleted and unless HF_OK; `err` is borrowed. */
typedef void (*hf_value_written_fn)(hf_client *client, int status,
                                    uint64_t version,
                                    const struct hf_error *err, void *user);

/**
 * Read, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_VALUE
 * @param key     1 to 512 bytes, copied
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never before this function has returned; may be NULL
 * @param user    passed to `cb`, never looked at
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK (the request is on its way), HF_INVALID, HF_UNSUPPORTED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_value_read() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_value_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);

/**
 * Write, asynchronously.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  as for hf_value_write()
 * @param data     copied; at most HF_VALUE_MAX bytes; may be NULL if len is 0
 * @param len      bytes in `data`
 * @param ttl_ms   the value ends by itself after so long; 0: never
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never before this function has returned; may be NULL
 * @param user     passed to `cb`, never looked at
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK (the request is on its way), HF_INVALID, HF_UNSUPPORTED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_value_write() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_value_write_start(hf_client *client, const char *key,
                                uint64_t version, const void *data, size_t len,
                                int64_t ttl_ms, hf_value_written_fn cb,
                                void *user, struct hf_error *err);

/**
 * Delete, asynchronously.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  as for hf_value_delete()
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never before this function has returned; may be NULL
 * @param user     passed to `cb`, never looked at
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK (the request is on its way), HF_INVALID, HF_UNSUPPORTED,
 *         HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * `status` in `cb`: as hf_value_delete() returns.
 *
 * Threads: any; `cb` runs on the thread that pumps, after the step.
 */
HF_API int hf_value_delete_start(hf_client *client, const char *key,
                                 uint64_t version, hf_value_written_fn cb,
                                 void *user, struct hf_error *err);

/* What hf_value_update() is to write. */
struct hf_value_next {
    const void *data; /* borrowed until the next call of the function, or until
                       * hf_value_update() returns */
    size_t len;
    int64_t ttl_ms; /* 0: no end */
    int remove;     /* 1: delete it instead */
};

/* Compute the next value from the present one; may run several times.  Return
 * 0 to write, anything else to stop: hf_value_update() is then HF_CANCELLED. */
typedef int (*hf_value_fn)(const struct hf_value *now,
                           struct hf_value_next *next, void *user);

#define HF_UPDATE_TRY 1u /* one try: HF_CHANGED if somebody else was faster */

/* How to retry.  Zero is every field's default. */
struct hf_update_options {
    uint32_t struct_size; /* set by HF_UPDATE_OPTIONS_INIT */
    uint32_t flags;       /* HF_UPDATE_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    int64_t tries;        /* and no more than so many; 0: no such bound */
};
#define HF_UPDATE_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_update_options), 0, 0, 0                              \
    }

/**
 * Read, compute, write; again if somebody else was faster, after a pause that
 * grows and is random, until it succeeds or the options' bounds are reached.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param fn       called on this thread, with the present value
 * @param user     passed to `fn`, never looked at
 * @param options  copied; NULL means all defaults
 * @param written  filled on HF_OK with the new version; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK, HF_CHANGED (somebody else was faster: `tries` times, or once
 *         with HF_UPDATE_TRY), HF_TIMEOUT (... until wait_ms were over),
 *         HF_CANCELLED (`fn` said so), HF_INVALID (a bad option; nothing was
 *         sent), and as hf_value_write()
 *
 * Threads: any.
 */
HF_API int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                           void *user, const struct hf_update_options *options,
                           uint64_t *written, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
