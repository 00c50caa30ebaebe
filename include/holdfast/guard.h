/*
 * holdfast/guard.h: the resource's side of a fencing token.
 *
 * A lock cannot stop a holder that was paused past its lease and goes on
 * writing; the resource can.  It keeps the highest token it has seen and
 * refuses lower ones, in one atomic step with the write:
 *
 *     token >= highest seen:  remember it, do the write
 *     token <  highest seen:  HF_STALE, nothing is written
 *
 * A new holder touches the resource first, before it reads anything: from then
 * on no earlier holder can write behind its back.
 *
 * Ready-made for files, for Redis (through a client, or as Lua text for your
 * own), and for PostgreSQL, MariaDB and SQLite (as plain SQL for your own
 * transaction).  Where tokens cannot be compared, each but the files has the
 * variant with a unique claim.  docs/guards.md shows all of them at work.
 *
 * A token is `grant.fence`, or $HOLDFAST_FENCE in a command that holdfast run
 * started; tokens of different stores must not meet in one guard.
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
 * Replace a file by new contents, if no higher token has been here.  Readers
 * see the old file or the new one, never a mixture, also after a power loss.
 * The highest token is kept in a file beside it, `<path>.guard`, which must
 * not be deleted.  Permissions stay as they were.
 *
 * @param path   copied; a file, which need not exist; its directory must
 * @param token  1 to 2^63-1: the fence of the lock that is held
 * @param data   borrowed for the call; may be NULL if len is 0
 * @param len    bytes in `data`
 * @param err    filled when this fails; may be NULL
 *
 * @return HF_OK        replaced
 *         HF_STALE     a higher token has been here; nothing was changed
 *         HF_INVALID   a token of 0 or beyond 2^63-1, or a path that is no
 *                      file's: a link, a directory, in no directory
 *         HF_CONFLICT  the file beside it is no guard; nothing was changed
 *         HF_DENIED    the directory or the files may not be written
 *         HF_UNAVAILABLE  the disk refuses, or another process has been
 *                      changing it for 10 s: the old file is still there; or
 *                      it was replaced and its directory could not be synced,
 *                      and err says that it may or may not survive a power
 *                      loss
 *
 * Threads: any; processes too, on one host.
 */
HF_API int hf_guard_file_replace(const char *path, uint64_t token,
                                 const void *data, size_t len,
                                 struct hf_error *err);

/**
 * The same with a file that has been written already: it is synced and renamed
 * to `path`, with its own permissions.  Unless HF_OK, or HF_UNAVAILABLE after
 * the rename, it stays where it was.
 *
 * @param new_path  copied; in the same file system
 */
HF_API int hf_guard_file_rename(const char *path, uint64_t token,
                                const char *new_path, struct hf_error *err);

/**
 * Only remember the token: the first thing a new holder does.  Statuses as
 * hf_guard_file_replace().
 */
HF_API int hf_guard_file_touch(const char *path, uint64_t token,
                               struct hf_error *err);

/**
 * The highest token that has been here; 0 if none has.
 *
 * @param path  copied
 * @param out   filled on HF_OK
 * @param err   filled when this fails; may be NULL
 *
 * @return as hf_guard_file_replace()
 *
 * Threads: any.
 */
HF_API int hf_guard_file_token(const char *path, uint64_t *out,
                               struct hf_error *err);

/* ---- values on the client's store ---------------------------------------- */

/**
 * Remember the token of a value: the first thing a new holder does, before it
 * reads the value.
 *
 * @param client  borrowed; needs HF_CAP_GUARD (redis, memory)
 * @param key     1 to 512 bytes, copied; no lock's name
 * @param token   1 to 2^63-1: the fence of the lock that is held
 * @param err     filled when this fails; may be NULL
 *
 * @return HF_OK           no higher one has been here
 *         HF_STALE        a higher one has; nothing was changed
 *         HF_INVALID      a bad key, or a token of 0 or beyond 2^63-1
 *         HF_CONFLICT     something else is stored where its guard should be
 *         HF_UNAVAILABLE  no answer: it may or may not have been remembered
 *         HF_UNSUPPORTED, HF_DENIED, HF_FORKED, HF_CLOSED, HF_NOMEM
 *
 * On Redis the token of `key` is kept in `holdfast_guard:{key}`, for ever; the
 * client need not be the one that has the lock.
 *
 * Threads: any.
 */
HF_API int hf_guard_touch(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);

