/*
 * voter_text.c: the sentences about the nodes of a quorum.
 *
 * The rule: a caller that cannot have a lock is told which node is the reason,
 * and what to do about it, as far as that is known.
 */
#include "engine/voter_text.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/voter.h"
#include "engine/nodes.h"

/* ---- nodes that are not as the others ---------------------------------- */

static int64_t clock_ahead_us(const struct engine *e, const struct node *n)
{
    return n->offset_us - (hf__engine_nodes_now(e) - e->now_us);
}

/* It refuses this client's numbers as too old, as if it could not be
 * reached. */
int hf__voter_is_ahead(const struct engine *e, const struct node *n)
{
    return n->up && n->clock_known && clock_ahead_us(e, n) > e->conf.window_us;
}

void hf__voter_clock_text(const struct engine *e, const struct node *n,
                          char *out, size_t size)
{
    int64_t ahead = clock_ahead_us(e, n);
    snprintf(out, size, "%.150s: its clock is %lld ms %s the other nodes'%s",
             n->url ? n->url : "node",
             (long long)((ahead < 0 ? -ahead : ahead) / US_PER_MS),
             ahead > 0 ? "ahead of" : "behind",
             hf__voter_is_ahead(e, n) ? ": it grants nothing" : "");
}

void hf__voter_compare_clock(struct engine *e, const struct node *n)
{
    char line[HF_ERROR_TEXT_MAX];
    int64_t ahead = clock_ahead_us(e, n);
    if (!e->log || (ahead < 0 ? -ahead : ahead) <= e->conf.window_us / 2)
        return;
    hf__voter_clock_text(e, n, line, sizeof line);
    e->log(e, HF_LOG_WARN, line);
}

/* Warn of members of different versions: scripts may do other things there. */
void hf__voter_compare_version(struct engine *e, const struct node *n)
{
    char line[HF_ERROR_TEXT_MAX];
    const struct node *other = NULL;
    for (int i = 0; i < e->conf.nodes && !other; i++)
        if (&e->nodes[i] != n && e->nodes[i].boot.version > 0)
            other = &e->nodes[i];
    int64_t a = n->boot.version, b = other ? other->boot.version : a;
    if (!e->log || a <= 0 || a / 100 == b / 100) return;
    snprintf(line, sizeof line,
             "%.70s: it is version %lld.%lld, and %.70s is %lld.%lld: members "
             "should be of one version",
             n->url ? n->url : "node", (long long)(a / 10000),
             (long long)(a / 100 % 100), other->url ? other->url : "another",
             (long long)(b / 10000), (long long)(b / 100 % 100));
    e->log(e, HF_LOG_WARN, line);
}

/* The other members go on without it, so only the log says it. */
void hf__voter_warn_misplaced(struct engine *e, const struct node *n)
{
    char line[HF_ERROR_TEXT_MAX];
    int is_foreign = n->last_error.status == HF_CONFLICT;
    const char *url = n->url ? n->url : "node", *why = n->last_error.text;
    size_t len = strlen(url);
    if (!e->log) return;
    if (!strncmp(why, url, len) && !strncmp(why + len, ": ", 2)) why += len + 2;
    snprintf(line, sizeof line, "%.80s: it has no vote: %.100s%s", url, why,
             is_foreign ? ": repeat holdfast init --replace, or init" : "");
    e->log(e, HF_LOG_WARN, line);
}

/* ---- why there is no lock ---------------------------------------------- */

/* Do too few members grant anything, to any client? */
int hf__voters_are_short(const struct engine *e)
{
    int able = 0;
    for (int i = 0; i < e->conf.nodes; i++)
        able += e->nodes[i].stand == STAND_SETTLED
                && !hf__voter_is_ahead(e, &e->nodes[i]);
    return e->conf.nodes > 1 && able < e->conf.quorum;
}

/* Is nothing known that keeps a majority from answering soon? */
int hf__voters_may_answer(const struct engine *e)
{
    int able = 0;
    for (int i = 0; i < e->conf.nodes; i++) {
        const struct node *n = &e->nodes[i];
        able += !(e->conf.down >> i & 1) && n->stand != STAND_REFUSED
                && n->stand != STAND_QUARANTINED && !n->is_blank
                && !hf__voter_is_ahead(e, n);
    }
    return e->conf.nodes > 1 && able >= e->conf.quorum;
}

static int stand_count(const struct engine *e, enum stand stand)
{
    int n = 0;
    for (int i = 0; i < e->conf.nodes; i++) n += e->nodes[i].stand == stand;
    return n;
}

/* Why the first member that grants nothing does not; "" if all may grant. */
static void silence_text(const struct engine *e, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < e->conf.nodes && !out[0]; i++) {
        const struct node *n = &e->nodes[i];
        if (!n->up || n->stand == STAND_REFUSED)
            snprintf(out, size, ": %.150s", n->last_error.text);
    }
    for (int i = 0; i < e->conf.nodes && !out[0]; i++) {
        if (!hf__voter_is_ahead(e, &e->nodes[i])) continue;
        snprintf(out, size, ": ");
        hf__voter_clock_text(e, &e->nodes[i], out + 2, size - 2);
    }
}

/* ", 1 may vote"; "" while a node that can be reached has not yet said whether
 * it may: a question that needs no vote may be answered before that. */
static void voters_text(const struct engine *e, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < e->conf.nodes; i++)
        if (e->nodes[i].up && e->nodes[i].stand == STAND_UNKNOWN) return;
    snprintf(out, size, ", %d may vote", stand_count(e, STAND_SETTLED));
}

void hf__voters_text(const struct engine *e, int status, char *out, size_t size)
{
    const struct hf_error *refusal = hf__voters_refusal(e);
    char why[HF_ERROR_TEXT_MAX], voters[32];
    int nodes = e->conf.nodes, up = 0;
    for (int i = 0; i < nodes; i++) up += e->nodes[i].up;
    if (refusal && refusal->status == status) {
        snprintf(out, size, "%s", refusal->text);
    } else if (status == HF_INVALID && nodes == 1) {
        snprintf(out, size,
                 "the longest lease of this store is %lld ms, half of its "
                 "session: --lease or lease= of at most that, or a longer "
                 "session=",
                 (long long)(e->conf.lease_max_us / US_PER_MS));
    } else if (status == HF_INVALID) {
        snprintf(out, size,
                 "the longest lease of these nodes is %lld ms: --lease or "
                 "lease= of at most that, or holdfast init --max-lease",
                 (long long)(e->conf.lease_max_us / US_PER_MS));
    } else if (e->conf.settle_us > e->now_us) {
        snprintf(out, size,
                 "%d of %d nodes are new or have lost their data: a lock waits "
                 "%lld s, one quarantine; if they are new, and no client holds "
                 "a lock there, holdfast init --force avoids it",
                 stand_count(e, STAND_QUARANTINED), nodes,
                 (long long)((e->conf.settle_us - e->now_us + US_PER_S - 1)
                             / US_PER_S));
    } else {
        silence_text(e, why, sizeof why);
        voters_text(e, voters, sizeof voters);
        snprintf(out, size,
                 "%d of %d nodes can be reached%s, %d are needed%.160s", up,
                 nodes, voters, e->conf.quorum, why);
    }
}
