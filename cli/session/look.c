/*
 * session/look.c: what is stored under a session's name: a lock or another
 * kind.
 *
 * The rule: it only looks, and a number of another program is not taken for a
 * semaphore of ours.
 */
#include "session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A number of another program looks like a semaphore that was never used. */
hf_semaphore *session_semaphore(struct session *s, struct hf_info *info)
{
    hf_semaphore *sem = NULL;
    if (!(hf_client_caps(s->client) & HF_CAP_PERMIT)) return NULL;
    if (hf_semaphore_open(s->client, hf_lock_name(s->lock), NULL, &sem, NULL)
        != HF_OK)
        return NULL;
    if (hf_lock_inspect(hf_semaphore_lock(sem), info, NULL) == HF_OK
        && info->permits > 0 && (info->locked || info->fence > 0))
        return sem;
    hf_semaphore_close(sem);
    return NULL;
}

/* -1 if it is not a latch, or with HF_LATCH_OURS not one that holdfast made. */
static int64_t latch_left(struct session *s, uint32_t flags)
{
    hf_latch *latch = NULL;
    int64_t left = -1;
    if (hf_latch_open_as(s->client, hf_lock_name(s->lock), flags, &latch, NULL)
        != HF_OK)
        return -1;
    if (hf_latch_count(latch, &left, NULL) != HF_OK) left = -1;
    hf_latch_close(latch);
    return left;
}

/* -1 if it is not a barrier. */
static int64_t barrier_waiting(struct session *s)
{
    hf_barrier *barrier = NULL;
    int64_t waiting = -1;
    if (hf_barrier_open(s->client, hf_lock_name(s->lock), 1, &barrier, NULL)
        != HF_OK)
        return -1;
    if (hf_barrier_waiting(barrier, &waiting, NULL) != HF_OK) waiting = -1;
    hf_barrier_close(barrier);
    return waiting;
}

/* Name what is stored instead of a lock, if it is of a kind without holders. */
static void conflict_name(struct session *s, struct hf_error *err)
{
    int64_t left = latch_left(s, HF_LATCH_OURS);
    int64_t number = left < 0 ? latch_left(s, 0) : -1;
    int64_t waiting = left < 0 && number < 0 ? barrier_waiting(s) : -1;
    if (left > 0)
        snprintf(err->text, sizeof(err->text),
                 "no lock, but a latch: %" PRId64
                 " left to count (holdfast latch status)",
                 left);
    else if (number >= 0)
        snprintf(err->text, sizeof(err->text),
                 "no lock, but a number that another program made, %" PRId64
                 ": a semaphore or a latch of Redisson's, or a counter, or one "
                 "of ours that was not used for 30 days",
                 number);
    else if (waiting >= 0)
        snprintf(err->text, sizeof(err->text),
                 "no lock, but a barrier: %" PRId64 " waiting", waiting);
}

int session_inspect(struct session *s, struct hf_info *info,
                    struct hf_error *err)
{
    int status = hf_lock_inspect(s->lock, info, err);
    if (status != HF_CONFLICT) return status;
    hf_semaphore *sem = session_semaphore(s, info);
    if (sem) {
        hf_semaphore_close(sem);
        return HF_OK;
    }
    conflict_name(s, err);
    return status;
}

int session_is_refused(const struct session *s, const struct hf_info *info)
{
    return info->locked && strcmp(info->layout, "string") == 0
           && !(hf_url_traits(hf_client_url(s->client)) & HF_URL_STRING);
}
