/*
 * quorum/replace.c: a new member in the place of a dead one.
 *
 * The rule: two sets of members never vote side by side.  The old member must
 * not answer, and the others learn the new set before the new one begins.
 */
#include <stdio.h>
#include <string.h>

#include "api/quorum/quorum.h"
#include "base/error.h"

#define LIST_MAX (NODES_MAX * 512)

/* The two sets, and where they differ. */
struct change {
    struct gathering *g; /* its members are the new set */
    struct members before;
    int place;
    char list[LIST_MAX]; /* a URL being put together */
};

static int word_is_url(const char *word)
{
    return strstr(word, "://") || !strncmp(word, "memory:", 7)
           || !strncmp(word, "file:", 5);
}

/* Member `text` with another host: `word` itself, if it is a whole URL.  0, or
 * -1 if it does not fit. */
static int host_put(const char *text, const char *word, char *out, size_t size)
{
    int n;
    const char *user = strstr(text, "://");
    if (word_is_url(word)) {
        n = snprintf(out, size, "%s", word);
    } else if (!user) {
        return -1;
    } else {
        user += 3;
        const char *end = user + strcspn(user, "/?");
        const char *host = end;
        while (host > user && host[-1] != '@') host--;
        n = snprintf(out, size, "%.*s%s%s", (int)(host - text), text, word,
                     end);
    }
    return n > 0 && (size_t)n < size ? 0 : -1;
}

/* All members but that at `place`, which is `word`, as one URL. */
static int list_make(struct change *ch, const struct members *m, int place,
                     const char *word)
{
    size_t len = (size_t)snprintf(ch->list, sizeof ch->list, "quorum:");
    for (int i = 0; i < m->len; i++) {
        if (i > 0 && len + 1 < sizeof ch->list) ch->list[len++] = '|';
        char *at = ch->list + len;
        size_t room = sizeof ch->list - len;
        if (i == place) {
            if (host_put(m->texts[i], word, at, room) != 0) return -1;
        } else if (snprintf(at, room, "%s", m->texts[i]) >= (int)room) {
            return -1;
        }
        len += strlen(at);
    }
    return 0;
}

/* Where in `m` the member is that `word` means; -1: nowhere. */
static int member_find(struct change *ch, const struct members *m,
                       const char *word)
{
    struct hf_error ignored;
    for (int i = 0; i < m->len; i++) {
        struct members one;
        memcpy(ch->list, "quorum:", 7);
        if (host_put(m->texts[i], word, ch->list + 7, sizeof ch->list - 7))
            continue;
        int status = hf__members_parse(&one, ch->g->alloc, ch->list, &ignored);
        int is_it = status == HF_OK && !strcmp(one.keys[0], m->keys[i]);
        hf__members_free(&one, ch->g->alloc);
        if (is_it) return i;
    }
    return -1;
}

/* From the URL and the two words to both sets. */
static int change_read(struct change *ch, const char *url, const char *old_word,
                       const char *new_word)
{
    struct gathering *g = ch->g;
    struct members given;
    int status = hf__gathering_read(g, url, &given);
    int place = status == HF_OK ? member_find(ch, &given, old_word) : -1;
    int is_new_url = status == HF_OK && place < 0;
    if (is_new_url) place = member_find(ch, &given, new_word);
    ch->place = place;
    if (status == HF_OK && place < 0)
        status = hf__error_set(&g->err, HF_INVALID,
                               "quorum: the URL names neither the old member "
                               "nor the new one");
    struct members *other = is_new_url ? &ch->before : &g->members;
    if (status == HF_OK
        && list_make(ch, &given, place, is_new_url ? old_word : new_word) != 0)
        status = hf__error_set(&g->err, HF_INVALID,
                               "quorum: the new set of members: too long");
    if (status == HF_OK)
        status = hf__members_parse(other, g->alloc, ch->list, &g->err);
    hf__wipe(ch->list, sizeof ch->list);
    if (status != HF_OK) {
        hf__members_free(&given, g->alloc);
        return status;
    }
    *(is_new_url ? &g->members : &ch->before) = given;
    g->from = ch->before.group;
    return HF_OK;
}

/* ---- looking ------------------------------------------------------------ */

/* The old member must not answer: only that proves that it does not vote. */
static int old_is_dead(struct change *ch)
{
    struct gathering one = {.options = ch->g->options,
                            .alloc = ch->g->alloc,
                            .conf = ch->g->conf,
                            .lease_us = ch->g->lease_us};
    struct hf_quorum_node node;
    one.nodes = &node;
    snprintf(ch->list, sizeof ch->list, "quorum:%s",
             ch->before.texts[ch->place]);
    int status = hf__members_parse(&one.members, one.alloc, ch->list, &one.err);
    hf__wipe(ch->list, sizeof ch->list);
    if (status == HF_OK) status = hf__gathering_open(&one);
    if (status == HF_OK) status = hf__gathering_ask(&one, 0, REQ_BOOT_LOOK);
    if (status == HF_OK)
        hf__error_set(&ch->g->err, HF_CONFLICT,
                      "%.150s: the old member answers: stop it first, for it "
                      "must not vote beside the new one",
                      node.url);
    int is_dead = status != HF_OK;
    hf__gathering_end(&one, HF_OK, NULL);
    return is_dead;
}

