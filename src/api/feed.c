/*
 * feed.c: hf_lock_feed(): the program says that its work is alive.
 *
 * The rule: a feed that comes too late saves nothing, and says so.
 */
#include "api/fallback.h"
#include "sys/clock.h"

/* What feeding this hold comes to; lock held. */
static int slot_feed(struct pump *p, struct slot *s)
{
    enum hold_state state = s ? s->hold.state : HOLD_IDLE;
    int64_t now_us = hf__clock_us();
    if (p->engine.closing) return HF_CLOSED;
    if (state != HOLD_HELD && state != HOLD_LOST) return HF_NOT_OWNER;
    if (!s->hold.feed_ms) return HF_INVALID;
    if (state == HOLD_HELD && now_us >= s->hold.valid_us)
        hf__pump_end(p, s, now_us);
    if (s->hold.state == HOLD_LOST) return s->hold.lost_status;
    hf__pump_feed(p, s, now_us);
    return HF_OK;
}

static int lock_feed(hf_lock *lock, uint64_t holder)
{
    struct pump *p = &lock->client->pump;
    hf__pump_lock(p);
    int status = slot_feed(p, hf__slot_find(lock->entry, holder));
    hf__pump_unlock(p);
    return status;
}

int hf_lock_feed(hf_lock *lock, uint64_t holder)
{
    hf_lock shadow;
    int status = hf__client_check(lock->client, NULL);
    if (status != HF_OK) return status;
    if (!holder) holder = hf_holder_self();
    hf_lock *at = hf__fallback_enter(lock, holder, &shadow);
    status = lock_feed(at, holder);
    hf__fallback_leave(lock, at);
    return status;
}
