/*
 * holdfast/guard.h: check fencing tokens at the resource.
 *
 *     uint64_t token = hf_hold_fence(hold);
 *     if (hf_guard_touch(client, "balance", token, &err) == HF_OK
 *         && hf_guard_set(client, "balance", token, "42", 2, 0, &err)
 *                == HF_STALE)
 *         puts("another holder has the lock now");
 *
 * A lock cannot stop a holder that was paused past its lease and continues to
 * write; the resource can.  The resource keeps the highest token it has seen
 * and refuses lower tokens, in one atomic step with the write:
 *
 *   token >= highest token:  store the token, do the write
 *   token <  highest token:  HF_STALE, nothing is written
 *
 * A new holder touches the resource before it reads anything: from then on no
 * earlier holder can write.
 *
 * There are guards for files, for Redis (through a client, or as Lua text for
 * other scripts), and for PostgreSQL, MariaDB and SQLite (as SQL text for the
 * program's own transaction).  Where tokens cannot be compared, each guard but
 * that of files has a variant with a unique claim.  docs/guards.md has examples
 * of all of them.
 *
 * A token is the result of hf_hold_fence(), or $HOLDFAST_FENCE in a command
 * that `holdfast run` started.  Tokens of different stores must not be used
 * with the same guard.
 */
#ifndef HOLDFAST_GUARD_H
#define HOLDFAST_GUARD_H

#include "client.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HF_GUARD_VALUE_MAX HF_VALUE_MAX /* bytes in a guarded value */

/* ---- files -------------------------------------------------------------- */

/**
 * Replace the contents of a file, unless a higher token was used before.
 * Readers see the old file or the new one, never a mixture, also after a power
 * loss.  The highest token is kept in a second file, `<path>.guard`, which must
 * not be deleted.  The permissions of the file are kept.
 *
 * @param path   copied; a file, which need not exist; its directory must exist
 * @param token  1 to 2^63-1: the fence of the lock that is held
 * @param data   borrowed for the call; may be NULL if len is 0
 * @param len    bytes in `data`
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           replaced
 *         HF_STALE        a higher token was used before; nothing was changed
 *         HF_INVALID      the token is 0 or above 2^63-1; or the path is not
 *                         that of a file: a link, a directory, or its directory
 *                         does not exist
 *         HF_CONFLICT     `<path>.guard` is not a guard; nothing was changed
 *         HF_DENIED       no permission to write the directory or the files
 *         HF_UNAVAILABLE  a disk error, or another process has been changing
 *                         the file for 10 s: the old file is still there.  Or
 *                         the file was replaced and its directory could not be
 *                         synced: err says that the new file may or may not
 *                         survive a power loss
 *
 * Threads: any; processes too, on one host.
 */
HF_API int hf_guard_file_replace(const char *path, uint64_t token,
                                 const void *data, size_t len,
                                 struct hf_error *err);

/**
 * Like hf_guard_file_replace(), with a file that is written already: it is
 * synced and renamed to `path`, and keeps its own permissions.  Unless this
 * returns HF_OK, or HF_UNAVAILABLE after the rename, it stays at `new_path`.
 *
 * @param path      copied; a file, which need not exist
 * @param token     1 to 2^63-1: the fence of the lock that is held
 * @param new_path  copied; the new file, in the same file system
 * @param err       filled when this fails; may be NULL
 *
 * @return as hf_guard_file_replace()
 *
 * Threads: any; processes too, on one host.
 */
HF_API int hf_guard_file_rename(const char *path, uint64_t token,
                                const char *new_path, struct hf_error *err);

/**
 * Store the token of a file, and change nothing else.  A new holder does this
 * first.
 *
 * @param path   copied; a file, which need not exist
 * @param token  1 to 2^63-1: the fence of the lock that is held
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK           stored; no higher token was used before
 *         HF_STALE        a higher token was used before; nothing was changed
 *         HF_INVALID      the token is 0 or above 2^63-1; or the path is not
 *                         that of a file: a link, a directory, or its directory
 *                         does not exist
 *         HF_CONFLICT     `<path>.guard` is not a guard; nothing was changed
 *         HF_DENIED       no permission to write the directory or the files
 *         HF_UNAVAILABLE  a disk error, or another process has been changing
 *                         the file for 10 s
 *
 * Threads: any; processes too, on one host.
 */
HF_API int hf_guard_file_touch(const char *path, uint64_t token,
                               struct hf_error *err);

/**
 * Return the highest token that was used for a file.
 *
 * @param path  copied
 * @param out   filled on HF_OK; 0 if no token was used
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_guard_file_touch(), but never HF_STALE
 *
 * Threads: any.
 */
HF_API int hf_guard_file_token(const char *path, uint64_t *out,
                               struct hf_error *err);

/* ---- values on the client's store ---------------------------------------- */

