/*
 * members_open.c: connecting to the members of a quorum, and what is known of
 * each.
 *
 * The rule: a member that could not give the quorum's promise is refused when
 * the client is opened, not when a lock is asked for.
 */
#include <stdio.h>
#include <string.h>

#include "api/quorum/members.h"
#include "backend/registry.h"
#include "base/error.h"
#include "base/math.h"
#include "engine/voter.h"
#include "engine/voter_text.h"

/* What a quorum can do, if all its members can. */
#define QUORUM_CAPS                                                            \
    (HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH              \
     | HF_CAP_BREAK | HF_CAP_LIST | HF_CAP_BALLOT)

/* What a member's connection borrows for its life. */
struct member {
    char *url; /* without its password */
    char *user;
    char *password;
    struct backend_conf conf;
};

char *hf__members_shown(const struct members *m, const struct allocator *a,
                        const char *url)
{
    size_t size = strlen(url) + 16, at = 0;
    char *out = hf__alloc(a, size);
    if (!out || strncmp(url, "quorum:", 7) != 0) {
        if (out) hf__url_redact(url, out, size);
        return out;
    }
    at = (size_t)snprintf(out, size, "quorum:");
    for (int i = 0; i < m->len && at < size; i++) {
        if (i > 0) out[at++] = '|';
        hf__url_redact(m->texts[i], out + at, size - at);
        at += strlen(out + at);
    }
    return out;
}

static char *copy(const struct allocator *a, const char *text, int *failed)
{
    char *made = text ? hf__strdup(a, text) : NULL;
    if (text && !made) *failed = 1;
    return made;
}

static int member_fill(hf_client *c, struct member *own, const struct url *url,
                       const char *text, const struct hf_client_options *o)
{
    char shown[URL_LEN_MAX + 8];
    int failed = 0;
    hf__url_redact(text, shown, sizeof shown);
    own->url = copy(&c->alloc, shown, &failed);
    own->user = copy(&c->alloc, o->user ? o->user : url->user, &failed);
    own->password = copy(&c->alloc, hf__password_of(o, url), &failed);
    own->conf = c->pump.engine.backend_conf;
    own->conf.user = own->user;
    own->conf.password = own->password;
    own->conf.takes_replica = c->members_len > 1; /* VERB_BOOT tells */
    return failed ? HF_NOMEM : HF_OK;
}

static int options_check(const struct url *url, const struct backend *b,
                         int index, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++) {
        const char *key = url->options[i].key;
        if (b->options && hf__word_is_in(key, b->options)) continue;
        return hf__error_set(err, HF_INVALID,
                             "url: member %d: option %.60s: unknown to %s",
                             index + 1, key, url->scheme);
    }
    return hf__options_named(url, err);
}

static int member_open(hf_client *c, int index, const struct url *url,
                       struct hf_error *err)
{
    struct engine *e = &c->pump.engine;
    const struct backend *b = hf__backend_find(url->scheme, err);
    if (!b) return err->status;
    int status = options_check(url, b, index, err);
    if (status == HF_OK)
        status = hf__node_open(e, &e->nodes[index], index, b, url, err);
    if (status != HF_OK) return status;
    unsigned caps = b->conn_caps ? b->conn_caps(e->nodes[index].conn) : b->caps;
    if (!(caps & HF_CAP_BALLOT))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "url: member %d: %.120s: %s, and cannot be a "
                             "member of a quorum",
                             index + 1, c->members[index].url,
                             caps & HF_CAP_FENCE
                                 ? "its primary or its slots may move to "
                                   "another server"
                                 : "it keeps no fencing tokens");
    e->caps &= caps;
    return HF_OK;
}

static int member_add(hf_client *c, int index, const char *text,
                      const struct hf_client_options *o, struct hf_error *err)
{
    struct url url;
    struct member *own = &c->members[index];
    struct node *n = &c->pump.engine.nodes[index];
    int status = hf__url_parse(&url, text, err);
    if (status == HF_OK && member_fill(c, own, &url, text, o) != HF_OK)
        status = hf__error_set(err, HF_NOMEM, "client: out of memory");
    n->conf = &own->conf;
    n->url = own->url;
    if (status == HF_OK) status = member_open(c, index, &url, err);
    hf__wipe(url.text, sizeof url.text);
    return status;
}

