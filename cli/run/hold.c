/*
 * run/hold.c: the hold under which the command runs, whichever way it was
 * acquired.
 */
#include "common/duration.h"
#include "common/exit.h"
#include "run/supervise.h"

#include <poll.h>

#define GIVE_MS 500 /* how long to wait for a store that did not renew */
#define GIVE_LOOK_MS 20

int hold_state(const struct run *r)
{
    return hf_hold_state(r->hold);
}

int64_t hold_valid_ms(const struct run *r)
{
    return hf_hold_valid_ms(r->hold);
}

void hold_why(const struct run *r, char text[HF_ERROR_TEXT_MAX])
{
    hf_hold_why(r->hold, text);
}

void hold_read(struct run *r)
{
    struct held *h = &r->held;
    size_t len = hf_hold_parts(r->hold);
    h->is_set = 1;
    for (size_t i = 0; i < len && i < HF_MULTI_MAX; i++)
        h->fences[i] = hf_hold_fence(hf_hold_part(r->hold, i));
    h->fence = h->fences[0];
    h->valid_ms = hf_hold_valid_ms(r->hold);
    h->lease_ms = hf_hold_lease_ms(r->hold);
    h->guarantee = hf_hold_guarantee(r->hold);
    h->replicas = hf_hold_replicas(r->hold);
}

static void given_note(hf_hold *hold, int status, const struct hf_error *err,
                       void *user)
{
    (void)hold;
    (void)status;
    (void)err;
    *(int *)user = 1;
}

/* Release without waiting for long: a store that did not renew may not answer
 * now either.  What is held ends with its lease in any case. */
static void hold_give_quickly(struct run *r)
{
    static int is_given; /* it outlives a callback that comes late */
    int64_t end_ms = clock_ms() + GIVE_MS;
    is_given = 0;
    int status = hf_hold_release_start(r->hold, given_note, &is_given, NULL);
    while (status == HF_OK && !is_given && clock_ms() < end_ms) {
        struct pollfd fd = {.fd = hf_client_fd(r->s.client), .events = POLLIN};
        (void)poll(&fd, 1, GIVE_LOOK_MS);
        (void)hf_client_process(r->s.client);
    }
    r->is_left = !is_given;
}

int hold_is_over(struct run *r)
{
    int state = hold_state(r);
    if (state == HF_STATE_HELD || state == HF_STATE_AT_RISK) return 0;
    r->is_left = 1;
    if (hf_hold_parts(r->hold) > 1) hold_give_quickly(r);
    return 1;
}

void hold_give(struct run *r)
{
    struct hf_error err = {0};
    if (r->cause == CAUSE_LOST) {
        hold_give_quickly(r);
        return;
    }
    int status = hf_hold_release(r->hold, &err);
    if (status == HF_OK) return;
    (void)session_fail(&r->s, status, &err);
    if (status == HF_LOST || status == HF_EXPIRED) r->lost = r->is_left = 1;
}