static int member_is_fit(struct change *ch, int i)
{
    struct gathering *g = ch->g;
    const struct boot *b = &g->boots[i];
    if (!strcmp(b->group, g->members.group)) return HF_OK; /* done before */
    if (i != ch->place && strcmp(b->group, ch->before.group) != 0)
        return hf__gathering_refuse(g, i, HF_CONFLICT,
                                    b->group[0]
                                        ? "it is a member of another quorum"
                                        : "it has no marker: it is new, or "
                                          "was wiped");
    if (i == ch->place && b->group[0])
        return hf__gathering_refuse(g, i, HF_CONFLICT,
                                    "it is a member of another quorum");
    if (i == ch->place && b->has_locks)
        return hf__gathering_refuse(g, i, HF_CONFLICT,
                                    "locks are stored there");
    return HF_OK;
}

static int members_are_fit(struct change *ch)
{
    int worst = HF_OK;
    for (int i = 0; i < ch->g->members.len; i++) {
        int status = member_is_fit(ch, i);
        if (worst == HF_OK) worst = status;
    }
    return worst;
}

/* With HF_QUORUM_FORCE a majority of the new set is enough, if the new member
 * is part of it. */
static int majority_is_there(struct change *ch, int status)
{
    struct gathering *g = ch->g;
    int there = 0;
    for (int i = 0; i < g->members.len; i++)
        there += g->nodes[i].status == HF_OK;
    if (there <= g->members.len / 2 || g->nodes[ch->place].status != HF_OK)
        return status;
    memset(&g->err, 0, sizeof g->err);
    return HF_OK;
}

/* ---- writing ------------------------------------------------------------ */

/* The longest lease that any of them may have granted. */
static void lease_learn(struct change *ch)
{
    struct gathering *g = ch->g;
    if (g->options.max_lease_ms == 0) g->lease_us = 0;
    for (int i = 0; i < g->members.len; i++)
        if (g->boots[i].group[0] && g->boots[i].lease_us > g->lease_us)
            g->lease_us = g->boots[i].lease_us;
    if (g->lease_us == 0) g->lease_us = QUORUM_LEASE_MS_DEFAULT * US_PER_MS;
}

static int members_join(struct change *ch)
{
    struct gathering *g = ch->g;
    unsigned flags = REQ_BOOT_JOIN;
    int worst = HF_OK;
    if (g->options.flags & HF_QUORUM_FORCE) flags |= REQ_BOOT_FORCE;
    if (g->options.flags & HF_QUORUM_DURABLE) flags |= REQ_BOOT_DURABLE;
    for (int i = 0; i < g->members.len && worst == HF_OK; i++)
        if (i != ch->place && g->nodes[i].status == HF_OK)
            worst = hf__gathering_ask(g, i, flags);
    /* The new one's quarantine begins when the others know of it. */
    return worst == HF_OK ? hf__gathering_ask(g, ch->place, flags) : worst;
}

static int change_make(struct change *ch)
{
    struct gathering *g = ch->g;
    int is_forced = (g->options.flags & HF_QUORUM_FORCE) != 0;
    if (!is_forced && !old_is_dead(ch)) return g->err.status;
    int status = hf__gathering_open(g);
    if (status == HF_OK) status = hf__gathering_look(g);
    if (is_forced && status == HF_UNAVAILABLE)
        status = majority_is_there(ch, status);
    if (status == HF_OK && !is_forced) status = members_are_fit(ch);
    if (status != HF_OK) return status;
    lease_learn(ch);
    return members_join(ch);
}

int hf_quorum_replace(const char *url, const char *old_url, const char *new_url,
                      const struct hf_quorum_options *options, hf_quorum_fn fn,
                      void *user, struct hf_error *err)
{
    struct hf_quorum_node nodes[NODES_MAX];
    struct gathering g;
    struct change *ch = NULL;
    int status = hf__gathering_begin(&g, options, nodes);
    if (status == HF_OK
        && (!url || !old_url || !new_url || !hf__members_are_in(url)))
        status = hf__error_set(&g.err, HF_INVALID,
                               "quorum: give its URL, the old member and the "
                               "new one");
    if (status == HF_OK) {
        ch = hf__alloc_zero(g.alloc, sizeof *ch);
        if (!ch)
            status = hf__error_set(&g.err, HF_NOMEM, "quorum: out of memory");
    }
    if (ch) {
        ch->g = &g;
        status = change_read(ch, url, old_url, new_url);
    }
    if (ch && status == HF_OK) status = change_make(ch);
    if (ch) hf__members_free(&ch->before, g.alloc);
    hf__free(g.alloc, ch);
    hf__gathering_tell(&g, fn, user);
    return hf__gathering_end(&g, status, err);
}
