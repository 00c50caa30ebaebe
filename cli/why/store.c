/*
 * why/store.c: whether the store would grant a lock that is free.
 *
 * One rule: only what a server says of itself counts.  A server that may not be
 * asked, or says nothing of it, refuses nothing.
 */
#include "doctor/fact.h"
#include "why/why.h"

#include <stdio.h>
#include <string.h>

static int is_full(const struct hf_probe_node *n, char *out, size_t size)
{
    char policy[64];
    int64_t most = fact_number(n, "maxmemory", -1),
            used = fact_number(n, "used_memory", -1);
    hf_probe_fact(n, "maxmemory_policy", policy, sizeof(policy));
    if (most <= 0 || used <= most || strcmp(policy, "noeviction") != 0)
        return 0;
    snprintf(out, size,
             "its memory is full: %lld bytes are used, and maxmemory is %lld",
             (long long)used, (long long)most);
    return 1;
}

static int is_alone(const struct hf_probe_node *n, char *out, size_t size)
{
    int64_t least = fact_number(n, "min-replicas-to-write", -1);
    int64_t good = fact_number(n, "min_slaves_good_slaves", -1);
    if (least <= 0 || good < 0 || good >= least) return 0;
    snprintf(out, size,
             "it has too few replicas: min-replicas-to-write is %lld, and "
             "%lld can be counted on",
             (long long)least, (long long)good);
    return 1;
}

/* The server belongs to a quorum, and the URL names this server alone. */
static int is_member(const hf_probe *p, const struct hf_probe_node *n,
                     char *out, size_t size)
{
    int64_t members = fact_number(n, "quorum_of", -1);
    if (hf_probe_quorum(p) > 1 || members < 2) return 0;
    snprintf(out, size, "it is one of %lld members of a quorum",
             (long long)members);
    return 1;
}

/* 1 if the server refuses locks, with what makes it refuse and a text. */
static int is_refusing(const hf_probe *p, const struct hf_probe_node *n,
                       enum refused_by *by, char *out, size_t size)
{
    if (!n->answers) return 0;
    if (is_full(n, out, size))
        *by = REFUSED_BY_MEMORY;
    else if (is_alone(n, out, size))
        *by = REFUSED_BY_REPLICAS;
    else if (is_member(p, n, out, size))
        *by = REFUSED_BY_QUORUM;
    else
        return 0;
    return 1;
}

/* A quorum refuses if too few members are left that do not; a cluster if all
 * nodes refuse, because it is not known here which node has the lock.  The
 * first refusal is reported. */
static void probe_judge(struct why *w, const hf_probe *p)
{
    int quorum = hf_probe_quorum(p), len = hf_probe_len(p);
    int needed = quorum ? quorum : 1, granting = len;
    enum refused_by by;
    char why[192], first[HF_ERROR_TEXT_MAX + 2 + 192] = "";
    for (int i = 0; i < len; i++) {
        const struct hf_probe_node *n = hf_probe_node(p, i);
        if (!is_refusing(p, n, &by, why, sizeof(why))) continue;
        granting--;
        if (first[0]) continue;
        snprintf(first, sizeof(first), "%s: %s", n->url, why);
        w->refused_by = by;
    }
    if (granting >= needed) return;
    snprintf(w->refusal, sizeof(w->refusal), "%s", first);
}

void store_look(struct why *w)
{
    hf_probe *probe;
    struct hf_probe_options po = HF_PROBE_OPTIONS_INIT;
    if (hf_client_caps(w->s->client) & HF_CAP_KERNEL) return;
    if (w->info.guarantee == HF_GUARANTEE_LOCAL) return;
    po.user = session_user(w->s);
    po.password = session_password(w->s);
    po.password_file = session_password_file(w->s);
    if (hf_probe_open(w->s->url, &po, &probe, NULL) != HF_OK) return;
    probe_judge(w, probe);
    hf_probe_close(probe);
}
