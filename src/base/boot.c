/*
 * boot.c: which nodes may vote.  One rule: nothing here shortens a quarantine
 * but the operator's word.
 */
#include "base/boot.h"

#include <stdio.h>
#include <string.h>

#include "base/url.h"

/* The furthest time that a marker may name; a later one is not believed. */
#define SETTLED_US_MAX (INT64_MAX / 2)

static int is_word(const char *text, size_t len, size_t size)
{
    if (len == 0 || len >= size) return 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~') return 0;
    return 1;
}

static void word_set(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    if (len >= size) len = size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
}

int hf__boot_is_sound(const struct request *req)
{
    return req->name && is_word(req->name, req->name_len, GROUP_MAX)
           && req->lease_us >= US_PER_MS && req->window_us > 0;
}

int hf__boot_wants_locks(const struct request *req)
{
    return (req->flags & (REQ_BOOT_LOOK | REQ_BOOT_NEW))
           && !(req->flags & (REQ_BOOT_UNSURE | REQ_BRIEF));
}

/* How long, if the marker speaks of another lease than the request. */
static int64_t quarantine_us(const struct marker *m, const struct request *req)
{
    int64_t most = req->window_us;
    if (!m->group[0] || m->lease_us == req->lease_us) return most;
    int64_t least =
        most < QUARANTINE_US_MIN ? most : (int64_t)QUARANTINE_US_MIN;
    int64_t its_ms = m->lease_us / US_PER_MS, ms = req->lease_us / US_PER_MS;
    int64_t us =
        (int64_t)((double)most * (double)its_ms / (double)ms) + 10 * US_PER_MS;
    return us > least ? us : least;
}

static int boot_refuse(const char **why, int status, const char *text)
{
    *why = text;
    return status;
}

/* Is its group ours, or the one that ours comes from? */
static int group_is_known(const struct marker *m, const struct request *req)
{
    if (!strcmp(m->group, req->name)) return 1;
    return (req->flags & REQ_BOOT_JOIN) && req->info
           && !strcmp(m->group, req->info);
}

static int boot_check(const struct marker *m, const struct request *req,
                      const struct boot_facts *f, const char **why)
{
    unsigned flags = req->flags;
    if (!hf__boot_is_sound(req))
        return boot_refuse(why, HF_INVALID, "boot: no group, or no lease");
    if (flags & (REQ_BOOT_LOOK | REQ_BOOT_FORCE)) return HF_OK;
    if (flags & REQ_BOOT_NEW) {
        if (m->group[0])
            return boot_refuse(why, HF_CONFLICT,
                               "boot: it is a member of a quorum already");
        if (f->has_locks)
            return boot_refuse(why, HF_CONFLICT,
                               "boot: locks are stored there");
        return HF_OK;
    }
    if (!m->group[0] || group_is_known(m, req)) return HF_OK;
    return boot_refuse(why, HF_CONFLICT,
                       "boot: it is a member of another quorum");
}

/* The writer of the marker did not know that leases may be longer; it was
 * written again since the data was lost, perhaps by a client that could reach
 * no other node. */
static int64_t missing_us(const struct marker *m, const struct request *req)
{
    unsigned other = REQ_BOOT_NEW | REQ_BOOT_JOIN | REQ_BOOT_UNSURE;
    if (!m->group[0] || (req->flags & other)) return 0;
    int64_t us = req->window_us - quarantine_us(m, req);
    return req->lease_us > m->lease_us && us > 0 ? us : 0;
}

/* From when on it votes, for a client that asks now. */
static int64_t settled_us(const struct marker *m, const struct request *req,
                          const struct boot_facts *f)
{
    int64_t more_us = missing_us(m, req);
    int64_t full_us = f->now_us + quarantine_us(m, req) + more_us;
    /* What it does in this life says nothing of what was lost before it. */
    int is_durable = m->is_durable || (m->is_synced && f->is_durable)
                     || (req->flags & REQ_BOOT_DURABLE) != 0;
    if (req->flags & REQ_BOOT_NEW) return f->now_us;
    if (!m->group[0] || (req->flags & REQ_BOOT_STEP)) return full_us;
    if (strcmp(m->identity, f->identity) != 0 && !is_durable) return full_us;
    int64_t from_us = m->settled_us + more_us;
    /* Further away than any quarantine: its clock was set back since. */
    return from_us < full_us ? from_us : full_us;
}

static void marker_begin(struct marker *m, const struct request *req,
                         const struct boot_facts *f, int64_t from_us)
{
    unsigned by_word = REQ_BOOT_NEW | REQ_BOOT_JOIN;
    *m = (struct marker){.settled_us = from_us,
                         .lease_us = req->lease_us,
                         .is_synced = f->is_durable};
    m->is_durable =
        (req->flags & by_word) && (req->flags & REQ_BOOT_DURABLE) != 0;
    word_set(m->group, sizeof m->group, req->name);
    word_set(m->identity, sizeof m->identity,
             f->identity[0] ? f->identity : "-");
}

