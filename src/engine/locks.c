/*
 * locks.c: the names in use, whose turn it is in this process, and wake-ups.
 *
 * The rule: of all the holders of this process that wait for one name, one
 * contends; the others stand in line, first come, first served.  When a holder
 * of this process has the lock, the next one's proposal goes out right behind
 * its release.  For a semaphore, a holder that wants fewer permits than the
 * holders that contend may contend beside them once they have been refused:
 * there may be enough permits for it.
 */
#include "engine/locks.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/math.h"
#include "engine/engine.h"
#include "engine/heap.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/nodes.h"
#include "engine/op.h"
#include "engine/handover.h"

#define LINGER_US (100 * US_PER_MS)

/* ---- names ------------------------------------------------------------ */

static uint32_t entry_hash(int is_host, enum lock_kind kind, const char *name,
                           size_t len)
{
    uint64_t at = (uint64_t)kind + (is_host ? KINDS_LEN : 0);
    return (uint32_t)(hash64(name, len) + at);
}

static struct lock_entry **entry_place(struct engine *e, int is_host,
                                       enum lock_kind kind, const char *name,
                                       size_t len, uint32_t hash)
{
    struct lock_entry **at = &e->table[hash & (e->table_size - 1)];
    while (*at
           && ((*at)->hash != hash || (*at)->kind != kind
               || (*at)->is_host != is_host || (*at)->name_len != len
               || memcmp((*at)->name, name, len) != 0))
        at = &(*at)->hash_next;
    return at;
}

static void table_grow(struct engine *e)
{
    size_t size = e->table_size * 2;
    struct lock_entry **bigger =
        hf__alloc_zero(e->alloc, size * sizeof *bigger);
    if (!bigger) return; /* longer chains, but nothing fails */
    for (size_t i = 0; i < e->table_size; i++) {
        while (e->table[i]) {
            struct lock_entry *entry = e->table[i];
            e->table[i] = entry->hash_next;
            entry->hash_next = bigger[entry->hash & (size - 1)];
            bigger[entry->hash & (size - 1)] = entry;
        }
    }
    hf__free(e->alloc, e->table);
    e->table = bigger;
    e->table_size = size;
}

struct lock_entry *hf__entry_find_at(struct engine *e, int is_host,
                                     enum lock_kind kind, const char *name,
                                     size_t name_len)
{
    return *entry_place(e, is_host, kind, name, name_len,
                        entry_hash(is_host, kind, name, name_len));
}

struct lock_entry *hf__entry_find_host(struct engine *e,
                                       const struct lock_entry *entry)
{
    return hf__entry_find_at(e, 1, entry->kind, entry->name, entry->name_len);
}

static struct lock_entry *entry_get(struct engine *e, int is_host,
                                    enum lock_kind kind, const char *name,
                                    size_t name_len)
{
    uint32_t hash = entry_hash(is_host, kind, name, name_len);
    struct lock_entry **at =
        entry_place(e, is_host, kind, name, name_len, hash);
    struct lock_entry *entry = *at;
    if (!entry) {
        entry = hf__alloc_zero(e->alloc, offsetof(struct lock_entry, name)
                                             + name_len + 1);
        if (!entry) return NULL;
        entry->hash = hash;
        entry->kind = (uint8_t)kind;
        entry->is_host = is_host != 0;
        entry->name_len = (uint16_t)name_len;
        entry->linger.due_us = TIME_NEVER;
        entry->told = -1;
        entry->crowded = 1;
        memcpy(entry->name, name, name_len);
        *at = entry;
        if (++e->table_len > e->table_size) table_grow(e);
    }
    entry->refs++;
    return entry;
}

struct lock_entry *hf__entry_get(struct engine *e, enum lock_kind kind,
                                 const char *name, size_t name_len)
{
    return entry_get(e, 0, kind, name, name_len);
}

struct lock_entry *hf__entry_get_host(struct engine *e,
                                      const struct lock_entry *entry)
{
    return entry_get(e, 1, entry->kind, entry->name, entry->name_len);
}

