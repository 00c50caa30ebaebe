/*
 * traffic.c: the dice behind traffic.h.  One rule: the same seed, times and
 * replies give the same requests.
 */
#include "lib/traffic.h"

#include <stdio.h>
#include <string.h>

#include "sys/random.h"

static const char *const names[TRAFFIC_NAMES] = {"job", "a b:{c}", "{x}y{z}",
                                                 "caf\xc3\xa9*?"};
static const char *const owners[TRAFFIC_OWNERS] = {
    "01234567-89ab-4def-8123-456789abcdef:1",
    "01234567-89ab-4def-8123-456789abcdef:2",
    "fedcba98-7654-4210-8fed-cba987654321:1"};
static const char *const groups[] = {"one", "two"};

const char *traffic_name(size_t i)
{
    return names[i];
}

const char *traffic_owner(size_t i)
{
    return owners[i];
}

uint64_t traffic_below(struct traffic *t, uint64_t n)
{
    return hf__random_next(&t->state) % n;
}

void traffic_start(struct traffic *t, uint64_t seed, int64_t lease_us)
{
    memset(t, 0, sizeof *t);
    t->state = seed;
    t->lease_us = lease_us;
}

/* Mostly what a client would propose, sometimes just at a border. */
static int64_t ballot_draw(struct traffic *t, size_t name, int64_t now_us)
{
    int64_t seen = t->seen[name];
    switch (traffic_below(t, 10)) {
    case 0:
        return seen;
    case 1:
        return seen - 1;
    case 2:
        return seen + 1;
    case 3:
        return now_us - BALLOT_WINDOW_US - US_PER_S;
    case 4:
        return now_us - BALLOT_WINDOW_US / 2;
    case 5:
        return now_us + (int64_t)traffic_below(t, 5 * US_PER_MS);
    default:
        return seen >= now_us ? seen + 1 : now_us;
    }
}

/* The last attempt of the owner, a fresh one, or one long past. */
static uint64_t attempt_draw(struct traffic *t, uint64_t last)
{
    uint64_t dice = traffic_below(t, 10);
    if (dice < 6) return last;
    if (dice < 9) return ++t->attempts;
    return t->attempts > 0 ? 1 + traffic_below(t, t->attempts) : 0;
}

static enum verb op_draw(struct traffic *t)
{
    uint64_t dice = traffic_below(t, 100);
    if (dice < 45) return VERB_PROPOSE;
    if (dice < 68) return VERB_RENEW;
    if (dice < 94) return VERB_RELEASE;
    if (dice < 95) return VERB_BOOT;
    return VERB_BREAK;
}

/* An owner that queues keeps its attempt, and asks again with a higher
 * number. */
static void queue_draw(struct traffic *t, struct request *req, size_t name,
                       size_t owner, int64_t now_us)
{
    uint64_t *queued = &t->last[name][owner].queued;
    int64_t last = t->last[name][owner].ballot;
    req->flags &= ~REQ_QUORUM;
    req->flags |= REQ_SERVER_FENCE | REQ_QUEUE;
    req->block = 0;
    if (!*queued || traffic_below(t, 4) == 0) *queued = req->attempt;
    if (traffic_below(t, 8)) req->attempt = *queued;
    if (traffic_below(t, 4)) req->ballot = last >= now_us ? last + 1 : now_us;
}

static void propose_draw(struct traffic *t, struct request *req, size_t name,
                         size_t owner, int64_t now_us)
{
    req->count = 1;
    req->attempt =
        traffic_below(t, 3) ? ++t->attempts : attempt_draw(t, req->attempt);
    if (traffic_below(t, 4)) req->ballot = ballot_draw(t, name, now_us);
    if (traffic_below(t, 2))
        req->flags |= REQ_SERVER_FENCE;
    else if (traffic_below(t, 3))
        req->flags |= REQ_QUORUM;
    if (traffic_below(t, 4) == 0) req->group = groups[traffic_below(t, 2)];
    if (traffic_below(t, 4) == 0) req->flags |= REQ_DETACHED;
    if (traffic_below(t, 3) == 0) req->block = (int64_t)traffic_below(t, 100);
    if (!t->is_plain && traffic_below(t, 3) == 0)
        queue_draw(t, req, name, owner, now_us);
    t->last[name][owner].attempt = req->attempt;
    if (req->ballot > t->last[name][owner].ballot)
        t->last[name][owner].ballot = req->ballot;
}

/* A renewal names the token that it renews: mostly the last one, sometimes just
 * beside it, or none. */
static int64_t fence_draw(struct traffic *t, size_t name, size_t owner)
{
    int64_t fence = t->last[name][owner].fence;
    uint64_t dice = traffic_below(t, 10);
    if (dice < 3) return 0;
    if (dice < 8 || !fence) return fence;
    return dice == 8 ? fence - 1 : fence + 1;
}

