/*
 * quorum.c: asking each member of a quorum by itself, and making new ones.
 *
 * The rule: nothing is written before every member was looked at and found
 * fit.
 */
#include "api/quorum/quorum.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "engine/voter.h"

/* ---- life --------------------------------------------------------------- */

int hf__gathering_begin(struct gathering *g,
                        const struct hf_quorum_options *options,
                        struct hf_quorum_node *nodes)
{
    static const struct hf_quorum_options defaults = HF_QUORUM_OPTIONS_INIT;
    memset(g, 0, sizeof *g);
    g->alloc = &hf__alloc_default;
    g->nodes = nodes;
    if (!options) options = &defaults;
    int status = hf__options_copy(&g->options, sizeof g->options, options,
                                  options->struct_size, &g->err);
    if (status != HF_OK) return status;
    int64_t ms = g->options.max_lease_ms;
    if (ms != 0 && (ms < HF_LEASE_MS_MIN || ms > HF_LEASE_MS_MAX))
        return hf__error_set(&g->err, HF_INVALID,
                             "quorum: longest lease of %lld ms: out of range",
                             (long long)ms);
    g->lease_us = (ms ? ms : QUORUM_LEASE_MS_DEFAULT) * US_PER_MS;
    g->conf.drift_ppm = DRIFT_PPM_DEFAULT;
    g->conf.window_us = BALLOT_WINDOW_US;
    return HF_OK;
}

int hf__gathering_read(struct gathering *g, const char *url, struct members *m)
{
    struct url options;
    int status = hf__members_parse(m, g->alloc, url, &g->err);
    if (status == HF_OK) status = hf__url_parse(&options, m->options, &g->err);
    if (status == HF_OK) status = hf__options_known(&options, NULL, &g->err);
    if (status != HF_OK) return status;
    return hf__option_drift(&options, 0, &g->conf.drift_ppm, &g->err);
}

static int node_fail(struct gathering *g, int i, const struct hf_error *err)
{
    struct hf_quorum_node *n = &g->nodes[i];
    const char *text = err->text;
    if (!strncmp(text, "init: ", 6)) text += 6;
    n->status = err->status;
    hf__members_node_text(n->url, text, n->text);
    if (g->err.status == HF_OK) hf__error_set(&g->err, err->status, "%s", text);
    return err->status;
}

int hf__gathering_refuse(struct gathering *g, int i, int status,
                         const char *why)
{
    struct hf_error err;
    hf__error_set(&err, status, "%.200s: %s", g->nodes[i].url, why);
    return node_fail(g, i, &err);
}

static int member_open(struct gathering *g, int i)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    struct hf_quorum_node *n = &g->nodes[i];
    char shown[URL_LEN_MAX + 8];
    o.flags = HF_CLIENT_OWN_LOOP;
    o.timeout_ms = o.patience_ms = g->options.timeout_ms;
    o.user = g->options.user;
    o.password = g->options.password;
    o.password_file = g->options.password_file;
    memset(n, 0, sizeof *n);
    n->struct_size = sizeof *n;
    hf__url_redact(g->members.texts[i], shown, sizeof shown);
    snprintf(n->url, sizeof n->url, "%.255s", shown);
    if (hf__client_open_to_ask(g->members.texts[i], &o, &g->clients[i], &err)
        != HF_OK)
        return node_fail(g, i, &err);
    if (!(hf_client_caps(g->clients[i]) & HF_CAP_BALLOT))
        return hf__gathering_refuse(g, i, HF_UNSUPPORTED,
                                    "it cannot be a member of a quorum");
    return HF_OK;
}

int hf__gathering_open(struct gathering *g)
{
    int worst = HF_OK;
    g->is_open = 1;
    for (int i = 0; i < g->members.len; i++) {
        int status = member_open(g, i);
        if (worst == HF_OK) worst = status;
    }
    return worst;
}

void hf__gathering_tell(const struct gathering *g, hf_quorum_fn fn, void *user)
{
    for (int i = 0; fn && g->is_open && i < g->members.len; i++)
        fn(&g->nodes[i], user);
}

int hf__gathering_end(struct gathering *g, int status, struct hf_error *err)
{
    for (int i = 0; i < NODES_MAX; i++)
        if (g->clients[i]) hf_client_close(g->clients[i]);
    hf__members_free(&g->members, g->alloc);
    if (status != HF_OK && err) *err = g->err;
    return status;
}

/* ---- asking ------------------------------------------------------------- */

