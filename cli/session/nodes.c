/*
 * session/nodes.c: the members of a quorum, for people: which can be
 * reached, which may vote, and when a lock can be had.
 *
 * One rule: with one server there is nothing to say here.
 */
#include "common/duration.h"
#include "common/say.h"
#include "session/nodes.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define DECIDE_MS 500 /* for a member to say whether it may vote */
#define LOOK_MS 5

static int is_voting(const struct hf_node *n)
{
    return n->link == HF_LINK_UP;
}

/* 1 if it is known whether the member may vote. */
static int is_decided(const struct hf_node *n)
{
    return n->link != HF_LINK_CONNECTING && n->link != HF_LINK_ASKING;
}

static void loop_once(const struct session *s)
{
    struct pollfd p = {.fd = hf_client_fd(s->client), .events = POLLIN};
    (void)poll(&p, p.fd >= 0, LOOK_MS);
    (void)hf_client_process(s->client);
}

static void node_take(const struct hf_node *n, void *user)
{
    struct nodes *out = user;
    if (out->len < HF_QUORUM_NODES_MAX) out->at[out->len++] = *n;
}

/* A member tells whether it may vote soon after its first answer: wait for
 * that. */
static void nodes_wait(const struct session *s, struct nodes *out)
{
    int64_t until_ms = clock_ms() + DECIDE_MS;
    for (;;) {
        int decided = 0;
        out->len = 0;
        hf_client_nodes(s->client, node_take, out);
        for (int i = 0; i < out->len; i++) decided += is_decided(&out->at[i]);
        if (decided == out->len || clock_ms() >= until_ms) return;
        loop_once(s);
    }
}

/* How long until `needed` nodes may vote; -1: not known. */
static int64_t wait_for(const struct nodes *ns, int needed)
{
    int64_t ends[HF_QUORUM_NODES_MAX];
    int len = 0;
    for (int i = 0; i < ns->len; i++) {
        const struct hf_node *n = &ns->at[i];
        if (!is_voting(n) && n->quarantine_left_ms <= 0) continue;
        int64_t end = is_voting(n) ? 0 : n->quarantine_left_ms;
        int k = len++;
        for (; k > 0 && ends[k - 1] > end; k--) ends[k] = ends[k - 1];
        ends[k] = end;
    }
    return len >= needed ? ends[needed - 1] : -1;
}

int nodes_look(const struct session *s, struct nodes *out)
{
    memset(out, 0, sizeof(*out));
    if (!s->client || hf_client_nodes(s->client, NULL, NULL) < 2) return 0;
    nodes_wait(s, out);
    out->needed = out->len / 2 + 1;
    for (int i = 0; i < out->len; i++) {
        out->up += out->at[i].up;
        out->voting += is_voting(&out->at[i]);
    }
    out->wait_ms = wait_for(out, out->needed);
    return out->len;
}

const char *node_why(const struct hf_node *n, char *out, size_t size)
{
    char why[2 * HF_ERROR_TEXT_MAX], shown[4 * HF_ERROR_TEXT_MAX], left[32];
    if (is_voting(n)) return NULL;
    if (n->text[0])
        snprintf(why, sizeof(why), "%s", n->text);
    else if (n->quarantine_left_ms > 0)
        snprintf(why, sizeof(why),
                 "may not vote for %s: it is new, or was restarted",
                 duration_text((n->quarantine_left_ms + 999) / 1000 * 1000,
                               left, sizeof(left)));
    else
        snprintf(why, sizeof(why), "%s",
                 n->up ? "has not yet said whether it may vote" : "no answer");
    text_escape(why, shown, sizeof(shown));
    snprintf(out, size, "%s: %s", n->url, shown);
    return out;
}

void nodes_say(const struct session *s)
{
    struct nodes ns;
    char why[NODE_WHY_MAX];
    nodes_look(s, &ns);
    for (int i = 0; i < ns.len; i++)
        if (node_why(&ns.at[i], why, sizeof(why))) say_error("  %s", why);
}

void nodes_print(const struct nodes *ns)
{
    char why[NODE_WHY_MAX], time[32];
    for (int i = 0; i < ns->len; i++)
        if (node_why(&ns->at[i], why, sizeof(why))) printf("  %s\n", why);
    if (ns->len == 0 || ns->voting >= ns->needed) return;
    if (ns->wait_ms < 0)
        printf("  no lock can be had: %d of %d nodes may vote, %d are needed\n",
               ns->voting, ns->len, ns->needed);
    else
        printf("  no lock can be had for %s: %d of %d nodes may vote, %d are "
               "needed\n",
               duration_text((ns->wait_ms + 999) / 1000 * 1000, time,
                             sizeof(time)),
               ns->voting, ns->len, ns->needed);
}

void nodes_json(struct json *j, const struct hf_info *info,
                const struct nodes *ns)
{
    if (ns->len == 0) return;
    json_int(j, "nodes", ns->len);
    json_int(j, "nodes_heard", info->nodes_heard);
    json_int(j, "nodes_agree", info->nodes_agree);
    json_int(j, "nodes_voting", ns->voting);
    json_int(j, "nodes_needed", ns->needed);
    if (ns->wait_ms >= 0) json_int(j, "quarantine_left_ms", ns->wait_ms);
}
