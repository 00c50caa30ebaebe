/*
 * voter.c: the nodes of a quorum, and whether they may vote.
 *
 *   UNKNOWN --boot--> SETTLED            link lost, no marker: UNKNOWN again
 *              |----> QUARANTINED --its time--> SETTLED
 *              +----> REFUSED: the server cannot be a member.  A minority of
 *                     these is treated as missing; a majority means that the
 *                     URL is wrong.
 *
 * The rule: a node votes only while it is known, from its own answer over this
 * very connection, that it has lost nothing that a lease still rests on.
 */
#include "engine/voter.h"

#include <stdio.h>
#include <string.h>

#include "base/math.h"
#include "core/round.h"
#include "engine/again.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/locks.h"
#include "engine/voter_text.h"
#include "engine/nodes.h"
#include "engine/op.h"

#define BOOT_AGAIN_US (50 * US_PER_MS)
#define REFUSED_AGAIN_US (5 * US_PER_S)
#define QUARANTINE_MORE_US (10 * US_PER_MS)
#define LINGER_US (20 * US_PER_MS) /* for nodes behind the first majority */

int64_t hf__quarantine_us(const struct hold_conf *conf, int64_t lease_us)
{
    int64_t drift_us = part64(lease_us, conf->drift_ppm);
    int64_t us = lease_us + drift_us + QUARANTINE_MORE_US;
    int64_t least = conf->window_us + 2 * QUORUM_SKEW_US + QUARANTINE_MORE_US;
    return max64(us, least);
}

/* The longest lease of the group: a guess until a marker tells it. */
static int64_t group_lease_us(const struct engine *e)
{
    return e->group_lease_us ? e->group_lease_us : e->group_lease_guess_us;
}

void hf__voters_begin(struct engine *e)
{
    if (e->conf.nodes == 1) return;
    if (!e->group_lease_guess_us)
        e->group_lease_guess_us = QUORUM_LEASE_MS_DEFAULT * US_PER_MS;
    e->conf.unsettled = BIT(e->conf.nodes) - 1;
}

/* ---- when a quorum may vote -------------------------------------------- */

/* If the marker knows only of shorter leases than the group has, the quarantine
 * is longer by the difference. */
int64_t hf__voter_settled_us(const struct engine *e, const struct node *n)
{
    int64_t until = max64(n->quarantined_us, n->blind_us);
    int64_t missing = hf__quarantine_us(&e->conf, group_lease_us(e))
                      - hf__quarantine_us(&e->conf, n->boot.lease_us);
    if (until <= 0) return 0;
    return until + max64(missing, 0);
}

static void settle_log(struct engine *e)
{
    char line[HF_ERROR_TEXT_MAX];
    if (e->settle_told || e->conf.settle_us <= e->now_us) return;
    /* The nodes that have not answered yet may make a quorum. */
    if (!hf__voters_are_decided(e)) return;
    e->settle_told = 1;
    if (!e->log) return;
    hf__voters_text(e, HF_UNAVAILABLE, line, sizeof line);
    e->log(e, HF_LOG_WARN, line);
}

static int settled_count(const struct engine *e)
{
    return e->conf.nodes - hf__round_count(e->conf.unsettled);
}

/* Compute conf.unsettled and conf.settle_us from what is known of each node. */
static void settle_update(struct engine *e)
{
    int64_t ends[NODES_MAX];
    int len = 0;
    e->conf.unsettled = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        const struct node *n = &e->nodes[i];
        if (n->stand != STAND_SETTLED) e->conf.unsettled |= BIT(i);
        if (n->stand != STAND_SETTLED && n->stand != STAND_QUARANTINED)
            continue;
        int64_t end =
            n->stand == STAND_SETTLED ? 0 : hf__voter_settled_us(e, n);
        int k = len++;
        for (; k > 0 && ends[k - 1] > end; k--) ends[k] = ends[k - 1];
        ends[k] = end;
    }
    e->conf.settle_us = len >= e->conf.quorum ? ends[e->conf.quorum - 1] : 0;
    if (settled_count(e) < e->conf.quorum) return;
    e->settle_told = 0;
    if (e->linger_us == 0) e->linger_us = e->now_us + LINGER_US;
}

static void stand_set(struct engine *e, struct node *n, enum stand stand)
{
    n->stand = stand;
    settle_update(e);
    if (stand == STAND_UNKNOWN) return;
    settle_log(e);
    hf__turn_pass_all(e);
}

