/*
 * probe.c: asking each server behind a URL what it is.
 *
 * The rule: it only looks.  So it never opens a client of the quorum, which
 * would write markers, but one for each member.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "api/quorum/probe.h"
#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

#define LOOKS_MIN 3 /* without them no rate is known */
#define PAUSE_MS_MIN 20

/* One call under way.  A store of several servers (a cluster) is one client,
 * which is asked for its parts, one after the other. */
struct probing {
    struct gathering g; /* its members: those of the quorum, or the one */
    struct hf_probe_options options;
    struct hf_probe *out;
    struct hf_quorum_node nodes[NODES_MAX]; /* what hf__gathering_ask() fills */
    struct probe_clock clocks[NODES_MAX];
};

/* ---- from the URL to clients -------------------------------------------- */

static int one_parse(struct probing *p, const char *url)
{
    struct members *m = &p->g.members;
    m->texts[0] = hf__strdup(p->g.alloc, url);
    if (!m->texts[0])
        return hf__error_set(&p->g.err, HF_NOMEM, "probe: out of memory");
    m->len = 1;
    return HF_OK;
}

static int quorum_parse(struct probing *p, const char *url)
{
    struct members *m = &p->g.members;
    p->g.conf.window_us = BALLOT_WINDOW_US;
    int status = hf__gathering_read(&p->g, url, m);
    p->out->drift_ppm = p->g.conf.drift_ppm;
    p->out->quorum = m->len / 2 + 1;
    return status;
}

static int node_open(struct probing *p, int i)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    struct hf_probe_node *n = &p->out->nodes[i];
    char shown[URL_LEN_MAX + 8];
    o.flags = HF_CLIENT_OWN_LOOP; /* nothing is kept: no thread for it */
    o.timeout_ms = o.patience_ms = p->options.timeout_ms;
    o.user = p->options.user;
    o.password = p->options.password;
    o.password_file = p->options.password_file;
    o.fallback = HF_FALLBACK_FAIL;
    hf__url_redact(p->g.members.texts[i], shown, sizeof shown);
    snprintf(n->url, sizeof n->url, "%.255s", shown);
    n->member = p->out->quorum ? HF_PROBE_UNKNOWN : HF_PROBE_ALONE;
    n->status = hf__client_open_to_ask(p->g.members.texts[i], &o,
                                       &p->g.clients[i], &err);
    if (n->status == HF_OK) return HF_OK;
    snprintf(n->text, sizeof n->text, "%s", err.text);
    if (p->g.err.status == HF_OK) p->g.err = err;
    return n->status;
}

static int nodes_open(struct probing *p)
{
    int status = HF_OK;
    p->out->len = p->g.members.len;
    for (int i = 0; i < p->out->len; i++) {
        int one = node_open(p, i);
        if (status == HF_OK) status = one;
    }
    if (p->out->quorum) return HF_OK; /* each says for itself */
    if (status == HF_OK)
        p->out->drift_ppm = p->g.clients[0]->pump.engine.conf.drift_ppm;
    return status;
}

/* ---- asking ------------------------------------------------------------- */

static void node_fail(struct hf_probe_node *n, const struct hf_error *err)
{
    const char *text = err->text;
    if (!strncmp(text, "facts: ", 7)) text += 7; /* the operation's name */
    n->status = err->status;
    snprintf(n->text, sizeof n->text, "%s", text);
}

static hf_client *client_of(const struct probing *p, int i)
{
    return p->g.clients[p->out->quorum ? i : 0];
}

/* Ask for the facts of a node, or with `brief` only for its clock.  `next` (may
 * be NULL) is set to the next part of a cluster, 0 after the last. */
static int facts_ask(struct probing *p, int i, int brief, uint64_t *next)
{
    struct op op;
    struct hf_error err = {0};
    struct value_job job = {.key = "facts", .key_len = 5, .brief = brief};
    struct hf_probe_node *n = &p->out->nodes[i];
    hf_client *c = client_of(p, i);
    int64_t sent_us = hf__clock_us();
    if (!p->out->quorum) job.part = (uint64_t)i;
    hf__call_init(&op, OP_TYPE_FACTS, NULL, 0);
    op.value = &job;
    int status = hf__call_wait(c, &op, &err);
    if (next) *next = job.next;
    if (status != HF_OK) {
        node_fail(n, &err);
        return err.status;
    }
    int64_t heard_us = hf__clock_us();
    if (brief) {
        hf__probe_clock_add(&p->clocks[i], sent_us, heard_us, job.node_us);
        if (n->rtt_us == 0 || heard_us - sent_us < n->rtt_us)
            n->rtt_us = heard_us - sent_us;
    } else {
        char *facts = p->out->facts[i];
        size_t len = job.found.len;
        if (len >= PROBE_FACTS_MAX) len = PROBE_FACTS_MAX - 1;
        memcpy(facts, job.found.data, len);
        facts[len] = '\0';
        n->answers = 1;
    }
    hf__free(&c->alloc, job.found.data);
    return HF_OK;
}

