/*
 * election/step.c: what a call on an election asks of the store next.
 *
 *   CAMPAIGN  [forget] -> acquire -> [read -> write] -> done
 *   PUBLISH   read -> write -> done
 *   RESIGN    [read -> delete] -> release -> done
 *   AWAIT     inspect -> [read] -> done, or nap -> inspect ...
 *
 * The rule: a record is only replaced in the version that was read, and only
 * if its fence is not above ours; so a former leader cannot publish over its
 * successor, however long it was paused in between.
 */
#include <string.h>

#include "api/election/election.h"
#include "api/hold/handle.h"
#include "base/error.h"
#include "base/math.h"
#include "engine/seats.h"
#include "sys/clock.h"

#define PUBLISH_TRIES 8 /* a record that changes although we lead */

static int task_end(struct election_task *t, int status,
                    const struct hf_error *err)
{
    t->seq.status = status;
    if (status != HF_OK && err) t->seq.err = *err;
    return 0;
}

static int task_fail(struct election_task *t, int status, const char *why)
{
    hf__error_set(&t->seq.err, status, "%s", why);
    t->seq.status = status;
    return 0;
}

/* ---- operations --------------------------------------------------------- */

static int release_next(struct election_task *t, enum election_phase phase,
                        uint64_t holder)
{
    hf__call_init(&t->op, OP_TYPE_RELEASE, t->e->lock, holder);
    t->phase = phase;
    return 1;
}

static int acquire_next(struct election_task *t)
{
    struct hf_error err = {0};
    int status = hf__acquire_prepare(&t->op, t->e->lock, &t->acquire,
                                     t->acquire.holder, &err);
    if (status != HF_OK) return task_end(t, status, &err);
    t->phase = PHASE_ACQUIRE;
    return 1;
}

static void value_init(struct election_task *t, enum op_type type,
                       enum election_phase phase, uint64_t version)
{
    hf__call_init(&t->op, type, NULL, 0);
    t->job = (struct value_job){
        .key = t->e->key, .key_len = strlen(t->e->key), .version = version};
    t->op.value = &t->job;
    t->phase = phase;
}

/* A look ends when the wait does: a store that does not answer cannot make the
 * wait longer. */
static void look_bound(struct election_task *t)
{
    if (t->call != CALL_AWAIT || t->end_us == TIME_NEVER || t->end_us == 0)
        return;
    t->op.wait_us = max64(t->end_us - hf__clock_us(), 1);
}

static int read_next(struct election_task *t)
{
    value_init(t, OP_TYPE_VALUE_READ, PHASE_READ, 0);
    look_bound(t);
    return 1;
}

static int delete_next(struct election_task *t, uint64_t version)
{
    value_init(t, OP_TYPE_VALUE_WRITE, PHASE_DELETE, version);
    t->job.remove = 1;
    return 1;
}

static int inspect_next(struct election_task *t)
{
    memset(&t->look, 0, sizeof t->look);
    hf__call_init(&t->op, OP_TYPE_INSPECT, t->e->lock, t->holder);
    t->op.look = &t->look;
    t->op.info = &t->look.info;
    look_bound(t);
    t->phase = PHASE_INSPECT;
    return 1;
}

/* ---- publishing --------------------------------------------------------- */

/* A leader whose value could not be published does not lead: resign. */
static int publish_fail(struct election_task *t)
{
    if (t->call != CALL_CAMPAIGN) return 0;
    return release_next(t, PHASE_RELEASE, t->holder);
}

static int write_next(struct election_task *t, uint64_t version)
{
    const struct allocator *a = &t->e->client->alloc;
    char head[ELECTION_HEAD_MAX];
    size_t n = hf__election_format(&t->me, head);
    if (!t->text) t->text = hf__alloc(a, n + t->value_len);
    if (!t->text) {
        task_fail(t, HF_NOMEM, "out of memory");
        return publish_fail(t);
    }
    memcpy(t->text, head, n);
    if (t->value_len) memcpy(t->text + n, t->value, t->value_len);
    value_init(t, OP_TYPE_VALUE_WRITE, PHASE_WRITE, version);
    t->job.data = t->text;
    t->job.len = n + t->value_len;
    t->op.lease_us = HF_VALUE_TTL_MS_MAX * US_PER_MS;
    hf__pump_lock(&t->e->client->pump);
    t->e->published = 1;
    hf__pump_unlock(&t->e->client->pump);
    return 1;
}

