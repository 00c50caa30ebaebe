/*
 * sim_knobs.c: what a seed draws before it begins.  The rule: runs differ as
 * much as they can; a bug that needs short leases and slow links, or long
 * leases and no faults at all, gets its own seeds.
 */
#include <string.h>

#include "sim/sim.h"

static const char *const fault_names[] = {
    "break",   "late", "dup",    "spike",   "partition", "pause", "crash",
    "restart", "wipe", "flush",  "jump",    "drift",     "take",  "fall",
    "lose",    "even", "oneway", "old",     "freeze",    "ask",   "close",
    "ticket",  "rw",   "permit", "session",
};
#define FAULTS_LEN ((int)(sizeof fault_names / sizeof *fault_names))
/* By the seed's own dice: not "take" and those behind it. */
#define FAULTS_DRAWN 12

const char *sim_deed_name(int deed)
{
    static const char *const names[DEEDS_LEN] = {
        [DEED_BREAK] = "breaks",
        [DEED_LATE] = "late",
        [DEED_COPY] = "copies",
        [DEED_SPIKE] = "spikes",
        [DEED_PARTITION] = "partitions",
        [DEED_PAUSE] = "pauses",
        [DEED_CRASH] = "crashes",
        [DEED_RESTART] = "restarts",
        [DEED_WIPE] = "wipes",
        [DEED_FLUSH] = "flushes",
        [DEED_FORWARD] = "clocks forward",
        [DEED_BACK] = "clocks back",
        [DEED_QUARANTINE] = "quarantines",
        [DEED_REFUSAL] = "refusals in them",
        [DEED_HEAL] = "heals",
        [DEED_HANDED] = "given to a queued waiter",
        [DEED_WHOLE] = "of them at once for the lease",
        [DEED_TAKE] = "locks taken away",
        [DEED_SHARED] = "read together",
        [DEED_FALLBACK] = "worlds with a fallback",
        [DEED_LOCAL] = "held on the host only",
        [DEED_NO_HOST] = "hosts that did not open",
        [DEED_LOSE] = "single keys lost",
        [DEED_EVEN] = "worlds of 2 or 4 nodes",
        [DEED_ONEWAY] = "closed in one direction",
        [DEED_OLD] = "copies older than a second",
        [DEED_FREEZE] = "nodes that stood still",
        [DEED_BACKLOG] = "packets that waited for them",
        [DEED_ASK] = "questions answered",
        [DEED_FREED] = "locks broken by clients",
        [DEED_CLOSE] = "clients closed",
        [DEED_DETACH] = "holds detached",
        [DEED_ATTACH] = "and attached",
        [DEED_PERMITS] = "worlds of semaphores",
        [DEED_SESSIONS] = "worlds of sessions",
        [DEED_EXPIRED] = "sessions ended",
        [DEED_MOVED] = "requests of a session moved or over",
    };
    return names[deed];
}

const char *sim_fault_name(int bit)
{
    return bit < FAULTS_LEN ? fault_names[bit] : NULL;
}

static int fault_find(const char *word, size_t len)
{
    for (int i = 0; i < FAULTS_LEN; i++)
        if (strlen(fault_names[i]) == len
            && !strncmp(fault_names[i], word, len))
            return i;
    return -1;
}

/* "all", "none", or names with commas; "-name" behind "all": but this one.  0,
 * or -1. */
int sim_faults_parse(const char *list, unsigned *out)
{
    unsigned faults = 0;
    if (!strcmp(list, "none")) {
        *out = 0;
        return 0;
    }
    while (*list) {
        size_t len = strcspn(list, ",");
        int is_not = list[0] == '-';
        int is_all = len == 3 && !strncmp(list, "all", len);
        int bit = is_all ? 0 : fault_find(list + is_not, len - (size_t)is_not);
        if (bit < 0) return -1;
        unsigned word = is_all ? FAULTS_ALL : 1u << bit;
        faults = is_not ? faults & ~word : faults | word;
        list += len + (list[len] == ',');
    }
    *out = faults;
    return 0;
}