/* Ask a member for its marker.  REQ_BOOT_UNSURE: the longest lease is not known
 * yet, as for a client that asks for the first time; the marker's is used. */
static void member_ask(struct probing *p, int i, unsigned unsure)
{
    struct hf_probe_node *n = &p->out->nodes[i];
    const struct boot *b = &p->g.boots[i];
    if (!(hf_client_caps(p->g.clients[i]) & HF_CAP_BALLOT)) {
        struct hf_error err;
        hf__error_set(&err, HF_UNSUPPORTED,
                      "%.150s: it cannot be a member of a quorum",
                      p->g.members.keys[i]);
        node_fail(n, &err);
        return;
    }
    snprintf(p->nodes[i].url, sizeof p->nodes[i].url, "%s", n->url);
    int status =
        hf__gathering_ask(&p->g, i, REQ_BOOT_LOOK | REQ_BRIEF | unsure);
    if (status != HF_OK) {
        n->status = status;
        snprintf(n->text, sizeof n->text, "%s", p->nodes[i].text);
        return;
    }
    n->member = !b->group[0]                            ? HF_PROBE_UNMARKED
                : !strcmp(b->group, p->g.members.group) ? HF_PROBE_OURS
                                                        : HF_PROBE_OTHERS;
    n->votes_in_ms = p->nodes[i].left_ms;
    n->max_lease_ms = p->nodes[i].max_lease_ms;
    n->durable = p->nodes[i].durable;
    snprintf(n->identity, sizeof n->identity, "%s", p->nodes[i].identity);
}

/* The URL's host, also of a node that does not answer: nodes of one host fail
 * together. */
static void host_note(struct probing *p, int i)
{
    char *facts = p->out->facts[i];
    struct url url;
    size_t len = strlen(facts), room = PROBE_FACTS_MAX - len;
    if (hf__url_parse(&url, p->g.members.texts[i], NULL) == HF_OK && url.host
        && url.host[0]
        && snprintf(facts + len, room, "host:%s\n", url.host) >= (int)room)
        facts[len] = '\0';
    hf__wipe(url.text, sizeof url.text);
}

static void members_ask(struct probing *p)
{
    for (int i = 0; i < p->out->len; i++) {
        if (p->out->nodes[i].status == HF_OK
            && facts_ask(p, i, 0, NULL) == HF_OK)
            member_ask(p, i, REQ_BOOT_UNSURE);
        host_note(p, i);
    }
}

/* One server, or the masters of a cluster: each is a node by its own name. */
static void parts_ask(struct probing *p)
{
    struct hf_probe *out = p->out;
    char shown[sizeof out->nodes[0].url];
    uint64_t next;
    memcpy(shown, out->nodes[0].url, sizeof shown);
    (void)facts_ask(p, 0, 0, &next);
    while (next > 0 && next < NODES_MAX && (int)next == out->len) {
        struct hf_probe_node *n = &out->nodes[out->len++];
        n->member = HF_PROBE_ALONE;
        memcpy(n->url, shown, sizeof shown);
        (void)facts_ask(p, out->len - 1, 0, &next);
    }
    out->left_out = next > 0;
    for (int i = 0; i < out->len && out->len > 1; i++)
        if (hf_probe_fact(&out->nodes[i], "endpoint", shown, sizeof shown))
            memcpy(out->nodes[i].url, shown, sizeof shown);
}

static void nodes_ask(struct probing *p)
{
    if (p->out->quorum)
        members_ask(p);
    else if (p->out->nodes[0].status == HF_OK)
        parts_ask(p);
}

/* Once the longest lease is known, ask again: a member's quarantine depends on
 * it. */
static void members_again(struct probing *p)
{
    int64_t longest_us = 0;
    for (int i = 0; i < p->out->len; i++)
        if (p->out->nodes[i].member == HF_PROBE_OURS)
            longest_us = max64(longest_us, p->g.boots[i].lease_us);
    if (longest_us == 0 || longest_us == p->g.lease_us) return;
    p->g.lease_us = longest_us;
    for (int i = 0; i < p->out->len; i++)
        if (p->out->nodes[i].status == HF_OK
            && p->out->nodes[i].member != HF_PROBE_UNKNOWN)
            member_ask(p, i, 0);
}

/* ---- clocks ------------------------------------------------------------- */

static void clocks_look(struct probing *p)
{
    for (int i = 0; i < p->out->len; i++)
        if (p->out->nodes[i].answers && client_of(p, i)
            && p->out->nodes[i].status != HF_UNAVAILABLE)
            (void)facts_ask(p, i, 1, NULL);
}

