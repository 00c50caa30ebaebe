/*
 * mixture.c: the dice behind mixture.h.  One rule: the same seed, times and
 * replies give the same requests.
 */
#include "lib/mixture.h"

#include <stdio.h>
#include <string.h>

#include "sys/random.h"

#define LEASE_US (600 * US_PER_S)

/* What a name is mostly used as.  The two sides of a read/write lock are drawn
 * for each request. */
enum use {
    USE_PLAIN,
    USE_RW,
    USE_PERMIT,
    USE_COUNT,
    USE_LATCH,
    USE_BARRIER,
    USE_VALUE,
    USE_GUARD,
    USES_LEN
};

static const char *const names[MIXTURE_NAMES] = {
    "plain",         "rw",        "permit 'x'",  "count\\x00",
    "latch\xff\x01", "bar\"rier", "caf\xc3\xa9", "guard"};

const char *mixture_name(size_t i)
{
    return names[i];
}

static uint64_t below(struct mixture *m, uint64_t n)
{
    return hf__random_next(&m->state) % n;
}

void mixture_start(struct mixture *m, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    m->state = seed;
}

/* ---- by use -------------------------------------------------------------- */

static enum lock_kind kind_draw(struct mixture *m, enum use use)
{
    static const enum lock_kind kinds[USES_LEN] = {[USE_PERMIT] = KIND_PERMIT,
                                                   [USE_COUNT] = KIND_COUNT,
                                                   [USE_LATCH] = KIND_LATCH,
                                                   [USE_BARRIER] =
                                                       KIND_BARRIER};
    if (use == USE_RW) return below(m, 2) ? KIND_READ : KIND_WRITE;
    return kinds[use];
}

static enum verb verb_draw(struct mixture *m, enum use use)
{
    static const enum verb verbs[] = {
        VERB_PROPOSE, VERB_PROPOSE, VERB_PROPOSE, VERB_PROPOSE, VERB_RELEASE,
        VERB_RELEASE, VERB_RENEW,   VERB_TALLY,   VERB_TALLY,   VERB_INSPECT};
    enum verb verb = verbs[below(m, 10)];
    if (use == USE_VALUE)
        return below(m, 4) ? VERB_VALUE_WRITE : VERB_VALUE_READ;
    if (use == USE_GUARD) return VERB_GUARD;
    if (below(m, 40) == 0) return VERB_BREAK;
    if (use == USE_LATCH && verb != VERB_PROPOSE) return VERB_TALLY;
    if (use <= USE_RW && verb == VERB_TALLY) return VERB_PROPOSE;
    return verb;
}

static void propose_draw(struct mixture *m, struct request *req)
{
    static const unsigned orders[] = {0, 0, REQ_QUEUE, REQ_WRITERS,
                                      REQ_QUEUE | REQ_WRITERS};
    req->count = 1;
    req->flags |= REQ_SERVER_FENCE | orders[below(m, 5)];
    req->permits = 1 + (int32_t)below(m, 3);
    if (req->kind == KIND_BARRIER) req->permits = 2 + (below(m, 8) == 0);
    if (req->kind == KIND_WRITE && below(m, 4) == 0) req->flags |= REQ_UPGRADE;
    if (below(m, 6) == 0) req->flags |= REQ_DETACHED;
    if ((req->kind == KIND_PERMIT || req->kind == KIND_COUNT)
        && below(m, 3) == 0)
        req->capacity = 1 + (int64_t)below(m, 5);
}

static void tally_draw(struct mixture *m, struct request *req)
{
    static const enum tally_do latch[] = {TALLY_DOWN, TALLY_DOWN, TALLY_OPEN,
                                          TALLY_READ, TALLY_DELETE};
    static const enum tally_do number[] = {TALLY_READ,  TALLY_SET, TALLY_OPEN,
                                           TALLY_ADD,   TALLY_ADD, TALLY_DRAIN,
                                           TALLY_DELETE};
    req->ballot = 0;
    req->attempt = ++m->attempts;
    req->flags = 0;
    req->tally = req->kind == KIND_LATCH     ? latch[below(m, 5)]
                 : req->kind == KIND_BARRIER ? TALLY_READ
                                             : number[below(m, 7)];
    if (req->kind == KIND_PERMIT && req->tally == TALLY_DRAIN)
        req->tally = TALLY_ADD;
    req->number = (int64_t)below(m, 6) - (req->tally == TALLY_ADD ? 2 : 0);
    if (req->kind == KIND_LATCH) req->number = 1 + (int64_t)below(m, 3);
    if (below(m, 3) == 0) req->flags |= REQ_ANYWAY;
    if (below(m, 3) == 0) req->flags |= REQ_IF_THERE;
    req->lease_us = 30 * US_PER_S;
}

/* ---- values and guards --------------------------------------------------- */

static const char *const texts[] = {"", "x", "a value of some more bytes"};

static void data_put(struct mixture *m, struct request *req)
{
    const char *text = texts[below(m, 3)];
    req->data = text;
    req->data_len = strlen(text);
    req->lease_us = below(m, 3) ? 0 : 1 + (int64_t)below(m, 9) * US_PER_MS;
}