void hf__entry_unref(struct engine *e, struct lock_entry *entry)
{
    assert(entry->refs > 0);
    if (--entry->refs > 0) return;
    struct lock_entry **at =
        entry_place(e, entry->is_host, entry->kind, entry->name,
                    entry->name_len, entry->hash);
    assert(*at == entry && !entry->seats && !entry->line_head);
    *at = entry->hash_next;
    e->table_len--;
    hf__heap_set(&e->lingers, &entry->linger, TIME_NEVER);
    hf__free(e->alloc, entry);
}

/* ---- turns ------------------------------------------------------------ */

/* To the head: a hold that has tried before has waited longer. */
static void line_push(struct lock_entry *entry, struct seat *s)
{
    s->line_next = entry->line_head;
    s->in_line = 1;
    entry->line_head = s;
    if (!entry->line_tail) entry->line_tail = s;
}

static void line_add(struct lock_entry *entry, struct seat *s)
{
    if (s->hold.round > 0) {
        line_push(entry, s);
        return;
    }
    s->line_next = NULL;
    s->in_line = 1;
    entry->crowded = 1;
    if (entry->line_tail)
        entry->line_tail->line_next = s;
    else
        entry->line_head = s;
    entry->line_tail = s;
}

static void line_remove(struct lock_entry *entry, struct seat *s)
{
    struct seat **at = &entry->line_head, *before = NULL;
    while (*at != s) {
        before = *at;
        at = &(*at)->line_next;
    }
    *at = s->line_next;
    if (entry->line_tail == s) entry->line_tail = before;
    s->line_next = NULL;
    s->in_line = 0;
}

/* The holds that have the turn are a list, which begins with the one that wants
 * the most permits.  They are not in line, so the list uses line_next. */
static struct seat **turn_place(struct lock_entry *entry, const struct seat *s)
{
    struct seat **at = &entry->turn;
    while (*at && *at != s) at = &(*at)->line_next;
    return at;
}

static int turn_has(struct lock_entry *entry, const struct seat *s)
{
    return *turn_place(entry, s) != NULL;
}

static void turn_take(struct lock_entry *entry, struct seat *s)
{
    assert(!s->in_line && !s->line_next && !turn_has(entry, s));
    *turn_place(entry, NULL) = s;
}

static void turn_drop(struct lock_entry *entry, struct seat *s)
{
    struct seat **at = turn_place(entry, s);
    if (!*at) return;
    *at = s->line_next;
    s->line_next = NULL;
}

/* The most permits that a holder may want to be allowed to contend now; 0: none
 * may contend.  A holder that wants as many as one that was refused would be
 * refused, too; and while an answer is awaited, no further holder asks. */
static int64_t turn_room(const struct lock_entry *entry, unsigned hold_flags)
{
    const struct seat *last = entry->turn;
    if (!last) return INT64_MAX;
    if (!(hold_flags & HOLD_MANY)) return 0;
    while (last->line_next) last = last->line_next;
    int is_refused = last->hold.state == HOLD_WAITING && last->hold.busy;
    return is_refused ? last->permits - 1 : 0;
}

int hf__turn_is_open(const struct lock_entry *entry, unsigned hold_flags,
                     int64_t permits)
{
    int64_t room = turn_room(entry, hold_flags);
    return room > 0 && permits <= room;
}

static int turn_is_open(const struct lock_entry *entry, const struct seat *s)
{
    return hf__turn_is_open(entry, s->hold.flags, s->permits);
}

/* The first in line that may contend now, or NULL. */
static struct seat *turn_next(const struct lock_entry *entry)
{
    struct seat *s = entry->line_head;
    int64_t room = s ? turn_room(entry, s->hold.flags) : 0;
    while (room > 0 && s && s->permits > room) s = s->line_next;
    return room > 0 ? s : NULL;
}

/* How long this process stands back after many turns in a row, so that other
 * processes can ask first.  Waiters that are not counted may not be told
 * either, but look: at least as often as a hold lasts. */