static void marker_go_on(struct marker *m, const struct request *req,
                         const struct boot_facts *f, int64_t from_us)
{
    int is_blind = !f->identity[0] && !(req->flags & REQ_BOOT_STEP);
    if (is_blind) {
        int64_t us = m->settled_us + missing_us(m, req);
        m->settled_us = us < SETTLED_US_MAX ? us : SETTLED_US_MAX;
    }
    if (m->lease_us < req->lease_us && !(req->flags & REQ_BOOT_UNSURE))
        m->lease_us = req->lease_us;
    if (req->flags & REQ_BOOT_JOIN) {
        word_set(m->group, sizeof m->group, req->name);
        if (req->flags & REQ_BOOT_DURABLE) m->is_durable = 1;
    }
    /* A client that cannot tell one life from the next waits by itself. */
    if (!is_blind) m->settled_us = from_us;
    m->is_synced = f->is_durable;
    if (f->identity[0]) word_set(m->identity, sizeof m->identity, f->identity);
}

static void boot_tell(const struct marker *m, const struct request *req,
                      const struct boot_facts *f, int64_t from_us,
                      struct boot *out)
{
    int64_t left_us = from_us - f->now_us;
    *out = (struct boot){.left_us = left_us > 0 ? left_us : 0,
                         .lease_us = m->group[0] ? m->lease_us : req->lease_us,
                         .is_durable = f->is_durable || m->is_durable,
                         .is_known = f->identity[0] != '\0',
                         .has_locks = f->has_locks};
    word_set(out->identity, sizeof out->identity, f->identity);
    word_set(out->group, sizeof out->group, m->group);
}

int hf__boot_decide(struct marker *m, const struct request *req,
                    const struct boot_facts *f, struct boot *out,
                    const char **why)
{
    int status = boot_check(m, req, f, why);
    if (status != HF_OK) return status;
    int is_new = !m->group[0];
    int looks = (req->flags & REQ_BOOT_LOOK)
                || (is_new && (req->flags & REQ_BOOT_UNSURE));
    /* Forced: a marker of others counts as none. */
    if (!looks && !group_is_known(m, req)) *m = (struct marker){0};
    int64_t from_us = settled_us(m, req, f);
    if (!looks) {
        if (!m->group[0] || (req->flags & REQ_BOOT_NEW))
            marker_begin(m, req, f, from_us);
        else
            marker_go_on(m, req, f, from_us);
    }
    boot_tell(m, req, f, from_us, out);
    out->is_new = is_new;
    return HF_OK;
}

void hf__marker_format(const struct marker *m, char out[MARKER_TEXT_MAX])
{
    snprintf(out, MARKER_TEXT_MAX, "v1 %s %s %lld %lld%s", m->group,
             m->identity, (long long)m->settled_us,
             (long long)(m->lease_us / US_PER_MS),
             m->is_durable  ? " durable"
             : m->is_synced ? " synced"
                            : "");
}

/* The word at `*at`, copied; 0, or -1 if it does not fit or there is none. */
static int word_take(const char **at, char *out, size_t size)
{
    size_t len = strcspn(*at, " ");
    if (!is_word(*at, len, size)) return -1;
    memcpy(out, *at, len);
    out[len] = '\0';
    *at += len;
    if (**at == ' ') ++*at;
    return 0;
}

static int number_take(const char **at, int64_t max, int64_t *out)
{
    char digits[24];
    if (word_take(at, digits, sizeof digits) != 0) return -1;
    return hf__number_parse(digits, 0, max, out);
}

int hf__marker_parse(const char *text, struct marker *m)
{
    char version[4];
    int64_t lease_ms;
    *m = (struct marker){0};
    if (word_take(&text, version, sizeof version) || strcmp(version, "v1") != 0
        || word_take(&text, m->group, sizeof m->group)
        || word_take(&text, m->identity, sizeof m->identity)
        || number_take(&text, SETTLED_US_MAX, &m->settled_us)
        || number_take(&text, TIME_OPTION_MS_MAX, &lease_ms)
        || (*text && strcmp(text, "durable") && strcmp(text, "synced"))) {
        *m = (struct marker){0};
        return -1;
    }
    m->lease_us = lease_ms * US_PER_MS;
    m->is_durable = *text == 'd';
    m->is_synced = *text == 's';
    return 0;
}

/* "v1 <hash>-<members> ..." */
int hf__marker_members(const char *text)
{
    char version[4], group[GROUP_MAX];
    int64_t members;
    if (!text || word_take(&text, version, sizeof version)
        || strcmp(version, "v1") != 0 || word_take(&text, group, sizeof group))
        return 0;
    const char *dash = strrchr(group, '-');
    int is_marker =
        dash && hf__number_parse(dash + 1, 1, NODES_MAX, &members) == 0;
    return is_marker ? (int)members : 0;
}

int hf__boot_is_bypass(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
        return 1;
    case VERB_RENEW:
        return (req->flags & REQ_ATTACH) != 0;
    case VERB_TALLY:
        return req->tally != TALLY_READ;
    default:
        return 0;
    }
}