static void clocks_sample(struct probing *p)
{
    int64_t sample_us = p->options.sample_ms * US_PER_MS;
    int64_t end_us = hf__clock_us() + sample_us;
    int64_t pause_ms =
        max64(p->options.sample_ms / (PROBE_SAMPLES_MAX - 8), PAUSE_MS_MIN);
    clocks_look(p);
    /* On a busy machine a few looks may take all the time there is. */
    for (int looks = 1;
         hf__clock_us() < end_us || (sample_us > 0 && looks < LOOKS_MIN);
         looks++) {
        (void)poll(NULL, 0, (int)pause_ms);
        clocks_look(p);
    }
    int64_t wall_us = hf__clock_wall_us() - hf__clock_us();
    for (int i = 0; i < p->out->len; i++)
        hf__probe_clock_judge(&p->clocks[i], wall_us, &p->out->nodes[i]);
    hf__probe_clocks_compare(p->out);
}

/* ---- all of it ---------------------------------------------------------- */

static int options_read(struct probing *p, const struct hf_probe_options *o)
{
    static const struct hf_probe_options defaults = HF_PROBE_OPTIONS_INIT;
    struct hf_error *err = &p->g.err;
    if (!o) o = &defaults;
    int status = hf__options_copy(&p->options, sizeof p->options, o,
                                  o->struct_size, err);
    if (status != HF_OK) return status;
    if (p->options.flags)
        return hf__error_set(err, HF_INVALID, "probe: flags 0x%x: unknown",
                             p->options.flags);
    int64_t ms = p->options.sample_ms;
    if (ms < 0 || ms > HF_PROBE_SAMPLE_MS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "probe: sample_ms of %lld: out of range: 0 to %d",
                             (long long)ms, HF_PROBE_SAMPLE_MS_MAX);
    return HF_OK;
}

static int probe_run(struct probing *p, const char *url)
{
    int status =
        hf__members_are_in(url) ? quorum_parse(p, url) : one_parse(p, url);
    if (status == HF_OK) status = nodes_open(p);
    if (status != HF_OK) return status;
    nodes_ask(p);
    members_again(p);
    clocks_sample(p);
    return HF_OK;
}

static struct hf_probe *probe_make(const struct allocator *a)
{
    struct hf_probe *probe = hf__alloc_zero(a, sizeof *probe);
    for (int i = 0; probe && i < NODES_MAX; i++) {
        probe->nodes[i].struct_size = sizeof probe->nodes[i];
        probe->nodes[i].facts = probe->facts[i];
    }
    return probe;
}

int hf_probe_open(const char *url, const struct hf_probe_options *options,
                  hf_probe **out, struct hf_error *err)
{
    const struct allocator *a = &hf__alloc_default;
    struct probing *p = hf__alloc_zero(a, sizeof *p);
    struct hf_probe *found = probe_make(a);
    int status = HF_NOMEM;
    if (!p || !found) {
        hf__error_set(err, HF_NOMEM, "probe: out of memory");
    } else {
        p->out = found;
        p->g.alloc = a;
        p->g.nodes = p->nodes;
        p->g.lease_us = QUORUM_LEASE_MS_DEFAULT * US_PER_MS;
        status = options_read(p, options);
        if (status == HF_OK) status = probe_run(p, url ? url : "file:");
        status = hf__gathering_end(&p->g, status, err);
    }
    if (status == HF_OK)
        *out = found;
    else
        hf__free(a, found);
    hf__free(a, p);
    return status;
}

/* ---- the answers -------------------------------------------------------- */

void hf_probe_close(hf_probe *probe)
{
    hf__free(&hf__alloc_default, probe);
}

int hf_probe_len(const hf_probe *probe)
{
    return probe->len;
}

const struct hf_probe_node *hf_probe_node(const hf_probe *probe, int i)
{
    return i >= 0 && i < probe->len ? &probe->nodes[i] : NULL;
}

int hf_probe_quorum(const hf_probe *probe)
{
    return probe->quorum;
}

int64_t hf_probe_drift_ppm(const hf_probe *probe)
{
    return probe->drift_ppm;
}

int hf_probe_left_out(const hf_probe *probe)
{
    return probe->left_out;
}

int hf_probe_fact(const struct hf_probe_node *node, const char *name, char *out,
                  size_t size)
{
    size_t name_len = strlen(name);
    out[0] = '\0';
    for (const char *line = node->facts; *line;) {
        size_t len = strcspn(line, "\n");
        if (len > name_len && line[name_len] == ':'
            && !strncmp(line, name, name_len)) {
            snprintf(out, size, "%.*s", (int)(len - name_len - 1),
                     line + name_len + 1);
            return 1;
        }
        line += len + (line[len] == '\n');
    }
    return 0;
}