/**
 * Write a value unless a higher token has been here.  On Redis it is a plain
 * string under `key`, which anybody may read.
 *
 * @param data    copied; at most HF_GUARD_VALUE_MAX bytes; may be NULL if len
 *                is 0
 * @param len     bytes in `data`
 * @param ttl_ms  the value ends by itself after so long, its guard does not;
 *                0: never
 *
 * @return HF_OK           written
 *         HF_STALE        a higher token has been here.  Nothing was changed;
 *                         if err tells that an answer was lost before, that
 *                         request may have been carried out before the higher
 *                         token came
 *         HF_CONFLICT     something that is no string is stored under `key`,
 *                         or no token where its guard should be
 *         HF_UNAVAILABLE  no answer: it may or may not have been written
 *         and as hf_guard_touch()
 *
 * A request whose answer was lost is repeated inside the library: the same
 * token writes the same once more.  A store that finds a request long after it
 * was sent refuses it.
 */
HF_API int hf_guard_set(hf_client *client, const char *key, uint64_t token,
                        const void *data, size_t len, int64_t ttl_ms,
                        struct hf_error *err);

/**
 * Delete a value unless a higher token has been here; the token stays.
 * Statuses as hf_guard_set(); what is not there is deleted with HF_OK.
 */
HF_API int hf_guard_delete(hf_client *client, const char *key, uint64_t token,
                           struct hf_error *err);

/**
 * The highest token that has been here; 0 if none has.
 *
 * @param out  filled on HF_OK
 *
 * @return as hf_guard_touch(), but never HF_STALE
 */
HF_API int hf_guard_token(hf_client *client, const char *key, uint64_t *out,
                          struct hf_error *err);

/**
 * The value and the highest token, read in one step.
 *
 * @param out  filled on HF_OK; `version` is the highest token, 0 if there was
 *             none; `data` is NULL if there is no value.  Owned by the caller:
 *             hf_value_free()
 *
 * @return as hf_guard_set(), but never HF_STALE
 */
HF_API int hf_guard_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);

/**
 * The unique-token variant, for holds whose tokens do not rise: this token is
 * the current one from now on, whatever was before.  Weaker than the above: a
 * holder of the past that claims after the present one takes the value over.
 * Claims and rising tokens of one key are kept apart.
 *
 * @param token  1 to 2^63-1, and no other hold's: 63 random bits will do
 *
 * @return HF_OK           claimed
 *         HF_UNAVAILABLE  no answer: it may or may not have been claimed; not
 *                         repeated inside the library, for the second copy
 *                         could undo somebody else's
 *         and as hf_guard_touch(), but never HF_STALE
 */
HF_API int hf_guard_claim(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);

/**
 * Write a value if the claim on it is still this one.  Parameters and statuses
 * as hf_guard_set(); HF_STALE: somebody else has claimed it since, or nobody
 * ever has.
 */
HF_API int hf_guard_set_claimed(hf_client *client, const char *key,
                                uint64_t token, const void *data, size_t len,
                                int64_t ttl_ms, struct hf_error *err);

/**
 * The guard of any script of your own on Redis: Lua text to be put before it.
 * Add the guard's key as the last of KEYS, such as `holdfast_guard:{key}`, and
 * the token as the last of ARGV; your script does not see them any more.  With
 * a stale token it does not run at all: the call returns the error
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
    HF_GUARD_CREATE = 1, /* the guard table, once per database */
    HF_GUARD_CHECK = 2,  /* first statement of the holder's transaction; its
                          * parameters are the resource's name and the token.
                          * With a stale token the statement *fails*, by a
                          * constraint named holdfast_stale_token */
    HF_GUARD_TOKEN = 3,  /* reads the highest token, if there was one; its
                          * parameter is the resource's name */
    HF_GUARD_CLAIM = 4,  /* unique-token variant: this token is current now,
                          * whatever was before; parameters as CHECK */
    HF_GUARD_STILL = 5,  /* ... and the first statement of a transaction: fails
                          * as CHECK does unless this token is still current */
    HF_GUARD_VERIFY = 6  /* returns one row if the table is there as CREATE made
                          * it and its constraints are enforced in this session;
                          * otherwise it returns no row, or fails; no
                          * parameters */
};

/**
 * SQL text, to be run by any client in any language.
 *
 * CHECK keeps the row of the resource locked until the transaction ends: a
 * second one waits for the first.  Where it fails, end the transaction with
 * ROLLBACK: PostgreSQL commits nothing behind a failed statement by itself,
 * MariaDB and SQLite would.
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