static int64_t grace_us(struct engine *e, const struct lock_entry *entry)
{
    int64_t rtts_us = 2 * hf__conf_of(e, entry)->rtt_us;
    if (entry->debt <= 0) return 0;
    if (entry->told >= 0) return min64(rtts_us + GRACE_US_MIN, GRACE_US_MAX);
    return min64(rtts_us + GRACE_LOOK_US_MIN + entry->held_us,
                 GRACE_LOOK_US_MAX);
}

static void turn_pass(struct engine *e, struct lock_entry *entry)
{
    struct hold_event ev = {.type = EV_TURN, .wait_us = grace_us(e, entry)};
    struct seat *s = turn_next(entry);
    if (!s || !hf__nodes_are_ready(e, entry)) return;
    line_remove(entry, s);
    turn_take(entry, s);
    hf__seat_step(e, s, &ev);
}

/* A holder that queues at the store waits for no turn in this process: all of
 * them may ask, in the order in which they came. */
static void turn_free(struct engine *e, struct lock_entry *entry)
{
    entry->refs++;
    for (struct seat *s = entry->line_head, *next; s; s = next) {
        struct hold_event turn = {.type = EV_TURN};
        next = s->line_next;
        if (s->hold.flags & HOLD_QUEUES) hf__seat_step(e, s, &turn);
    }
    hf__entry_unref(e, entry);
}

/* The clocks are known now: holds that stood in line only for that may try. */
void hf__turn_pass_all(struct engine *e)
{
    for (struct op *op = e->all, *next; op; op = next) {
        struct seat *s = op->seat;
        struct hold_event ready = {.type = EV_READY};
        struct hold_event turn = {.type = EV_TURN};
        next = op->all_next;
        if (!s || !s->in_line) continue;
        if (!hf__nodes_are_ready(e, s->entry)) {
            ready.flags = HOLD_BLIND;
            if (e->conf.settle_us > e->now_us) hf__seat_step(e, s, &ready);
            continue;
        }
        if (s->hold.flags & HOLD_QUEUES) {
            turn_free(e, s->entry);
        } else if (s->hold.one_try || s->hold.flags & HOLD_SHARED) {
            hf__seat_step(e, s, &turn);
        } else {
            hf__seat_step(e, s, &ready);
            turn_pass(e, s->entry);
        }
    }
}

/* Is it time to let other processes have it?  If some wait, or may wait, then
 * after LOCAL_TURNS_MAX turns within this process: the next hold here asks only
 * when the others have heard of the release, too. */
static int turn_is_polite(const struct seat *s)
{
    struct lock_entry *entry = s->entry;
    if (entry->told == 0) {
        entry->turns = 0;
        return 0;
    }
    return hf__handover_is_over(s) || ++entry->turns >= LOCAL_TURNS_MAX;
}

/* A turn was left to other processes: stand back once for each that heard of
 * the release, and once for this process, which hears of it, too. */
static void turn_owe(struct engine *e, struct lock_entry *entry)
{
    uint32_t now_us = (uint32_t)e->now_us; /* its low bits will do */
    entry->turns = 0;
    if (entry->told == 0) return;
    entry->debt = (entry->told > 0 ? entry->told : 1) + 1;
    entry->held_us = now_us - entry->granted_us;
}

/* HOLD_MANY: the first hold of this process that asks right behind a
 * release: a hold that has the turn and waits, or else the first in
 * line.  NULL: there is none, or other processes go first. */
static struct seat *many_next(const struct lock_entry *entry)
{
    struct seat *s = entry->turn;
    if (!s || entry->debt > 0) return NULL;
    while (s && s->hold.state != HOLD_WAITING) s = s->line_next;
    return s ? s : entry->line_head;
}

/* Before its release goes out: will the next hold of this process ask right
 * behind it? */
void hf__turn_leave(struct seat *s)
{
    int is_last = s->hold.state == HOLD_HELD && s->hold.count == 1;
    if (s->hold.flags & HOLD_MANY)
        s->followed = is_last && many_next(s->entry) && !turn_is_polite(s);
    else if (s->entry->turn == s && is_last)
        s->followed = !turn_is_polite(s);
}