static int reached_count(const struct engine *e)
{
    int reached = 0;
    for (int i = 0; i < e->conf.nodes; i++)
        reached += e->nodes[i].up && e->nodes[i].stand != STAND_REFUSED;
    return reached;
}

/* May markers be written?  A marker closes the server to clients that use it
 * alone.  So none is written by a client that only looks, nor while too few
 * members can be reached: the URL may be wrong, and without a quorum there
 * is no lock anyway. */
static int may_mark(const struct engine *e)
{
    return e->votes_wanted && reached_count(e) >= e->conf.quorum;
}

/* Is the node without a marker, and will it get none for now? */
int hf__voter_is_left_blank(const struct engine *e, const struct node *n)
{
    return n->is_blank && !may_mark(e);
}

/* Has a quorum settled, or is no further answer to be expected for now?  At
 * first the remaining nodes are waited for a moment: a lock that only the
 * fastest majority has is lost with the first of these nodes, until a renewal
 * has healed the others. */
int hf__voters_are_decided(const struct engine *e)
{
    if (settled_count(e) >= e->conf.quorum && e->linger_us < 0) return 1;
    for (int i = 0; i < e->conf.nodes; i++)
        if (e->nodes[i].stand == STAND_UNKNOWN && !(e->conf.down >> i & 1)
            && !hf__voter_is_left_blank(e, &e->nodes[i]))
            return 0;
    return 1;
}

/* ---- asking ------------------------------------------------------------ */

/* Must the node not write a marker if it has none?  A node that was a member
 * gets its marker again; for others see may_mark(). */
static int is_unsure(const struct engine *e, const struct node *n)
{
    if (n->boot_flags & REQ_BOOT_LOOK) return 1;
    if (!e->group_lease_us && !n->is_blank) return 1;
    return !n->was_member && !may_mark(e);
}

static void boot_send(struct engine *e, struct node *n)
{
    struct request *r = hf__request_new(e);
    n->boot_us = e->now_us + BOOT_AGAIN_US; /* if there is no memory */
    if (!r) return;
    r->verb = VERB_BOOT;
    r->flags = n->boot_flags;
    if (is_unsure(e, n)) r->flags |= REQ_BOOT_UNSURE;
    r->name = e->group;
    r->name_len = strlen(e->group);
    r->lease_us = group_lease_us(e);
    r->window_us = hf__quarantine_us(&e->conf, r->lease_us);
    r->deadline_us = e->now_us + e->conf.timeout_us;
    r->user = n;
    r->user_kind = USER_NODE;
    n->boot_us = TIME_NEVER;
    n->boot_open = 1;
    hf__request_send(e, n, r);
}

static int boot_is_wanted(const struct engine *e, const struct node *n)
{
    return n->up && n->conn && !n->boot_open && !e->closing
           && n->boot_us != TIME_NEVER;
}

void hf__voters_ask(struct engine *e)
{
    for (int i = 0; i < e->conf.nodes; i++) {
        struct node *n = &e->nodes[i];
        if (n->boot_us <= e->now_us && boot_is_wanted(e, n)) boot_send(e, n);
    }
}

/* Does the URL name it wrongly?  A node that was a member, and was made a
 * replica since, is only out of use for now. */
static int is_misplaced(const struct node *n)
{
    int status = n->last_error.status;
    return n->stand == STAND_REFUSED
           && ((status == HF_INVALID && !n->was_member)
               || status == HF_CONFLICT);
}

static int is_awaited(const struct engine *e, const struct node *n)
{
    return n->stand == STAND_UNKNOWN && !n->is_blank
           && !(e->conf.down >> n->index & 1);
}

/* Some nodes are misplaced, and none is known to be a member. */
static int is_url_doubtful(const struct engine *e)
{
    int misplaced = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        if (e->nodes[i].was_member) return 0;
        misplaced += is_misplaced(&e->nodes[i]);
    }
    return misplaced > 0;
}

/* Why no quorum can be had with this URL; NULL if one can: a minority that is
 * misplaced is only missing.  Nodes without a marker get none while the URL is
 * in doubt. */
