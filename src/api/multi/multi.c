/*
 * multi.c: sets of locks: their life, their order.
 *
 * The rule: a set is never changed once it is made, so that any number of calls
 * may use it at the same time.
 */
#include "api/multi/multi.h"

#include <string.h>

#include "api/client/object.h"
#include "base/error.h"
#include "engine/locks.h"

/* ---- the fixed order ----------------------------------------------------- */

static int bytes_compare(const char *a, size_t a_len, const char *b,
                         size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    if (order == 0 && a_len != b_len) order = a_len < b_len ? -1 : 1;
    return order;
}

/* The part of the URL that says where a lock is stored: options do not. */
static size_t store_len(const char *url)
{
    return strcspn(url, "?");
}

/* One option does: db=, the database of a server that is reached by a socket.
 * Returns the length of its value; 0 for the first database. */
static size_t database_find(const char *url, const char **out)
{
    const char *at = url + store_len(url);
    *out = "";
    while (*at && strncmp(at + 1, "db=", 3) != 0)
        at += 1 + strcspn(at + 1, "&");
    if (!*at) return 0;
    *out = at + 4;
    size_t len = strcspn(*out, "&#");
    return len == 1 && **out == '0' ? 0 : len;
}

static int database_compare(const char *a_url, const char *b_url)
{
    const char *a, *b;
    size_t a_len = database_find(a_url, &a), b_len = database_find(b_url, &b);
    return bytes_compare(a, a_len, b, b_len);
}

static int lock_compare(const hf_lock *a, const hf_lock *b)
{
    const char *a_url = a->client->url, *b_url = b->client->url;
    int order = bytes_compare(a_url, store_len(a_url), b_url, store_len(b_url));
    if (order == 0)
        order = bytes_compare(a->entry->name, a->entry->name_len,
                              b->entry->name, b->entry->name_len);
    if (order == 0) order = database_compare(a_url, b_url);
    /* In a list of members the first "?" is not the end: other members follow
     * it. */
    if (order == 0 && strchr(a_url, '|')) order = strcmp(a_url, b_url);
    return order;
}

static void locks_sort(hf_multi *m, hf_lock *const *given)
{
    for (size_t i = 0; i < m->len; i++) {
        size_t at = i;
        while (at > 0 && lock_compare(m->locks[at - 1], given[i]) > 0) {
            m->locks[at] = m->locks[at - 1];
            m->given[at] = m->given[at - 1];
            at--;
        }
        m->locks[at] = given[i];
        m->given[at] = i;
    }
}

/* ---- life ---------------------------------------------------------------- */

static int locks_check(hf_lock *const *locks, size_t len, struct hf_error *err)
{
    if (len < 1 || len > HF_MULTI_MAX)
        return hf__error_set(err, HF_INVALID,
                             "set of locks: %zu of them: 1 to %d are allowed",
                             len, HF_MULTI_MAX);
    for (size_t i = 0; i < len; i++) {
        int status = hf__client_check(locks[i]->client, err);
        if (status != HF_OK) return status;
    }
    return HF_OK;
}

/* The locks are sorted, so equal ones are neighbours. */
static int twins_check(const hf_multi *m, struct hf_error *err)
{
    for (size_t i = 1; i < m->len; i++)
        if (lock_compare(m->locks[i - 1], m->locks[i]) == 0)
            return hf__error_set(
                err, HF_INVALID,
                "lock %.150s: twice in one set of locks: each name "
                "once per store",
                m->locks[i]->entry->name);
    return HF_OK;
}

int hf_multi_open(hf_lock *const *locks, size_t len, hf_multi **out,
                  struct hf_error *err)
{
    int status = locks_check(locks, len, err);
    if (status != HF_OK) return status;
    hf_client *client = locks[0]->client;
    struct allocator alloc = client->alloc;
    hf_multi *m = hf__alloc(&alloc, sizeof *m);
    if (!m) return hf__error_set(err, HF_NOMEM, "set of locks: out of memory");
    m->client = client;
    m->len = len;
    locks_sort(m, locks);
    status = twins_check(m, err);
    if (status != HF_OK) {
        hf__free(&alloc, m);
        return status;
    }
    hf__object_add(client, &m->object);
    *out = m;
    return HF_OK;
}

void hf_multi_close(hf_multi *m)
{
    if (!m || m->client->pump.forked) return;
    hf__object_remove(m->client, &m->object);
    hf__free(&m->client->alloc, m);
}

int hf__multi_check(const hf_multi *m, struct hf_error *err)
{
    for (size_t i = 0; i < m->len; i++) {
        int status = hf__client_check(m->locks[i]->client, err);
        if (status != HF_OK) return status;
    }
    return HF_OK;
}
