/*
 * sized.h: structs that begin with their size, and grow at their end.
 *
 * The rule: of a caller's struct nothing is read or written beyond its
 * struct_size; include/holdfast/version.h has the whole of it.
 */
#ifndef HF_API_SIZED_H
#define HF_API_SIZED_H

#include <stddef.h>

#include "holdfast/holdfast.h"

#define SIZED_MAX 4096 /* a larger struct_size was never set: it is garbage */

/* Each struct that a caller allocates, with the last field that it had in its
 * first release.  A field that is added later changes nothing here. */
#define SIZED_STRUCTS(X)                                                       \
    X(hf_acquire_options, permits)                                             \
    X(hf_await_options, cancel)                                                \
    X(hf_campaign_options, value_len)                                          \
    X(hf_client_options, password_file)                                        \
    X(hf_election_options, user)                                               \
    X(hf_event, text)                                                          \
    X(hf_info, available)                                                      \
    X(hf_leader, data)                                                         \
    X(hf_lock_options, order)                                                  \
    X(hf_once_options, renew_ms)                                               \
    X(hf_once_result, data)                                                    \
    X(hf_orders_drained, refused)                                              \
    X(hf_orders_options, keep)                                                 \
    X(hf_orders_report, lost)                                                  \
    X(hf_passed, index)                                                        \
    X(hf_probe_options, password_file)                                         \
    X(hf_quorum_options, password_file)                                        \
    X(hf_reservation, token)                                                   \
    X(hf_semaphore_options, permits)                                           \
    X(hf_semaphore_state, taken)                                               \
    X(hf_stats, renew_bins)                                                    \
    X(hf_stock_report, closes_ms)                                              \
    X(hf_stock_settled, left_ms)                                               \
    X(hf_stock_spec, closes_ms)                                                \
    X(hf_update_options, tries)                                                \
    X(hf_value, data)                                                          \
    X(hf_wait_options, cancel)

#define SIZED_UPTO(type, last)                                                 \
    ((uint32_t)(offsetof(struct type, last) + sizeof(((struct type *)0)->last)))

/* The size that *p had in its first release. */
#define SIZED_ROW(type, last) struct type : SIZED_UPTO(type, last),
#define SIZED_FIRST(p) _Generic(*(p), SIZED_STRUCTS(SIZED_ROW) int : 0u)

/* Copy an option struct of this version or another; what it does not have is
 * zero, the default.  HF_OK; or HF_INVALID if it has a field that is not known
 * here and not zero. */
#define hf__options_copy(to, to_size, from, from_size, err)                    \
    hf__sized_read((to), (to_size), SIZED_FIRST(to), (from), (from_size), (err))
int hf__sized_read(void *to, uint32_t to_size, uint32_t first, const void *from,
                   uint32_t from_size, struct hf_error *err);

/* Check that `out` can be filled.  HF_OK or HF_INVALID. */
#define hf__result_check(out, err)                                             \
    hf__sized_check((out)->struct_size, SIZED_FIRST(out), (err))
int hf__sized_check(uint32_t size, uint32_t first, struct hf_error *err);

/* Fill `out`, which was checked, from a struct of this version. */
#define hf__result_fill(out, found)                                            \
    hf__sized_write((out), 1 ? (found) : (out), sizeof *(found))
void hf__sized_write(void *out, const void *found, uint32_t size);

#endif