static int64_t one_of(struct sim *s, const int64_t *values, size_t len)
{
    return values[sim_random(s) % len];
}
#define ONE_OF(s, ...)                                                         \
    one_of(s, (const int64_t[]){__VA_ARGS__},                                  \
           sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void faults_draw(struct sim *s, unsigned allowed)
{
    int permille = (int)ONE_OF(s, 150, 300, 550, 800);
    for (int bit = 0; bit < FAULTS_DRAWN; bit++)
        if (sim_chance(s, permille)) s->faults |= 1u << bit;
    if (!(s->faults & FAULT_RESTART)) s->faults &= ~(unsigned)FAULT_WIPE;
    s->faults &= allowed;
}

static void network_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    k->delay_min_us = ONE_OF(s, 20, 50, 200, 3 * MS);
    k->delay_max_us = k->delay_min_us * ONE_OF(s, 1, 2, 8);
    k->spike_us = ONE_OF(s, 30 * MS, 200 * MS, 900 * MS);
    k->break_permille = (int)ONE_OF(s, 1, 5, 20, 60);
    k->spike_permille = (int)ONE_OF(s, 1, 5, 30);
    k->dup_permille = (int)ONE_OF(s, 5, 30, 200);
    k->timeout_us = ONE_OF(s, 20 * MS, 60 * MS, 150 * MS, 500 * MS);
    if (k->timeout_us < 4 * k->delay_max_us)
        k->timeout_us = 4 * k->delay_max_us;
    k->patience_us = k->timeout_us * ONE_OF(s, 1, 2, 5);
    k->window_us = ONE_OF(s, 100 * MS, 500 * MS, BALLOT_WINDOW_US);
    k->node_tick_us = ONE_OF(s, 1, 1, MS);
}

static void work_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    int64_t lease_us =
        ONE_OF(s, 50 * MS, 80 * MS, 150 * MS, 300 * MS, 700 * MS, 2000 * MS);
    k->lease_min_us = k->lease_max_us = lease_us;
    if (sim_chance(s, 500)) k->lease_max_us = 2000 * MS;
    if (sim_chance(s, 400)) k->lease_min_us = 50 * MS;
    /* A lease that is no longer than some round trips cannot be kept. */
    if (k->lease_min_us < 16 * k->delay_max_us)
        k->lease_min_us = 16 * k->delay_max_us;
    if (k->lease_max_us < k->lease_min_us) k->lease_max_us = k->lease_min_us;
    k->hold_us = ONE_OF(s, 300, 2 * MS, 8 * MS, 30 * MS, 100 * MS, 300 * MS);
    k->think_us = ONE_OF(s, 1 * MS, 5 * MS, 20 * MS, 80 * MS);
    if (k->hold_us < 8 * MS && k->think_us < 20 * MS) k->think_us = 20 * MS;
    k->keep_percent = (int)ONE_OF(s, 0, 50, 80, 100);
    k->cancel_percent = (int)ONE_OF(s, 0, 10, 30);
    k->try_percent = (int)ONE_OF(s, 0, 10, 50);
    k->forever_percent = (int)ONE_OF(s, 10, 50, 90);
}

static void plans_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    k->renew_percent = (int)ONE_OF(s, 0, 0, 50);
    k->cap_percent = (int)ONE_OF(s, 0, 0, 0, 30, 100);
    k->feed_percent = (int)ONE_OF(s, 0, 0, 0, 30, 100);
    k->spin_percent = (int)ONE_OF(s, 0, 0, 0, 30, 100);
}

static void handover_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    k->handover = ONE_OF(s, 0, 0, 1, 3, 64, HANDOVER_MAX, HANDOVER_MAX);
    k->handover_us = ONE_OF(s, 5 * MS, 50 * MS, 1000 * MS);
}

/* As engine/voter.c has it. */
int64_t sim_quarantine_us(const struct sim *s)
{
    int64_t lease_us = s->k.lease_max_us + s->k.lease_max_us / 100 + 10 * MS;
    int64_t least_us = s->k.window_us + 2 * QUORUM_SKEW_US + 10 * MS;
    return lease_us > least_us ? lease_us : least_us;
}

static void quorum_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    if (k->nodes == 1) return;
    k->is_new = sim_chance(s, 100);
    k->flush =
        (enum flush_kind)ONE_OF(s, FLUSH_LOCKS, FLUSH_ALL_LOCKS, FLUSH_DATA);
    k->durable_percent = (int)ONE_OF(s, 0, 0, 50, 100);
    /* A node that came back must be of use again before all is over. */
    k->faults_us += sim_between(s, 0, 2 * sim_quarantine_us(s));
}

/* Times of the queue in the proportions of limits.h: a silent waiter keeps its
 * place for longer than a number is accepted, and asks three times in that
 * time. */
static void queue_draw(struct sim *s)
{
    struct knobs *k = &s->k;
    k->fair_percent = (int)ONE_OF(s, 0, 0, 50, 100);
    k->queue_live_us = k->window_us + ONE_OF(s, 60 * MS, 300 * MS, 1000 * MS);
    k->queue_handoff_us = k->queue_live_us / 2;
    if (k->nodes > 1) k->fair_percent = 0;
}

/* Holders that queue for one lock, keep it for long and are renewed, over lines
 * that break: what is taken away from them, a late proposal may bring back. */