const struct hf_error *hf__voters_refusal(const struct engine *e)
{
    const struct hf_error *first = NULL;
    int able = e->conf.nodes, blanks = 0, awaited = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        const struct node *n = &e->nodes[i];
        blanks += n->is_blank;
        awaited += is_awaited(e, n);
        if (!is_misplaced(n)) continue;
        able--;
        if (!first) first = &n->last_error;
    }
    if (first && awaited == 0 && is_url_doubtful(e)) able -= blanks;
    return able < e->conf.quorum ? first : NULL;
}

/* A node without a marker gets one when the other nodes have said how long
 * their leases may be, or cannot be asked: with a marker for shorter leases it
 * would vote too early.  No marker is written for a URL that is wrong. */
static void blanks_ask(struct engine *e)
{
    int blanks = 0;
    if (!may_mark(e)) return;
    for (int i = 0; i < e->conf.nodes; i++) {
        blanks += e->nodes[i].is_blank;
        if (is_awaited(e, &e->nodes[i])) return;
    }
    if (hf__voters_refusal(e) || is_url_doubtful(e)) return;
    for (int i = 0; blanks && i < e->conf.nodes; i++) {
        struct node *n = &e->nodes[i];
        if (n->is_blank && !n->boot_open) n->boot_us = e->now_us;
    }
}

/* A lock is asked for: nodes without a marker are to be members. */
void hf__voters_want(struct engine *e)
{
    if (e->conf.nodes == 1 || e->votes_wanted) return;
    e->votes_wanted = 1;
    blanks_ask(e);
}

/* If the URL can have no quorum, calls that wait fail now: only another URL
 * helps. */
static void refusal_tell(struct engine *e)
{
    const struct hf_error *refusal = hf__voters_refusal(e);
    if (!refusal) {
        e->refusal_told = 0;
        return;
    }
    if (e->refusal_told) return;
    e->refusal_told = 1;
    if (e->log) e->log(e, HF_LOG_ERROR, refusal->text);
    for (struct op *op = e->all, *next; op; op = next) {
        struct hold_event ev = {.type = EV_FAIL, .status = refusal->status};
        next = op->all_next;
        if (op->type == OP_TYPE_ACQUIRE && op->seat && op->seat->op == op
            && op->seat->hold.state < HOLD_HELD)
            hf__seat_step(e, op->seat, &ev);
    }
}

void hf__voter_link(struct engine *e, struct node *n, int up)
{
    if (e->conf.nodes == 1) return;
    n->is_blank = 0;
    if (!up) {
        e->conf.down |= BIT(n->index);
        n->boot_us = TIME_NEVER;
        stand_set(e, n, STAND_UNKNOWN);
        blanks_ask(e);
        refusal_tell(e);
        settle_log(e);
        hf__turn_pass_all(e); /* it may be the last one that was awaited */
        hf__again_tick(e, n);
        return;
    }
    e->conf.down &= ~BIT(n->index);
    n->quarantined_us = n->blind_us = 0;
    hf__voter_unsettle(e, n, 0);
    hf__watch_follow(e, n->index);
}

/* The node must be asked anew before it votes. */
void hf__voter_unsettle(struct engine *e, struct node *n, unsigned boot_flags)
{
    if (e->conf.nodes == 1) return;
    /* A plain question does not replace a REQ_BOOT_STEP that is still to be
     * sent. */
    if (!(n->boot_flags & REQ_BOOT_STEP) || boot_flags)
        n->boot_flags = boot_flags;
    n->boot_us = e->now_us;
    stand_set(e, n, STAND_UNKNOWN);
}

/* ---- what it says ------------------------------------------------------ */

static void member_refuse(struct engine *e, struct node *n, int status,
                          const char *text)
{
    hf__node_failed(n, status, text);
    n->boot_us = e->now_us + REFUSED_AGAIN_US;
    stand_set(e, n, STAND_REFUSED);
    n->is_blank = 0;
    blanks_ask(e);
    refusal_tell(e);
    if (!is_misplaced(n) || n->misplaced_told) return;
    n->misplaced_told = 1;
    if (!hf__voters_refusal(e)) hf__voter_warn_misplaced(e, n);
}

static const struct node *twin_of(const struct engine *e, const struct node *n,
                                  const struct boot *boot)
{
    for (int i = 0; i < e->conf.nodes && boot->is_known; i++) {
        const struct node *other = &e->nodes[i];
        int is_heard = other->stand == STAND_SETTLED
                       || other->stand == STAND_QUARANTINED || other->is_blank;
        if (other != n && is_heard && other->boot.is_known
            && !strcmp(other->boot.identity, boot->identity))
            return other;
    }
    return NULL;
}

