/*
 * holdfast/value.h: a value with a version, for optimistic locking.
 *
 *     struct hf_value value = HF_VALUE_INIT;
 *     if (hf_value_read(client, "config", &value, &err) == HF_OK) {
 *         if (hf_value_write(client, "config", value.version, "on", 2, 0, NULL,
 *                            &err) == HF_CHANGED)
 *             puts("another client was faster: read again");
 *         hf_value_free(client, &value);
 *     }
 *
 * A client reads a value with its version, computes a new value, and writes it
 * if the version is still the same.  No client waits for another: a client that
 * writes too late gets HF_CHANGED and reads again.  hf_value_update() does this
 * in a loop with a limit.
 *
 * A version is a number that only rises while the store keeps its data, even if
 * the value was deleted or expired in between, because it is never below the
 * store's clock in microseconds.
 *
 * A key must not be the name of a lock: on some stores both are the same key,
 * and a value is refused where a lock is stored, and the reverse.
 */
#ifndef HOLDFAST_VALUE_H
#define HOLDFAST_VALUE_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_VALUE_MAX 65536                       /* bytes in a value */
#define HF_VALUE_ANY UINT64_MAX                  /* any version, or no value */
#define HF_VALUE_TTL_MS_MAX INT64_C(31622400000) /* 366 days */

/* A value that was read. */
struct hf_value {
    /* Set by HF_VALUE_INIT. */
    uint32_t struct_size;
    uint64_t version; /* 0 if there is no value */
    int64_t ttl_ms;   /* time until it expires; -1 if it does not, -2 if there
                       * is no value */
    int64_t now_ms;   /* the store's wall clock */
    size_t len;       /* bytes in `data` */
    char *data;       /* owned by the caller: hf_value_free(); followed by a
                       * NUL, which is not counted; NULL if there is no value */
};
#define HF_VALUE_INIT                                                          \
    {                                                                          \
        sizeof(struct hf_value), 0, 0, 0, 0, 0                                 \
    }
static inline void hf_value_init(struct hf_value *value)
{
    const struct hf_value init = HF_VALUE_INIT;
    *value = init;
}

/**
 * Read a value.
 *
 * @param client  borrowed; needs HF_CAP_VALUE
 * @param key     1 to 512 bytes (HF_NAME_MAX of lock.h), copied
 * @param out     HF_VALUE_INIT; filled on HF_OK, also if there is no value;
 *                owned by the caller: hf_value_free(), also before it is filled
 *                again
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           `out` is filled
 *         HF_INVALID      the key is not valid, or struct_size is not set
 *         HF_CONFLICT     something other than such a value is stored there
 *         HF_UNAVAILABLE  the store did not answer
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_value_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);

/**
 * Free what hf_value_read() allocated.
 *
 * @param client  borrowed; the client that read the value
 * @param value   its data is taken; the value is empty afterwards
 *
 * Threads: any.
 */
HF_API void hf_value_free(hf_client *client, struct hf_value *value);

/**
 * Write a value if it has not changed.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  the version that was read; 0: write only if there is no
 *                 value; HF_VALUE_ANY: write in any case
 * @param data     copied; at most HF_VALUE_MAX bytes; may be NULL if len is 0
 * @param len      bytes in `data`
 * @param ttl_ms   time until the value expires; 0: never
 * @param written  filled on HF_OK with the new version; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           written
 *         HF_CHANGED      the value has another version now; nothing was
 *                         written
 *         HF_UNAVAILABLE  no answer; the value may have been written, or may
 *                         still be written
 *         HF_INVALID      the key, the length or ttl_ms is not valid
 *         HF_CONFLICT     something other than such a value is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * If an answer is lost, the library repeats the request, and the store carries
 * it out once; with HF_VALUE_ANY it is not repeated.  After HF_UNAVAILABLE a
 * copy of the request may still be on its way.  The store refuses it once
 * timeout_ms of the options and 100 ms have passed since this returned, by the
 * store's clock (if that is not set back): a read after that time returns the
 * final result.
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
 * @param version  the version that was read; 0: there was no value, and nothing
 *                 is deleted; HF_VALUE_ANY: delete in any case
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           deleted; or `version` is 0 or HF_VALUE_ANY, and there
 *                         was no value
 *         HF_CHANGED      the value has another version now, or there is none;
 *                         nothing was deleted
 *         HF_UNAVAILABLE  no answer; the value may have been deleted, or may
 *                         still be, within the time that hf_value_write() names
 *         HF_INVALID      the key is not valid
 *         HF_CONFLICT     something other than such a value is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_value_delete(hf_client *client, const char *key, uint64_t version,
                           struct hf_error *err);

/* Receives the result of an asynchronous read.  `value` is borrowed, and NULL
 * unless `status` is HF_OK; `err` is borrowed. */
typedef void (*hf_value_read_fn)(hf_client *client, int status,
                                 const struct hf_value *value,
                                 const struct hf_error *err, void *user);

/* Receives the result of an asynchronous write or delete.  `version` is the new
 * version; it is 0 after a delete, and unless `status` is HF_OK.  `err` is
 * borrowed. */