static int is_hushed_many(const struct engine *e, const struct seat *s)
{
    const struct seat *next = many_next(s->entry);
    /* Unless it takes all permits that are released, other processes must hear
     * of the rest. */
    return s->followed && next && next->permits == s->permits
           && s->entry->told >= 0 && hf__nodes_are_ready(e, s->entry)
           && next->hold.lease_us >= s->hold.lease_us
           && !(next->hold.plan && next->hold.plan->max_hold_us);
}

/* Shall the release wake no waiter of other processes?  A waiter that is woken
 * would only find the lock taken again.  But if the next hold is shorter, they
 * must hear of it: they sleep until the end of the hold that they know of. */
int hf__turn_is_hushed(const struct engine *e, const struct seat *s)
{
    const struct seat *next = s->entry->line_head;
    if (s->hold.flags & HOLD_MANY) return is_hushed_many(e, s);
    return s->followed && next && s->entry->told > 0 && s->hold.conf->nodes == 1
           && next->hold.lease_us >= s->hold.lease_us
           && !(next->hold.plan && next->hold.plan->max_hold_us);
}

static void getting_set(struct engine *e, struct seat *s, int getting)
{
    struct lock_entry *entry = s->entry;
    if (s->getting == getting) return;
    s->getting = getting != 0;
    if (getting) {
        entry->getting++;
        hf__heap_set(&e->lingers, &entry->linger, TIME_NEVER);
    } else if (--entry->getting == 0 && entry->watch == WATCH_ON) {
        /* A holder that got the lock may soon wait again; a waiter that gave
         * up must not be counted as a waiter any longer. */
        int got_it = s->hold.state == HOLD_HELD;
        hf__heap_set(&e->lingers, &entry->linger,
                     e->now_us + (got_it ? LINGER_US : 0));
        if (!got_it) hf__watch_sweep(e);
    }
}

/* Does the hold, in its state, keep others of this process from contending? */
static int turn_is_taken(const struct seat *s)
{
    enum hold_state state = s->hold.state;
    if (s->hold.flags & (HOLD_SHARED | HOLD_QUEUES)) return 0;
    if (state == HOLD_TRYING) return !s->hold.one_try;
    return state == HOLD_HELD && !(s->hold.flags & HOLD_MANY);
}

/* Wake the holds that have the turn, from this one on: the one that wants the
 * most permits asks first. */
static void many_wake(struct engine *e, struct seat *s)
{
    for (struct seat *next; s; s = next) {
        struct hold_event wake = {.type = EV_WAKE};
        next = s->line_next;
        if (s->hold.state == HOLD_WAITING) hf__seat_step(e, s, &wake);
    }
}

/* After a release: let the next hold of this process ask, unless it is time for
 * other processes to come first. */
static void many_follow(struct engine *e, struct seat *s)
{
    struct lock_entry *entry = s->entry;
    struct hold_event turn = {.type = EV_TURN};
    struct seat *next = many_next(entry);
    if (!s->followed && entry->turns >= LOCAL_TURNS_MAX) turn_owe(e, entry);
    if (!s->followed || !next) return;
    if (turn_has(entry, next)) {
        many_wake(e, next);
    } else if (hf__nodes_are_ready(e, entry)) {
        line_remove(entry, next);
        hf__seat_step(e, next, &turn);
    }
}

/* A holder that has got its permits leaves the turn to the next.  A holder that
 * asked in vain beside those that have the turn stands in line again, unless it
 * wants fewer permits than they do. */
static void many_update(struct engine *e, struct seat *s,
                        enum hold_state before)
{
    struct lock_entry *entry = s->entry;
    struct hold_event back = {.type = EV_BACK};
    int is_beside = s->hold.state == HOLD_WAITING && s->hold.busy
                    && !s->hold.one_try && !(s->hold.flags & HOLD_QUEUES);
    if (s->hold.state == HOLD_HELD && turn_has(entry, s)) {
        turn_drop(entry, s);
        turn_pass(e, entry);
    }
    if (s->hold.state == HOLD_RELEASING && before == HOLD_HELD)
        many_follow(e, s);
    if (!is_beside || turn_has(entry, s)) return;
    if (turn_is_open(entry, s))
        turn_take(entry, s);
    else
        hf__seat_step(e, s, &back);
}

