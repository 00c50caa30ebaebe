/*
 * holdfast/schema.h: the tables of a store in a database.
 *
 *     if (hf_schema_install("postgres://app@db1/app", NULL, &err) != HF_OK)
 *         puts(err.text);
 *
 * A store in a database server keeps its locks in two tables, holdfast_lock and
 * holdfast_meta; with layout=shedlock in the URL, in ShedLock's table shedlock.
 * No client makes them while it takes a lock: an operator does
 * it once, with hf_schema_install() or `holdfast install-schema URL`, or with
 * the statements of hf_schema_text().
 */
#ifndef HOLDFAST_SCHEMA_H
#define HOLDFAST_SCHEMA_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make the tables that the store of `url` needs, unless they are there.  Blocks
 * until the server has answered.
 *
 * @param url      copied; its user must be allowed to create tables
 * @param options  copied; user, password and timeout count; NULL means all
 *                 defaults
 * @param err      filled on failure; may be NULL
 *
 * @return HF_OK           the tables are there
 *         HF_UNSUPPORTED  this store is not built in
 *         HF_CONFLICT     there are tables of another version, or with
 *                         layout=shedlock a table that cannot be shared
 *         HF_DENIED       the user may not connect, or not create tables
 *         HF_UNAVAILABLE  the server did not answer
 *         HF_INVALID      a bad URL or option, a store that needs no tables,
 *                         or no such database
 *         HF_NOMEM        out of memory
 *
 * Threads: any.
 */
HF_API int hf_schema_install(const char *url,
                             const struct hf_client_options *options,
                             struct hf_error *err);

/**
 * Tell the statements that make the tables, for an operator who runs them by
 * other means.  Connects to no server.
 *
 * @param url   copied; only its scheme and layout= count
 * @param each  called once for each statement, in order; the text is borrowed
 *              for the call, and has no semicolon at its end
 * @param user  passed to `each`, never looked at
 * @param err   filled on failure; may be NULL
 *
 * @return HF_OK           all were told
 *         HF_UNSUPPORTED  this store needs no statements, or is not built in
 *         HF_INVALID      a bad URL, a layout that the store does not have, or
 *                         `each` is NULL
 *
 * Threads: any.
 */
HF_API int hf_schema_text(const char *url,
                          void (*each)(const char *statement, void *user),
                          void *user, struct hf_error *err);

#ifdef __cplusplus
}
#endif
#endif