typedef void (*hf_value_written_fn)(hf_client *client, int status,
                                    uint64_t version,
                                    const struct hf_error *err, void *user);

/**
 * Read a value, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_VALUE
 * @param key     1 to 512 bytes, copied
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_value_read() returns; may be NULL
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      the key is not valid
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_value_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);

/**
 * Write a value, asynchronously.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  as for hf_value_write()
 * @param data     copied; at most HF_VALUE_MAX bytes; may be NULL if len is 0
 * @param len      bytes in `data`
 * @param ttl_ms   time until the value expires; 0: never
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_value_write() returns; may be NULL
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      the key, the length or ttl_ms is not valid
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_value_write_start(hf_client *client, const char *key,
                                uint64_t version, const void *data, size_t len,
                                int64_t ttl_ms, hf_value_written_fn cb,
                                void *user, struct hf_error *err);

/**
 * Delete a value, asynchronously.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param version  as for hf_value_delete()
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_value_delete() returns; may be NULL
 * @param user     passed to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      the key is not valid
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_value_delete_start(hf_client *client, const char *key,
                                 uint64_t version, hf_value_written_fn cb,
                                 void *user, struct hf_error *err);

/* What hf_value_update() is to write.  The library has zeroed it.  A field that
 * a later version adds is written only if the library has it: HF_HAS() of
 * version.h. */
struct hf_value_next {
    /* Set by the library. */
    uint32_t struct_size;
    int remove;       /* 1: delete the value instead of writing it */
    const void *data; /* borrowed until the next call of the function, or until
                       * the update is over */
    size_t len;       /* bytes in `data` */
    int64_t ttl_ms;   /* time until the value expires; 0: never */
};

/* Computes the next value from the current one; may run several times.  `now`
 * is borrowed for the call.  Return 0 to write `next`, anything else to stop:
 * the update then ends with HF_CANCELLED. */
typedef int (*hf_value_fn)(const struct hf_value *now,
                           struct hf_value_next *next, void *user);

#define HF_UPDATE_TRY 1u /* try once: HF_CHANGED if another client was faster */

/* How to update.  Zero is every field's default. */
struct hf_update_options {
    uint32_t struct_size; /* set by HF_UPDATE_OPTIONS_INIT */
    uint32_t flags;       /* HF_UPDATE_TRY */
    int64_t wait_ms;      /* as in struct hf_acquire_options */
    int64_t tries;        /* highest number of tries; 0: no such limit */
};
#define HF_UPDATE_OPTIONS_INIT                                                 \
    {                                                                          \
        sizeof(struct hf_update_options), 0, 0, 0                              \
    }
static inline void hf_update_options_init(struct hf_update_options *options)
{
    const struct hf_update_options init = HF_UPDATE_OPTIONS_INIT;
    *options = init;
}

/**
 * Read a value, compute the next one, and write it.  If another client was
 * faster, repeat after a random pause that grows, until it succeeds or a limit
 * of the options is reached.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param fn       called on this thread, with the current value
 * @param user     passed to `fn` unchanged
 * @param options  copied; NULL means all defaults
 * @param written  filled on HF_OK with the new version, 0 if the value was
 *                 deleted; may be NULL
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           written, or deleted
 *         HF_CHANGED      another client was faster `tries` times, or once with
 *                         HF_UPDATE_TRY
 *         HF_TIMEOUT      another client was faster until wait_ms were over
 *         HF_CANCELLED    `fn` returned a value other than 0
 *         HF_INVALID      an option or the key is not valid, or `fn` is NULL:
 *                         nothing was sent; or `fn` gave a value that is not
 *                         valid
 *         HF_UNAVAILABLE  as for hf_value_write()
 *         HF_CONFLICT     something other than such a value is stored there
 *         HF_DENIED       the store refuses the request
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                           void *user, const struct hf_update_options *options,
                           uint64_t *written, struct hf_error *err);

/**
 * Read a value, compute the next one, and write it, asynchronously; repeat as
 * hf_value_update() does.
 *
 * @param client   borrowed; needs HF_CAP_VALUE
 * @param key      1 to 512 bytes, copied
 * @param fn       called on the thread that pumps, with the current value; it
 *                 may run several times
 * @param options  copied; NULL means all defaults
 * @param cb       called exactly once if, and only if, this returns HF_OK, and
 *                 never from inside this function; its status is one
 *                 that hf_value_update() returns; its version is 0 if the value
 *                 was deleted
 * @param user     passed to `fn` and to `cb` unchanged
 * @param err      filled when this fails; may be NULL
 *
 * @return HF_OK           the update has been started
 *         HF_INVALID      an option or the key is not valid, or `fn` or `cb` is
 *                         NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_VALUE
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `fn` and `cb` run on the thread that pumps (client.h).
 */
HF_API int hf_value_update_start(hf_client *client, const char *key,
                                 hf_value_fn fn,
                                 const struct hf_update_options *options,
                                 hf_value_written_fn cb, void *user,
                                 struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