static void member_admit(struct engine *e, struct node *n,
                         const struct boot *boot)
{
    int64_t whole =
        hf__quarantine_us(&e->conf, max64(boot->lease_us, e->group_lease_us));
    int is_met = n->boot.version == boot->version; /* compared before */
    n->boot = *boot;
    n->is_blank = n->misplaced_told = 0;
    n->was_member = 1;
    if (boot->lease_us > e->group_lease_us) e->group_lease_us = boot->lease_us;
    e->conf.lease_max_us = e->group_lease_us;
    n->quarantined_us = boot->left_us > 0 ? e->now_us + boot->left_us : 0;
    if (!boot->is_known && !boot->is_durable && !n->blind_us)
        n->blind_us = e->now_us + whole;
    hf__voter_compare_clock(e, n);
    if (!is_met) hf__voter_compare_version(e, n);
    int is_free = hf__voter_settled_us(e, n) <= e->now_us;
    stand_set(e, n, is_free ? STAND_SETTLED : STAND_QUARANTINED);
    blanks_ask(e);
    refusal_tell(e);
}

static void boot_failed(struct engine *e, struct node *n,
                        const struct reply *rep)
{
    if (rep->verdict == V_ERROR
        && hf_status_advice(rep->status) == HF_ADVICE_FIX) {
        member_refuse(e, n, rep->status,
                      rep->text ? rep->text : hf_status_text(rep->status));
        return;
    }
    n->boot_us = min64(n->boot_us, e->now_us + BOOT_AGAIN_US);
}

void hf__voter_answered(struct engine *e, struct node *n,
                        const struct request *r, const struct reply *rep)
{
    char text[HF_ERROR_TEXT_MAX];
    n->boot_open = 0;
    if (e->closing || !n->up) return;
    if (rep->verdict != V_GRANTED || !rep->boot) {
        boot_failed(e, n, rep);
        return;
    }
    /* It was only a look at the clock, or the clock was found to be set
     * meanwhile. */
    if (r->flags & REQ_BOOT_LOOK || n->boot_us != TIME_NEVER) {
        if (n->boot_us == TIME_NEVER) {
            hf__voter_unsettle(e, n, n->suspect ? REQ_BOOT_LOOK : 0);
            if (n->suspect) n->boot_us = e->now_us + US_PER_MS;
        }
        return;
    }
    if (r->flags & REQ_BOOT_STEP) n->boot_flags = 0;
    const struct node *twin = twin_of(e, n, rep->boot);
    if (!twin && r->flags & REQ_BOOT_UNSURE && rep->boot->is_new) {
        n->boot = *rep->boot;
        n->is_blank = 1;
        blanks_ask(e);
        refusal_tell(e);
        if (hf__voter_is_left_blank(e, n))
            hf__turn_pass_all(e); /* it may be the last one awaited */
        return;
    }
    if (!twin) {
        member_admit(e, n, rep->boot);
        return;
    }
    snprintf(text, sizeof text, "%.100s: the same server as %.100s",
             n->url ? n->url : "node", twin->url ? twin->url : "another node");
    member_refuse(e, n, HF_INVALID, text);
}

/* ---- time -------------------------------------------------------------- */

void hf__voters_tick(struct engine *e)
{
    for (int i = 0; i < e->conf.nodes; i++) {
        struct node *n = &e->nodes[i];
        if (n->stand == STAND_QUARANTINED
            && hf__voter_settled_us(e, n) <= e->now_us)
            stand_set(e, n, STAND_SETTLED);
    }
    if (e->linger_us > 0 && e->linger_us <= e->now_us) {
        e->linger_us = -1;
        hf__turn_pass_all(e);
    }
    hf__voters_ask(e);
}

int64_t hf__voters_next_us(const struct engine *e)
{
    int64_t next = e->linger_us > 0 ? e->linger_us : TIME_NEVER;
    for (int i = 0; i < e->conf.nodes; i++) {
        const struct node *n = &e->nodes[i];
        if (boot_is_wanted(e, n)) next = min64(next, n->boot_us);
        if (n->stand == STAND_QUARANTINED)
            next = min64(next, hf__voter_settled_us(e, n));
    }
    return next;
}