/* The hold has the lock, from the store or handed over in the process. */
static void turn_begun(struct engine *e, const struct seat *s)
{
    s->entry->debt = 0;
    if (s->hold.block == 0 || hf__hold_passes(&s->hold) == 0)
        s->entry->granted_us = (uint32_t)e->now_us;
}

void hf__turn_update(struct engine *e, struct seat *s, enum hold_state before)
{
    struct lock_entry *entry = s->entry;
    enum hold_state state = s->hold.state;
    getting_set(e, s,
                state == HOLD_IN_LINE || state == HOLD_TRYING
                    || state == HOLD_WAITING);
    if (s->in_line && state != HOLD_IN_LINE) line_remove(entry, s);
    if (!s->in_line && state == HOLD_IN_LINE) line_add(entry, s);
    if (before != state && turn_is_taken(s) && !turn_has(entry, s)
        && turn_is_open(entry, s))
        turn_take(entry, s);
    if (s->hold.flags & HOLD_MANY) many_update(e, s, before);
    if (!turn_has(entry, s)) {
        if (state == HOLD_IN_LINE) turn_pass(e, entry);
        return;
    }
    if (state == HOLD_HELD) turn_begun(e, s);
    if (state == HOLD_RELEASING && s->followed) turn_drop(entry, s);
    if (state == HOLD_RELEASING && !entry->line_head) entry->crowded = 0;
    if (state == HOLD_DONE || state == HOLD_LOST) {
        turn_drop(entry, s);
        if (state == HOLD_DONE && before == HOLD_RELEASING) turn_owe(e, entry);
    }
    turn_pass(e, entry);
}

/* ---- wake-ups --------------------------------------------------------- */

/* Send `op` to these nodes; returns the nodes that it could be sent to. */
static uint16_t watch_send(struct engine *e, struct lock_entry *entry,
                           enum verb op, uint32_t nodes)
{
    const struct hold_conf *conf = hf__conf_of(e, entry);
    uint32_t sent = 0;
    for (int i = 0; i < conf->nodes; i++) {
        struct request *r = nodes >> i & 1 ? hf__request_new(e) : NULL;
        if (!r) continue;
        r->verb = op;
        r->kind = entry->kind;
        r->flags = entry->queues ? REQ_QUEUE : 0;
        r->name = entry->name;
        r->name_len = entry->name_len;
        r->user = entry;
        r->user_kind = USER_ENTRY;
        r->round = entry->watch_round;
        r->deadline_us = e->now_us + conf->timeout_us;
        entry->refs++;
        hf__request_send(e, hf__node_of(e, entry, i), r);
        sent |= UINT32_C(1) << i;
    }
    return (uint16_t)sent;
}

static void watched_tell(struct engine *e, struct lock_entry *entry,
                         enum hold_event_type type, int status)
{
    int64_t wait_us = type == EV_WAKE ? grace_us(e, entry) : 0;
    struct seat_walk walk;
    hf__walk_begin(e, &walk, entry);
    for (struct seat *s; (s = hf__walk_next(e, &walk));) {
        struct hold_event ev = {
            .type = type, .status = status, .wait_us = wait_us};
        if (s->hold.state == HOLD_TRYING || s->hold.state == HOLD_WAITING)
            hf__seat_step(e, s, &ev);
        else if (type == EV_WATCHED && status != HF_OK)
            s->hold.watched = s->hold.watch_asked = 0; /* ask when trying */
    }
}

/* The watch that is on does not tell of hand-overs: ask for those, too. */
static void watch_more(struct engine *e, struct lock_entry *entry)
{
    entry->watch = WATCH_ASKED;
    entry->watch_open = watch_send(e, entry, VERB_WATCH, entry->watch_on);
    if (entry->watch_open) return;
    entry->watch = WATCH_ON; /* no memory: waiters in the store's queue poll */
    entry->queues = 0;
}