/* Closing the client has ended the leadership, or its lease has ended. */
static void task_fail_lost(struct election_task *t)
{
    if (hf__client_is_closing(t->e->client))
        task_fail(t, HF_CLOSED, hf_status_text(HF_CLOSED));
    else
        task_fail(t, HF_LOST, "the leadership was lost");
}

/* The published record was read: replace it if the leadership still allows
 * that. */
static int publish_read(struct election_task *t, const struct hf_value *v)
{
    struct election_record r = {0};
    if (v->version && hf__election_parse(v->data, v->len, &r) != 0)
        task_fail(t, HF_CONFLICT, "not what a leader published");
    else if (r.fence > t->me.fence)
        task_fail(t, HF_LOST, "another candidate has been elected since");
    else if (hf__lock_valid_ms(t->e->lock, t->holder) <= 0)
        task_fail_lost(t);
    else
        return write_next(t, v->version);
    return publish_fail(t);
}

static int publish_wrote(struct election_task *t)
{
    if (t->op.status == HF_OK) return task_end(t, HF_OK, NULL);
    if (t->op.status == HF_CHANGED && ++t->tries < PUBLISH_TRIES)
        return read_next(t);
    if (t->op.status == HF_CHANGED)
        task_fail(t, HF_UNAVAILABLE, "what is published kept changing");
    else
        task_end(t, t->op.status, &t->op.err);
    return publish_fail(t);
}

/* Fill in the owner that the store knows.  After a hand-over within the process
 * that need not be this holder. */
static void me_fill(struct election_task *t)
{
    struct pump *p = &t->e->client->pump;
    hf__pump_lock(p);
    const struct seat *s = hf__seat_find(t->e->lock->entry, t->holder);
    if (s) hf__seat_owner(&p->engine, s, t->me.owner);
    t->me.fence = s ? (uint64_t)s->hold.fence : 0;
    hf__pump_unlock(p);
}

static int publish_begin(struct election_task *t)
{
    me_fill(t);
    return read_next(t);
}

/* ---- campaign and resign ------------------------------------------------ */

static int campaign_begin(struct election_task *t)
{
    hf_election *e = t->e;
    t->acquire.holder = t->holder = hf_holder_new();
    hf__pump_lock(&e->client->pump);
    uint64_t before = e->holder;
    hf_hold *hold = e->hold;
    e->holder = t->holder;
    e->hold = NULL;
    e->published = 0;
    hf__pump_unlock(&e->client->pump);
    hf__handle_forget(hold);
    if (before && hf__lock_state(e->lock, before) == HF_STATE_LOST)
        return release_next(t, PHASE_FORGET, before);
    return acquire_next(t);
}

static int campaign_acquired(struct election_task *t)
{
    if (t->op.status != HF_OK) return task_end(t, t->op.status, &t->op.err);
    return t->value ? publish_begin(t) : task_end(t, HF_OK, NULL);
}

static int resign_begin(struct election_task *t)
{
    hf_election *e = t->e;
    hf__pump_lock(&e->client->pump);
    int published = e->published;
    hf_hold *hold = e->hold;
    e->published = 0;
    e->hold = NULL;
    hf__pump_unlock(&e->client->pump);
    hf__handle_forget(hold);
    if (!published || hf__lock_state(e->lock, t->holder) == HF_STATE_LOST)
        return release_next(t, PHASE_RELEASE, t->holder);
    return publish_begin(t);
}

/* The leader resigns even if its value cannot be deleted: observers ignore the
 * value as soon as another candidate leads. */
static int resign_read(struct election_task *t, const struct hf_value *v)
{
    struct election_record r;
    if (v->version && hf__election_parse(v->data, v->len, &r) == 0
        && r.fence == t->me.fence && strcmp(r.owner, t->me.owner) == 0)
        return delete_next(t, v->version);
    return release_next(t, PHASE_RELEASE, t->holder);
}

/* ---- looking ------------------------------------------------------------ */

static int is_new(const struct hf_leader *a, const struct hf_leader *b)
{
    if (!a || a->is_led != b->is_led) return 1;
    return b->is_led
           && (a->fence != b->fence || a->version != b->version
               || strcmp(a->owner, b->owner) != 0);
}