/* Warn of a number of nodes that survives less than it could. */
static void number_warn(hf_client *c, int nodes)
{
    struct engine *e = &c->pump.engine;
    char line[HF_ERROR_TEXT_MAX];
    int spare = nodes - e->conf.quorum;
    if (nodes < 3)
        snprintf(line, sizeof line,
                 "%.120s: %d node%s: no lock can be had while %s is away: use "
                 "3 or 5",
                 c->url, nodes, nodes == 1 ? "" : "s",
                 nodes == 1 ? "it" : "one of them");
    else if (nodes % 2 == 0)
        snprintf(line, sizeof line,
                 "%.120s: %d nodes survive the loss of %d, as %d do: the last "
                 "one adds nothing",
                 c->url, nodes, spare, nodes - 1);
    else
        return;
    e->log(e, HF_LOG_WARN, line);
}

int hf__members_open(hf_client *c, const struct members *m,
                     const struct hf_client_options *o, struct hf_error *err)
{
    struct engine *e = &c->pump.engine;
    int status = HF_OK;
    c->members = hf__alloc_zero(&c->alloc, (size_t)m->len * sizeof *c->members);
    if (!c->members)
        return hf__error_set(err, HF_NOMEM, "client: out of memory");
    c->members_len = m->len;
    memcpy(e->group, m->group, sizeof e->group);
    e->conf.nodes = m->len;
    e->conf.quorum = m->len / 2 + 1;
    /* One server is used as without a quorum: a marker would add nothing. */
    e->conf.request_flags = m->len == 1 ? REQ_SERVER_FENCE : REQ_QUORUM;
    e->caps = QUORUM_CAPS;
    hf__voters_begin(e);
    number_warn(c, m->len);
    for (int i = 0; i < m->len && status == HF_OK; i++)
        status = member_add(c, i, m->texts[i], o, err);
    return status;
}

void hf__members_close(hf_client *c)
{
    for (int i = 0; i < c->members_len; i++) {
        hf__free(&c->alloc, c->members[i].url);
        hf__free(&c->alloc, c->members[i].user);
        hf__free_secret(&c->alloc, c->members[i].password);
    }
    hf__free(&c->alloc, c->members);
}

/* ---- what is known of each --------------------------------------------- */

void hf__members_node_text(const char *url, const char *text,
                           char out[HF_ERROR_TEXT_MAX])
{
    size_t len = strlen(url);
    if (len && !strncmp(text, url, len) && !strncmp(text + len, ": ", 2))
        text += len + 2;
    snprintf(out, HF_ERROR_TEXT_MAX, "%s", text);
}

static void node_tell(const hf_client *c, const struct node *n,
                      struct hf_node *out)
{
    const struct engine *e = &c->pump.engine;
    int is_alone = e->conf.nodes == 1;
    int64_t now_us = e->now_us;
    char clock[HF_ERROR_TEXT_MAX];
    *out = (struct hf_node){.struct_size = sizeof *out, .up = n->up};
    snprintf(out->url, sizeof out->url, "%s", n->url ? n->url : c->url);
    out->settled = is_alone || n->stand == STAND_SETTLED;
    if (n->stand == STAND_QUARANTINED) {
        int64_t left_us = hf__voter_settled_us(e, n) - now_us;
        out->quarantine_left_ms =
            (max64(left_us, 0) + US_PER_MS - 1) / US_PER_MS;
    }
    out->link = (int)hf__node_link(e, n);
    switch (out->link) {
    case HF_LINK_CONNECTING:
    case HF_LINK_DOWN:
    case HF_LINK_REFUSED:
        out->status = n->last_error.status;
        hf__members_node_text(out->url, n->last_error.text, out->text);
        break;
    case HF_LINK_CLOCK:
        out->status = HF_UNAVAILABLE;
        hf__voter_clock_text(e, n, clock, sizeof clock);
        hf__members_node_text(out->url, clock, out->text);
        break;
    case HF_LINK_BLANK:
        out->status = HF_UNAVAILABLE;
        snprintf(out->text, sizeof out->text,
                 "it is new, or has lost its data: one quarantine begins with "
                 "the first lock that is asked for");
        break;
    default:
        break;
    }
    if (n->clock_known)
        out->clock_offset_ms =
            (n->offset_us - (hf__engine_nodes_now(e) - now_us)) / US_PER_MS;
    snprintf(out->identity, sizeof out->identity, "%s", n->boot.identity);
    out->durable = n->boot.is_durable;
}

int hf_client_nodes(hf_client *c, hf_node_fn fn, void *user)
{
    if (c->pump.forked) return 0;
    int nodes = c->pump.engine.conf.nodes;
    hf__call_enter(c);
    for (int i = 0; fn && i < nodes && !c->pump.forked; i++) {
        struct hf_node node;
        hf__pump_lock(&c->pump);
        node_tell(c, &c->pump.engine.nodes[i], &node);
        hf__pump_unlock(&c->pump);
        fn(&node, user);
    }
    hf__call_leave(c);
    return nodes;
}
