/*
 * semaphore/ticket.c: permits that come from another process.
 *
 * A ticket is text: hfp1:<permits>:<ticket of the hold, see ticket.c>.  The
 * rule: the store is asked before permits are taken over.
 */
#include <string.h>

#include "api/hold/handle.h"
#include "api/semaphore/semaphore.h"
#include "api/lock/ticket.h"
#include "base/error.h"

#define PREFIX "hfp1:"

/* Only permits that the store keeps have tickets. */
static int kind_check(const hf_semaphore *sem, struct hf_error *err)
{
    int status = hf__client_check(sem->client, err);
    if (status != HF_OK) return status;
    if (!sem->is_plain && !sem->slots_len) return HF_OK;
    return hf__error_set(err, HF_UNSUPPORTED, "ticket: %s",
                         sem->is_plain ? "a plain counter has no holders"
                                       : NOT_WITH_SLOTS);
}

/* The number of permits, and where the ticket of the hold begins; or -1. */
static int64_t count_read(const char *ticket, const char **inner)
{
    char digits[8];
    int64_t count;
    const size_t prefix = sizeof PREFIX - 1;
    if (!ticket || strncmp(ticket, PREFIX, prefix) != 0) return -1;
    size_t len = strcspn(ticket + prefix, ":");
    if (len == 0 || len >= sizeof digits || !ticket[prefix + len]) return -1;
    memcpy(digits, ticket + prefix, len);
    digits[len] = '\0';
    if (hf__number_parse(digits, 1, HF_PERMITS_MAX, &count) != 0) return -1;
    *inner = ticket + prefix + len + 1;
    return count;
}

/* As count_read(), with an error for whatever is wrong with the ticket. */
static int ticket_check(const hf_semaphore *sem, const char *ticket,
                        const char **inner, int64_t *count,
                        struct hf_error *err)
{
    int status = kind_check(sem, err);
    if (status != HF_OK) return status;
    *count = count_read(ticket, inner);
    if (*count > 0) return HF_OK;
    return hf__error_set(err, HF_INVALID,
                         "ticket: not one of permits: it looks "
                         "like " PREFIX "<n>:hf2:...");
}

int hf_semaphore_attach(hf_semaphore *sem, const char *ticket, int64_t lease_ms,
                        hf_hold **hold, struct hf_error *err)
{
    const char *inner = NULL;
    int64_t count;
    int status = ticket_check(sem, ticket, &inner, &count, err);
    if (status != HF_OK) return status;
    return hf__attach_ticket_attach(sem->lock, inner, count, lease_ms, hold,
                                    err);
}

int hf_semaphore_attach_start(hf_semaphore *sem, const char *ticket,
                              int64_t lease_ms, hf_semaphore_acquired_fn cb,
                              void *user, struct hf_error *err)
{
    struct op op;
    const char *inner = NULL;
    int64_t count;
    int status = ticket_check(sem, ticket, &inner, &count, err);
    if (status == HF_OK) status = hf__told_check(cb != NULL, err);
    if (status == HF_OK)
        status =
            hf__attach_prepare(&op, sem->lock, inner, count, lease_ms, err);
    if (status != HF_OK) return status;
    status = hf__semaphore_start(sem, &op, cb, user, err);
    if (status != HF_OK) hf__handle_cancel(op.handle, sem->client);
    return status;
}