static int look_over(struct election_task *t)
{
    int64_t now_us = hf__clock_us();
    t->has_looked = 1;
    if (is_new(t->seen, &t->leader)) return task_end(t, HF_OK, NULL);
    hf__free(&t->e->client->alloc, t->leader.data);
    t->leader.data = NULL;
    if (now_us >= t->end_us)
        return task_fail(t, HF_TIMEOUT, "nothing has changed");
    hf__call_init(&t->op, OP_TYPE_NAP, t->e->lock, t->holder);
    t->op.wait_us = min64(t->await.look_ms * US_PER_MS, t->end_us - now_us);
    t->op.cancel = t->await.cancel;
    t->phase = PHASE_NAP;
    return 1;
}

/* A look was not answered.  If earlier looks were answered and this one was cut
 * short by the end of the wait, the store may be fine: HF_TIMEOUT. */
static int look_failed(struct election_task *t)
{
    int is_cut = t->op.status == HF_UNAVAILABLE && t->has_looked
                 && t->end_us != TIME_NEVER && hf__clock_us() >= t->end_us;
    if (is_cut) return task_fail(t, HF_TIMEOUT, "nothing has changed");
    return task_end(t, t->op.status, &t->op.err);
}

static int look_inspected(struct election_task *t)
{
    const struct hf_info *i = &t->look.info;
    struct hf_leader *l = &t->leader;
    if (t->op.status != HF_OK) return look_failed(t);
    memset(l, 0, sizeof *l);
    l->struct_size = sizeof *l;
    l->now_ms = i->now_ms;
    l->ttl_ms = i->ttl_ms;
    if (!i->locked) return look_over(t);
    l->is_led = 1;
    l->is_me = i->mine;
    l->fence = i->fence;
    l->since_ms = i->since_ms;
    l->pid = i->pid;
    memcpy(l->owner, i->owner, sizeof l->owner);
    memcpy(l->host, i->host, sizeof l->host);
    memcpy(l->label, i->label, sizeof l->label);
    if (t->e->client->pump.engine.caps & HF_CAP_VALUE) return read_next(t);
    return look_over(t);
}

/* The record may be a former leader's, or already the next leader's: only one
 * with the owner that the lock has belongs to this leader. */
static int look_read(struct election_task *t, struct hf_value *v)
{
    struct election_record r;
    struct hf_leader *l = &t->leader;
    if (!v->version || hf__election_parse(v->data, v->len, &r) != 0
        || strcmp(r.owner, l->owner) != 0)
        return look_over(t);
    l->version = v->version;
    l->len = v->len - r.head_len;
    memmove(v->data, v->data + r.head_len, l->len + 1);
    l->data = v->data;
    v->data = NULL;
    return look_over(t);
}

/* ---- the steps ---------------------------------------------------------- */

static int task_begin(struct election_task *t)
{
    switch (t->call) {
    case CALL_CAMPAIGN:
        return campaign_begin(t);
    case CALL_PUBLISH:
        return publish_begin(t);
    case CALL_RESIGN:
        return resign_begin(t);
    default:
        return inspect_next(t);
    }
}

static int read_over(struct election_task *t)
{
    struct hf_value v = t->job.found;
    int again;
    if (t->op.status != HF_OK) {
        if (t->call == CALL_RESIGN)
            return release_next(t, PHASE_RELEASE, t->holder);
        if (t->call == CALL_AWAIT) return look_failed(t);
        task_end(t, t->op.status, &t->op.err);
        return publish_fail(t);
    }
    if (t->call == CALL_RESIGN)
        again = resign_read(t, &v);
    else if (t->call == CALL_AWAIT)
        again = look_read(t, &v);
    else
        again = publish_read(t, &v);
    hf__free(&t->e->client->alloc, v.data);
    return again;
}

static int release_over(struct election_task *t)
{
    /* A campaign that could not publish has failed already. */
    if (t->call == CALL_CAMPAIGN) return 0;
    return task_end(t, t->op.status, &t->op.err);
}

int hf__election_step(struct election_task *t)
{
    switch (t->phase) {
    case PHASE_BEGIN:
        return task_begin(t);
    case PHASE_FORGET:
        return acquire_next(t);
    case PHASE_ACQUIRE:
        return campaign_acquired(t);
    case PHASE_READ:
        return read_over(t);
    case PHASE_WRITE:
        return publish_wrote(t);
    case PHASE_DELETE:
        return release_next(t, PHASE_RELEASE, t->holder);
    case PHASE_RELEASE:
        return release_over(t);
    case PHASE_INSPECT:
        return look_inspected(t);
    default: /* PHASE_NAP */
        if (t->op.status != HF_TIMEOUT)
            return task_end(t, t->op.status, &t->op.err);
        return inspect_next(t);
    }
}