static void value_draw(struct mixture *m, struct request *req, size_t name)
{
    uint64_t dice = below(m, 8);
    req->flags = below(m, 6) ? 0 : REQ_DELETE;
    req->attempt = below(m, 6) ? ++m->attempts : m->attempts;
    req->ballot = 0;
    data_put(m, req);
    req->version = dice < 5    ? m->version[name]
                   : dice == 5 ? m->version[name] - 1
                   : dice == 6 ? 0
                               : HF_VALUE_ANY;
}

static void guard_draw(struct mixture *m, struct request *req)
{
    static const unsigned flags[] = {0,
                                     REQ_GUARD_VALUE,
                                     REQ_GUARD_VALUE,
                                     REQ_DELETE,
                                     REQ_GUARD_LOOK,
                                     REQ_GUARD_LOOK | REQ_GUARD_VALUE,
                                     REQ_GUARD_CLAIM,
                                     REQ_GUARD_CLAIM | REQ_GUARD_VALUE};
    req->flags = flags[below(m, 8)];
    req->ballot = 0;
    req->info = NULL;
    req->lease_us = 0;
    req->data_len = 0;
    if (req->flags & REQ_GUARD_VALUE && !(req->flags & REQ_GUARD_LOOK))
        data_put(m, req);
    /* Tokens that only rise would refuse nothing, high ones everything. */
    req->version = 1 + m->attempts / 8 + below(m, 5);
    m->attempts++;
}

/* ---- all of them --------------------------------------------------------- */

static void lock_draw(struct mixture *m, struct request *req, size_t name,
                      size_t owner, int64_t now_us)
{
    if (req->verb == VERB_PROPOSE && below(m, 4)) {
        req->attempt = ++m->attempts;
        req->ballot = now_us - (int64_t)below(m, 3) * 50 * US_PER_MS;
        m->last[name][owner].attempt = req->attempt;
        m->last[name][owner].ballot = req->ballot;
    }
    if (req->verb == VERB_PROPOSE) propose_draw(m, req);
    if (req->verb == VERB_TALLY) tally_draw(m, req);
    if (req->verb == VERB_RENEW && below(m, 4))
        req->fence = m->last[name][owner].fence + (below(m, 5) == 0);
    if (req->verb == VERB_RELEASE && below(m, 2)) req->flags |= REQ_QUEUE;
    if (req->verb == VERB_RELEASE && below(m, 4) == 0) req->flags |= REQ_UNSURE;
    if (req->verb == VERB_INSPECT && below(m, 2)) req->attempt = 0;
}

static struct request request_draw(struct mixture *m, int64_t now_us)
{
    size_t name = below(m, MIXTURE_NAMES), owner = below(m, MIXTURE_OWNERS);
    enum use use = (enum use)(below(m, 16) ? name : below(m, USES_LEN));
    struct request req = {.verb = verb_draw(m, use),
                          .kind = kind_draw(m, use),
                          .name = names[name],
                          .name_len = strlen(names[name]),
                          .attempt = m->last[name][owner].attempt,
                          .ballot = m->last[name][owner].ballot,
                          .count = 1 + (int32_t)below(m, 3),
                          .lease_us = LEASE_US,
                          .window_us = BALLOT_WINDOW_US,
                          .seen = m->last[name][owner].seen,
                          .info = "4711 some.host the label"};
    if (below(m, 5) == 0) req.lease_us = 1 + (int64_t)below(m, 8) * US_PER_MS;
    snprintf(req.owner, sizeof req.owner,
             "01234567-89ab-4def-8123-456789abcdef:%zu", owner + 1);
    if (use == USE_VALUE)
        value_draw(m, &req, name);
    else if (use == USE_GUARD)
        guard_draw(m, &req);
    else
        lock_draw(m, &req, name, owner, now_us);
    return req;
}

struct request mixture_next(struct mixture *m, int64_t now_us)
{
    if (m->past_len > 0 && below(m, 6) == 0) {
        size_t kept = m->past_len < MIXTURE_PAST ? m->past_len : MIXTURE_PAST;
        return m->past[below(m, kept)];
    }
    struct request req = request_draw(m, now_us);
    m->past[m->past_len++ % MIXTURE_PAST] = req;
    return req;
}

void mixture_heard(struct mixture *m, const struct request *req,
                   const struct reply *rep)
{
    size_t name = 0, owner = (size_t)(req->owner[strlen(req->owner) - 1] - '1');
    while (name < MIXTURE_NAMES && strcmp(names[name], req->name) != 0) name++;
    if (name == MIXTURE_NAMES || owner >= MIXTURE_OWNERS) return;
    if (req->verb == VERB_VALUE_WRITE || req->verb == VERB_VALUE_READ)
        m->version[name] = rep->version;
    if (req->verb != VERB_PROPOSE) return;
    if (rep->verdict == V_GRANTED) m->last[name][owner].fence = rep->fence;
    m->last[name][owner].seen = rep->verdict == V_BUSY ? rep->seen : 0;
}
