/*
 * election/record.c: what a leader publishes, as text.  Pure.
 *
 * The rule: text that is not exactly such a record is refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/election/election.h"

size_t hf__election_format(const struct election_record *r, char *out)
{
    int n = snprintf(out, ELECTION_HEAD_MAX, "v1 %" PRIu64 " %s\n", r->fence,
                     r->owner);
    return (size_t)n;
}

/* Parse digits and the blank behind them.  Returns where the next word begins,
 * or NULL. */
static const char *fence_parse(const char *p, const char *end, uint64_t *out)
{
    const char *first = p;
    uint64_t n = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > (UINT64_MAX - digit) / 10) return NULL;
        n = n * 10 + digit;
    }
    if (p == first || p == end || *p != ' ') return NULL;
    *out = n;
    return p + 1;
}

int hf__election_parse(const char *text, size_t len, struct election_record *r)
{
    const char *end = text + len;
    memset(r, 0, sizeof *r);
    if (len < 3 || memcmp(text, "v1 ", 3) != 0) return -1;
    uint64_t fence;
    const char *owner = fence_parse(text + 3, end, &fence);
    const char *line =
        owner ? memchr(owner, '\n', (size_t)(end - owner)) : NULL;
    size_t owner_len = line ? (size_t)(line - owner) : 0;
    if (owner_len == 0 || owner_len >= sizeof r->owner
        || memchr(owner, '\0', owner_len))
        return -1;
    r->fence = fence;
    memcpy(r->owner, owner, owner_len);
    r->head_len = (size_t)(line + 1 - text);
    return 0;
}

void hf__election_key(const char *name, char *out)
{
    /* The lock and its record are in one hash slot, as in hf__once_key(). */
    if (strchr(name, '{'))
        snprintf(out, NAME_LEN_MAX + 1, "holdfast_elect_tagged:%s", name);
    else
        snprintf(out, NAME_LEN_MAX + 1, "holdfast_elect:{%s}", name);
}