/**
 * Store the token of a value.  A new holder does this first, before it reads
 * the value.
 *
 * On Redis the token of `key` is kept in `holdfast_guard:{key}` without an
 * expiry.  The client need not be the one that acquired the lock.
 *
 * @param client  borrowed; needs HF_CAP_GUARD (redis, memory)
 * @param key     1 to 512 bytes, copied; must not be the name of a lock
 * @param token   1 to 2^63-1: the fence of the lock that is held
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           stored; no higher token was used before
 *         HF_STALE        a higher token was used before; nothing was changed
 *         HF_INVALID      the key is not valid, or the token is 0 or above
 *                         2^63-1
 *         HF_CONFLICT     something else is stored in the place of the guard
 *         HF_UNAVAILABLE  no answer; the token may or may not have been stored
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_guard_touch(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);

/**
 * Write a value unless a higher token was used before.  On Redis the value is a
 * plain string under `key`, which any program may read.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1: the fence of the lock that is held
 * @param data    copied; at most HF_GUARD_VALUE_MAX bytes; may be NULL if len
 *                is 0
 * @param len     bytes in `data`
 * @param ttl_ms  time until the value expires; its guard does not; 0: never
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           written
 *         HF_STALE        a higher token was used before; nothing was changed.
 *                         If err says that an answer was lost, the request may
 *                         have been carried out before the higher token came
 *         HF_INVALID      the key, the token, the length or ttl_ms is not valid
 *         HF_CONFLICT     something other than a string is stored under `key`,
 *                         or something other than a token in the place of its
 *                         guard
 *         HF_UNAVAILABLE  no answer; the value may or may not have been written
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * If an answer is lost, the library repeats the request: the same token writes
 * the same value again.  The store refuses a request that arrives long after it
 * was sent.
 *
 * Threads: any.
 */
HF_API int hf_guard_set(hf_client *client, const char *key, uint64_t token,
                        const void *data, size_t len, int64_t ttl_ms,
                        struct hf_error *err);

/**
 * Delete a value unless a higher token was used before.  The token stays.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1: the fence of the lock that is held
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_guard_set(); HF_OK also if there was no value
 *
 * Threads: any.
 */
HF_API int hf_guard_delete(hf_client *client, const char *key, uint64_t token,
                           struct hf_error *err);

/**
 * Return the highest token that was used for a value.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param out     filled on HF_OK; 0 if no token was used
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_guard_touch(), but never HF_STALE
 *
 * Threads: any.
 */
HF_API int hf_guard_token(hf_client *client, const char *key, uint64_t *out,
                          struct hf_error *err);

/**
 * Read the value and the highest token in one step.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param out     HF_VALUE_INIT; filled on HF_OK; `version` is the highest
 *                token, 0 if no token was used; `data` is NULL if there is no
 *                value.  Owned by the caller: hf_value_free()
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_guard_set(), but never HF_STALE
 *
 * Threads: any.
 */
HF_API int hf_guard_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);

/**
 * Claim a value, for holds whose tokens do not rise: this token becomes the
 * current one, whichever token was current before.  This is weaker than the
 * calls above: a former holder that claims after the current holder takes the
 * value over.  Claims and rising tokens of one key are kept apart.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, and different from that of any other hold: 63
 *                random bits are enough
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           claimed
 *         HF_INVALID      the key is not valid, or the token is 0 or above
 *                         2^63-1
 *         HF_CONFLICT     something else is stored in the place of the guard
 *         HF_UNAVAILABLE  no answer; the value may or may not have been
 *                         claimed.  The library does not repeat the request,
 *                         because a second copy could undo the claim of another
 *                         holder
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_DENIED       the store refuses the request
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_guard_claim(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);

/**
 * Write a value if it is still claimed with this token.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   the token that was given to hf_guard_claim()
 * @param data    copied; at most HF_GUARD_VALUE_MAX bytes; may be NULL if len
 *                is 0
 * @param len     bytes in `data`
 * @param ttl_ms  time until the value expires; 0: never
 * @param err     filled when this fails; may be NULL
 *
 * @return as hf_guard_set(); HF_STALE if another holder has claimed the value
 *         since, or it was never claimed
 *
 * Threads: any.
 */
HF_API int hf_guard_set_claimed(hf_client *client, const char *key,
                                uint64_t token, const void *data, size_t len,
                                int64_t ttl_ms, struct hf_error *err);

/* ---- the same calls, asynchronously -------------------------------------- */

/* The guards of files and of SQL have no such form: the program itself carries
 * them out, and no store of a client is asked. */

/* Receives the result of a call below.  `token` is the highest token from
 * hf_guard_token_start(), otherwise the token that was given; it is 0 unless
 * `status` is HF_OK.  `err` is borrowed. */
typedef void (*hf_guard_fn)(hf_client *client, int status, uint64_t token,
                            const struct hf_error *err, void *user);