static void take_worst(struct sim *s, unsigned allowed)
{
    struct knobs *k = &s->k;
    k->names = 1;
    k->fair_percent = k->keep_percent = k->forever_percent = 100;
    k->cap_percent = k->feed_percent = 0;
    k->hold_us = 100 * MS;
    k->lease_min_us = k->lease_max_us =
        k->delay_max_us > 10 * MS ? 600 * MS : 200 * MS;
    k->break_permille = sim_take_random(s, 2) ? 60 : 150;
    s->faults = (FAULT_BREAK | FAULT_LATE | FAULT_TAKE) & allowed;
    if (sim_take_random(s, 2) == 0) return;
    /* Numbers that are ahead of a clock that was set back; some give up. */
    k->set_back = 1;
    k->cancel_percent = 30;
    k->window_us = 100 * MS;
    k->queue_live_us = 160 * MS;
    k->queue_handoff_us = 80 * MS;
    s->faults |= FAULT_JUMP & allowed;
}

/* In one of four seeds locks are taken away. */
static void take_draw(struct sim *s, unsigned allowed)
{
    static const int64_t means_us[] = {20 * MS, 60 * MS, 200 * MS};
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_TAKE) || sim_take_random(s, 4)) return;
    s->faults |= FAULT_TAKE;
    k->take_us = means_us[sim_take_random(s, 3)];
    if (k->nodes > 1) return;
    if (sim_take_random(s, 2)) k->evict_percent = 50;
    if (sim_take_random(s, 2)) take_worst(s, allowed);
}

/* In one of six seeds clients fall back to their machine; in half of those the
 * store is away more often, and for longer than they wait for it. */
static void fall_draw(struct sim *s, unsigned allowed)
{
    struct knobs *k = &s->k;
    if (!(allowed & FAULT_FALL) || sim_shares(s) || sim_host_random(s, 6))
        return;
    k->falls = 1;
    s->deeds[DEED_FALLBACK]++;
    if (sim_host_random(s, 8) == 0) k->no_host_percent = 50;
    k->host_is_kernel = (int)sim_host_random(s, 2);
    if (sim_host_random(s, 2)) return;
    k->names = 1;
    k->patience_us = k->timeout_us;
    s->faults |= (FAULT_PARTITION | FAULT_RESTART) & allowed;
}

/* One of five quorums has an even number of members: half of them are none. */
static void even_draw(struct sim *s)
{
    if (s->k.nodes == 1 || s->nodes_wanted || sim_shares(s)
        || sim_even_random(s, 5))
        return;
    s->k.nodes = sim_even_random(s, 3) ? 4 : 2;
    s->deeds[DEED_EVEN]++;
}

/* In one of six seeds copies come late, in half of those with many of them. */
static void old_draw(struct sim *s, unsigned allowed)
{
    if (!(allowed & FAULT_OLD) || !(allowed & FAULT_DUP)
        || sim_dice(&s->old_random, 6))
        return;
    s->faults |= FAULT_OLD | FAULT_DUP;
    if (sim_dice(&s->old_random, 2)) s->k.dup_permille = 200;
}

void sim_draw(struct sim *s, unsigned allowed)
{
    struct knobs *k = &s->k;
    k->nodes = (int)ONE_OF(s, 1, 1, 1, 1, 3, 3, 3, 5);
    if (allowed & FAULT_EVEN) even_draw(s);
    if (s->nodes_wanted) k->nodes = s->nodes_wanted;
    if (s->is_rw) k->nodes = 1;
    shared_draw(s, allowed);
    k->clients = (int)sim_between(s, 2, SIM_CLIENTS_MAX);
    k->actors = (int)sim_between(s, 1, SIM_ACTORS_MAX);
    k->names = (int)ONE_OF(s, 1, 1, 1, 2, SIM_NAMES_MAX);
    k->faults_us = sim_between(s, 500 * MS, 2500 * MS);
    k->nemesis_us = ONE_OF(s, 20 * MS, 60 * MS, 150 * MS, 500 * MS);
    k->set_back = sim_chance(s, 500);
    network_draw(s);
    work_draw(s);
    plans_draw(s);
    handover_draw(s);
    quorum_draw(s);
    session_draw(s, allowed);
    faults_draw(s, allowed);
    queue_draw(s);
    take_draw(s, allowed);
    fall_draw(s, allowed);
    lose_draw(s, allowed);
    way_draw(s, allowed);
    old_draw(s, allowed);
    freeze_draw(s, allowed);
    ask_draw(s, allowed);
    close_draw(s, allowed);
    ticket_draw(s, allowed);
    if (s->is_rw) rw_draw(s, allowed);
    if (s->is_permit) permit_draw(s);
    session_limit(s);
}