void hf__watch_want(struct engine *e, struct seat *s)
{
    struct lock_entry *entry = s->entry;
    struct hold_event ev = {.type = EV_WATCHED, .status = HF_OK};
    int is_new = hf__is_handed_over(entry, s->hold.flags) && !entry->queues;
    if (!(hf__caps_of(e, entry) & HF_CAP_WATCH)) return;
    if (is_new) entry->queues = 1; /* ASKED: hf__watch_answer() goes on */
    if (entry->watch == WATCH_ON && is_new) {
        watch_more(e, entry);
    } else if (entry->watch == WATCH_ON) {
        hf__seat_step(e, s, &ev);
    } else if (entry->watch == WATCH_OFF) {
        const struct hold_conf *conf = s->hold.conf;
        uint32_t all = (UINT32_C(1) << conf->nodes) - 1;
        /* Room to linger, for which it has to be watched. */
        if (hf__heap_reserve(&e->lingers, e->alloc, e->table_len) != 0) return;
        entry->watch_round++;
        entry->watch_on = 0;
        entry->watch_open = watch_send(e, entry, VERB_WATCH, all & ~conf->down);
        if (!entry->watch_open) return;
        entry->watch = WATCH_ASKED;
        entry->refs++; /* for as long as it is watched */
    }
}

void hf__watch_answer(struct engine *e, struct lock_entry *entry,
                      const struct request *r, const struct reply *rep)
{
    uint16_t node = (uint16_t)(1u << r->node);
    if (r->round != entry->watch_round) return; /* of an earlier watch */
    entry->watch_open &= (uint16_t)~node;
    if (rep->verdict == V_GRANTED) entry->watch_on |= node;
    if (entry->watch != WATCH_ASKED) return;
    /* One node that tells is enough; none does once all have refused. */
    if (rep->verdict != V_GRANTED && entry->watch_open) return;
    entry->watch = rep->verdict == V_GRANTED ? WATCH_ON : WATCH_OFF;
    watched_tell(e, entry, EV_WATCHED,
                 rep->verdict == V_GRANTED ? HF_OK : rep->status);
    /* The last waiter may have given up in its step, and ended this watch. */
    if (r->round != entry->watch_round) return;
    if (entry->watch == WATCH_OFF) {
        /* Also the watch from before hand-overs were asked for. */
        if (!e->closing) watch_send(e, entry, VERB_UNWATCH, entry->watch_on);
        entry->watch_on = 0;
        entry->queues = 0;
        hf__entry_unref(e, entry);
    } else if (entry->watch == WATCH_ON && entry->queues
               && !(r->flags & REQ_QUEUE)) {
        watch_more(e, entry);
    } else if (entry->getting == 0) {
        hf__heap_set(&e->lingers, &entry->linger, e->now_us + LINGER_US);
    }
}

/* A node can be reached again: let it wake the waiters, too. */
void hf__watch_follow(struct engine *e, int node)
{
    uint32_t bit = UINT32_C(1) << node;
    for (struct op *op = e->all; op; op = op->all_next) {
        struct lock_entry *entry = op->seat ? op->seat->entry : NULL;
        if (!entry || entry->is_host || entry->watch == WATCH_OFF
            || (entry->watch_on | entry->watch_open) & bit)
            continue;
        entry->watch_open |= watch_send(e, entry, VERB_WATCH, bit);
    }
}

void hf__watch_wake(struct engine *e, struct lock_entry *entry)
{
    entry->refs++;
    watched_tell(e, entry, EV_WAKE, HF_OK);
    if (entry->debt > 0) entry->debt--;
    hf__entry_unref(e, entry);
}

void hf__watch_sweep(struct engine *e)
{
    struct timer *t;
    while ((t = hf__heap_top(&e->lingers)) && t->due_us <= e->now_us) {
        struct lock_entry *entry =
            (struct lock_entry *)((char *)t
                                  - offsetof(struct lock_entry, linger));
        hf__heap_set(&e->lingers, t, TIME_NEVER);
        entry->watch = WATCH_OFF;
        watch_send(e, entry, VERB_UNWATCH,
                   (uint32_t)(entry->watch_on | entry->watch_open));
        entry->queues = 0;
        entry->watch_round++;
        entry->watch_on = entry->watch_open = 0;
        hf__entry_unref(e, entry);
    }
}