static void node_fill(struct hf_quorum_node *n, const struct boot *b)
{
    n->status = HF_OK;
    n->text[0] = '\0';
    n->durable = b->is_durable;
    n->left_ms = (b->left_us + US_PER_MS - 1) / US_PER_MS;
    n->max_lease_ms = b->lease_us / US_PER_MS;
    snprintf(n->identity, sizeof n->identity, "%s", b->identity);
}

int hf__gathering_ask(struct gathering *g, int i, unsigned flags)
{
    struct op op;
    struct hf_error err = {0};
    struct boot_job boot = {.from = g->from,
                            .flags = flags,
                            .quarantine_us =
                                hf__quarantine_us(&g->conf, g->lease_us)};
    struct value_job job = {.key = "init", .key_len = 4, .boot = &boot};
    boot.group = g->members.group;
    hf__call_init(&op, OP_TYPE_BOOT, NULL, 0);
    op.value = &job;
    op.lease_us = g->lease_us;
    if (hf__call_wait(g->clients[i], &op, &err) != HF_OK)
        return node_fail(g, i, &err);
    g->boots[i] = boot.found;
    node_fill(&g->nodes[i], &boot.found);
    if (!(flags & REQ_BOOT_LOOK)) g->nodes[i].changed = 1;
    return HF_OK;
}

static int twins_find(struct gathering *g)
{
    for (int i = 0; i < g->members.len; i++)
        for (int k = 0; k < i; k++)
            if (g->nodes[i].identity[0]
                && !strcmp(g->nodes[i].identity, g->nodes[k].identity)) {
                char why[HF_ERROR_TEXT_MAX];
                snprintf(why, sizeof why, "the same server as %.150s",
                         g->nodes[k].url);
                return hf__gathering_refuse(g, i, HF_INVALID, why);
            }
    return HF_OK;
}

int hf__gathering_look(struct gathering *g)
{
    int worst = HF_OK;
    for (int i = 0; i < g->members.len; i++) {
        int status = hf__gathering_ask(g, i, REQ_BOOT_LOOK);
        if (worst == HF_OK) worst = status;
    }
    int status = twins_find(g);
    return worst != HF_OK ? worst : status;
}

/* ---- new members -------------------------------------------------------- */

static int members_are_new(struct gathering *g)
{
    int worst = HF_OK;
    for (int i = 0; i < g->members.len; i++) {
        int status = HF_OK;
        if (g->boots[i].group[0])
            status = hf__gathering_refuse(
                g, i, HF_CONFLICT,
                "it is a member of a quorum already, by init or by a first "
                "client: --force is safe only while no client holds a lock "
                "there");
        else if (g->boots[i].has_locks)
            status = hf__gathering_refuse(g, i, HF_CONFLICT,
                                          "locks are stored there");
        if (worst == HF_OK) worst = status;
    }
    return worst;
}

static int members_mark(struct gathering *g)
{
    unsigned flags = REQ_BOOT_NEW;
    int worst = HF_OK;
    if (g->options.flags & HF_QUORUM_FORCE) flags |= REQ_BOOT_FORCE;
    if (g->options.flags & HF_QUORUM_DURABLE) flags |= REQ_BOOT_DURABLE;
    for (int i = 0; i < g->members.len; i++) {
        int status = hf__gathering_ask(g, i, flags);
        if (worst == HF_OK) worst = status;
    }
    return worst;
}

int hf_quorum_init(const char *url, const struct hf_quorum_options *options,
                   hf_quorum_fn fn, void *user, struct hf_error *err)
{
    struct hf_quorum_node nodes[NODES_MAX];
    struct gathering g;
    int status = hf__gathering_begin(&g, options, nodes);
    if (status == HF_OK && (!url || !hf__members_are_in(url)))
        status = hf__error_set(&g.err, HF_INVALID,
                               "url: not of a quorum: write "
                               "redlock://h1,h2,h3 or quorum:URL|URL|URL");
    if (status == HF_OK) status = hf__gathering_read(&g, url, &g.members);
    if (status == HF_OK) status = hf__gathering_open(&g);
    if (status == HF_OK) status = hf__gathering_look(&g);
    if (status == HF_OK && !(g.options.flags & HF_QUORUM_FORCE))
        status = members_are_new(&g);
    if (status == HF_OK) status = members_mark(&g);
    hf__gathering_tell(&g, fn, user);
    return hf__gathering_end(&g, status, err);
}