/**
 * Store the token of a value, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, as for hf_guard_touch()
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_touch() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_touch_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);

/**
 * Write a value unless a higher token was used before, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, as for hf_guard_set()
 * @param data    copied; at most HF_GUARD_VALUE_MAX bytes; may be NULL if len
 *                is 0
 * @param len     bytes in `data`
 * @param ttl_ms  time until the value expires; 0: never
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_set() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_set_start(hf_client *client, const char *key,
                              uint64_t token, const void *data, size_t len,
                              int64_t ttl_ms, hf_guard_fn cb, void *user,
                              struct hf_error *err);

/**
 * Delete a value unless a higher token was used before, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, as for hf_guard_delete()
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_delete() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_delete_start(hf_client *client, const char *key,
                                 uint64_t token, hf_guard_fn cb, void *user,
                                 struct hf_error *err);

/**
 * Ask for the highest token that was used for a value, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_token() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_token_start(hf_client *client, const char *key,
                                hf_guard_fn cb, void *user,
                                struct hf_error *err);

/**
 * Read the value and the highest token in one step, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_read() returns; `version` of the
 *                value is the highest token
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);

/**
 * Claim a value, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, as for hf_guard_claim()
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_claim() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_claim_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);

/**
 * Write a value if it is still claimed with this token, asynchronously.
 *
 * @param client  borrowed; needs HF_CAP_GUARD
 * @param key     1 to 512 bytes, copied
 * @param token   1 to 2^63-1, as for hf_guard_set_claimed()
 * @param data    copied; at most HF_GUARD_VALUE_MAX bytes; may be NULL if len
 *                is 0
 * @param len     bytes in `data`
 * @param ttl_ms  time until the value expires; 0: never
 * @param cb      called exactly once if, and only if, this returns HF_OK, and
 *                never from inside this function; its status is one
 *                that hf_guard_set_claimed() returns
 * @param user    passed to `cb` unchanged
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           the request has been started
 *         HF_INVALID      an argument is not valid, or `cb` is NULL
 *         HF_UNSUPPORTED  the store has no HF_CAP_GUARD
 *         HF_FORKED       the client was opened by the parent of this process
 *         HF_CLOSED       the client is being closed
 *         HF_NOMEM        out of memory
 *
 * Threads: any; `cb` runs on the thread that pumps (client.h).
 */
HF_API int hf_guard_set_claimed_start(hf_client *client, const char *key,
                                      uint64_t token, const void *data,
                                      size_t len, int64_t ttl_ms,
                                      hf_guard_fn cb, void *user,
                                      struct hf_error *err);

/**
 * Return Lua text that guards any other script on Redis: put it before the
 * script.  Add the guard's key, such as `holdfast_guard:{key}`, as the last of
 * KEYS, and the token as the last of ARGV; the script itself does not see them.
 * With a stale token the script does not run, and the call returns the error
 * "STALE <token> <highest>".
 *
 * @return a constant string, borrowed
 *
 * Threads: any.
 */
HF_API const char *hf_guard_lua(void);

/* ---- SQL ---------------------------------------------------------------- */

enum hf_guard_dialect {
    HF_GUARD_POSTGRES = 1, /* parameters $1, $2 */
    HF_GUARD_MARIADB = 2,  /* parameters ?, ? */
    HF_GUARD_SQLITE = 3    /* parameters ?1, ?2; 3.24 or later */
};

enum hf_guard_statement {
    HF_GUARD_CREATE = 1, /* creates the guard table, once per database */
    HF_GUARD_CHECK = 2,  /* first statement of the holder's transaction; its
                          * parameters are the resource's name and the token.
                          * With a stale token the statement *fails*, by a
                          * constraint named holdfast_stale_token */
    HF_GUARD_TOKEN = 3,  /* reads the highest token, no row if there is none;
                          * its parameter is the resource's name */
    HF_GUARD_CLAIM = 4,  /* unique-token variant: makes this token the current
                          * one, whichever was current before; parameters as for
                          * CHECK */
    HF_GUARD_STILL = 5,  /* unique-token variant: first statement of a
                          * transaction; fails as CHECK does unless this token
                          * is still current; parameters as for CHECK */
    HF_GUARD_VERIFY = 6  /* returns one row if the table exists as CREATE made
                          * it and its constraints are enforced in this session;
                          * otherwise it returns no row, or fails; no
                          * parameters */
};

/**
 * Return SQL text, to be run by any client in any language.
 *
 * CHECK locks the row of the resource until the transaction ends: a second
 * transaction waits for the first.  If CHECK fails, end the transaction with
 * ROLLBACK: PostgreSQL commits nothing after a failed statement, but MariaDB
 * and SQLite would.
 *
 * @param dialect    enum hf_guard_dialect
 * @param statement  enum hf_guard_statement
 * @return a constant string without a semicolon, borrowed; NULL for unknown
 *         numbers
 *
 * Threads: any.
 */
HF_API const char *hf_guard_sql(int dialect, int statement);

#ifdef __cplusplus
}
#endif
#endif
