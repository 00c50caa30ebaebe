/*
 * run/hold.c: what is held for the command, whichever way it was got.
 */
#include "run/supervise.h"

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