/* Two groups that are one another's successor, and two leases. */
static struct request boot_draw(struct traffic *t)
{
    static const unsigned flags[] = {
        0,
        0,
        REQ_BOOT_NEW,
        REQ_BOOT_NEW | REQ_BOOT_DURABLE,
        REQ_BOOT_NEW | REQ_BOOT_FORCE,
        REQ_BOOT_JOIN,
        REQ_BOOT_JOIN | REQ_BOOT_FORCE,
        REQ_BOOT_JOIN | REQ_BOOT_DURABLE,
        REQ_BOOT_STEP,
        REQ_BOOT_LOOK,
        REQ_BOOT_DURABLE,
        REQ_BOOT_UNSURE,
        REQ_BOOT_UNSURE | REQ_BOOT_LOOK,
    };
    size_t group = traffic_below(t, 2);
    int64_t lease_us = (int64_t)(1 + traffic_below(t, 2)) * 30 * US_PER_S;
    return (struct request){
        .verb = VERB_BOOT,
        .flags = flags[traffic_below(t, sizeof flags / sizeof *flags)],
        .name = groups[group],
        .name_len = 3,
        .info = traffic_below(t, 2) ? groups[1 - group] : NULL,
        .lease_us = lease_us,
        .window_us = lease_us + lease_us / 100 + 10 * US_PER_MS};
}

static struct request request_draw(struct traffic *t, int64_t now_us)
{
    size_t name = traffic_below(t, TRAFFIC_NAMES);
    size_t owner = traffic_below(t, TRAFFIC_OWNERS);
    struct request req = {
        .verb = op_draw(t),
        .name = names[name],
        .name_len = strlen(names[name]),
        .attempt = t->last[name][owner].attempt,
        .ballot = t->last[name][owner].ballot,
        .count = 1 + (int32_t)traffic_below(t, 3),
        .lease_us =
            t->lease_us + (int64_t)traffic_below(t, (uint64_t)t->lease_us),
        .window_us = BALLOT_WINDOW_US,
        .info = "4711 some.host the label"};
    snprintf(req.owner, sizeof req.owner, "%s", owners[owner]);
    req.lease_us -= req.lease_us % US_PER_MS;
    /* So narrow that the last number seen may already be outside. */
    if (traffic_below(t, 3) == 0) req.window_us = US_PER_MS;
    if (req.verb == VERB_PROPOSE)
        propose_draw(t, &req, name, owner, now_us);
    else if (req.verb != VERB_BREAK)
        req.attempt = attempt_draw(t, req.attempt);
    if (req.verb == VERB_RENEW) req.fence = fence_draw(t, name, owner);
    if (req.verb == VERB_RELEASE && traffic_below(t, 5) == 0)
        req.ballot = ballot_draw(t, name, now_us);
    if (!t->is_plain && req.verb == VERB_RELEASE && traffic_below(t, 2)) {
        req.flags |= REQ_QUEUE;
        if (traffic_below(t, 2)) req.attempt = t->last[name][owner].queued;
    }
    if (req.flags & REQ_QUEUE && traffic_below(t, 3) == 0)
        req.flags |= REQ_UNSURE;
    if (req.ballot < 0) req.ballot = 0;
    return req;
}

struct request traffic_next(struct traffic *t, int64_t now_us)
{
    if (t->past_len > 0 && traffic_below(t, 4) == 0) {
        size_t kept = t->past_len < TRAFFIC_PAST ? t->past_len : TRAFFIC_PAST;
        return t->past[traffic_below(t, kept)];
    }
    struct request req = request_draw(t, now_us);
    if (req.verb == VERB_BOOT) req = boot_draw(t);
    t->past[t->past_len++ % TRAFFIC_PAST] = req;
    return req;
}

static void granted_note(struct traffic *t, size_t name,
                         const struct request *req, int64_t fence)
{
    for (size_t i = 0; i < TRAFFIC_OWNERS; i++)
        if (!strcmp(owners[i], req->owner)) t->last[name][i].fence = fence;
}

void traffic_heard(struct traffic *t, const struct request *req,
                   const struct reply *rep)
{
    int is_granted = req->verb == VERB_PROPOSE && rep->verdict == V_GRANTED;
    for (size_t i = 0; i < TRAFFIC_NAMES; i++) {
        if (strcmp(names[i], req->name) != 0) continue;
        if (rep->counter > t->seen[i]) t->seen[i] = rep->counter;
        if (rep->fence > t->seen[i]) t->seen[i] = rep->fence;
        if (is_granted) granted_note(t, i, req, rep->fence);
    }
}
