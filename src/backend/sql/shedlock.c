/*
 * shedlock.c: see shedlock.h.  One rule: locked_by that this file did not write
 * is another program's, and such a row is changed only when its time is over,
 * or by a break.
 */
#include "backend/sql/shedlock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sql/utf8.h"
#include "base/error.h"
#include "base/math.h"

#define FOREIGN "shedlock" /* the owner of a row of another program */
#define FREE "-"           /* in the owner's place: nobody has had it */
#define MARK "holdfast "

/* ---- the URL ------------------------------------------------------------ */

int hf__sql_shed_option(const struct url *url, int is_session, int *out,
                        struct hf_error *err)
{
    const char *text = hf__url_option(url, "layout");
    *out = text != NULL;
    if (!text) return HF_OK;
    if (strcmp(text, "shedlock") != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: layout: \"%.40s\" is not shedlock", text);
    if (is_session)
        return hf__error_set(err, HF_INVALID,
                             "url: layout: session=on has no table: leave out "
                             "one of them");
    if (hf__url_option(url, SQL_MEMBER_OPTION))
        return hf__error_set(err, HF_INVALID,
                             "url: " SQL_MEMBER_OPTION
                             ": a table of ShedLock is no member of a quorum");
    return HF_OK;
}

/* ---- what is served ----------------------------------------------------- */

static const char *name_fault(const struct request *req)
{
    if (req->name_len > SHED_NAME_MAX)
        return "layout=shedlock: a name has at most 64 bytes, as in ShedLock's "
               "table";
    if (!hf__sql_utf8_is_text(req->name, req->name_len)
        || memchr(req->name, '\0', req->name_len))
        return "layout=shedlock: a name is text in UTF-8";
    return NULL;
}

static int is_served(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
    case VERB_RENEW:
    case VERB_RELEASE:
    case VERB_BREAK:
    case VERB_INSPECT:
        return req->kind == KIND_PLAIN
               && !(req->flags & (REQ_QUEUE | REQ_QUORUM));
    case VERB_LIST:
    case VERB_FACTS:
        return 1;
    default:
        return 0;
    }
}

int hf__sql_shed_refuses(struct sql_job *job)
{
    const struct request *req = job->req;
    int is_named = req->verb != VERB_LIST && req->verb != VERB_FACTS;
    if (!is_served(req)) {
        hf__sql_refuse(job, HF_UNSUPPORTED,
                       "layout=shedlock has plain locks, and nothing else");
        return 1;
    }
    const char *fault = is_named ? name_fault(req) : NULL;
    if (!fault) return 0;
    hf__sql_refuse(job, HF_INVALID, fault);
    return 1;
}

/* ---- the table ---------------------------------------------------------- */

const char *hf__sql_shed_table_fault(const struct shed_table *table,
                                     int *status)
{
    *status = HF_INVALID;
    if (!table->is_there)
        return "the table shedlock is missing: run: holdfast install-schema "
               "URL";
    *status = HF_CONFLICT;
    if (table->columns != 4)
        return "the table shedlock lacks one of the columns name, lock_until, "
               "locked_at, locked_by";
    if (table->times != 2)
        return "lock_until and locked_at of shedlock must be timestamps "
               "without time zone, of milliseconds or finer: timestamp(3)";
    if (table->keys < 1)
        return "the column name of shedlock must be its primary key";
    if (table->by_length < SHED_BY_MAX)
        return "locked_by of shedlock must have room for 255 characters";
    return NULL;
}

/* ---- locked_by ---------------------------------------------------------- */

/* The next word of *at is a number; *is_bad if not. */
static uint64_t number_take(const char **at, int *is_bad)
{
    char *end = NULL;
    const char *from = *at;
    if (from[0] != ' ' || from[1] < '0' || from[1] > '9') {
        *is_bad = 1;
        return 0;
    }
    errno = 0;
    unsigned long long number = strtoull(from + 1, &end, 10);
    if (errno != 0) *is_bad = 1;
    *at = end;
    return number;
}

/* A number that the rules know: not negative, and in range. */
static int64_t count_take(const char **at, int *is_bad)
{
    uint64_t number = number_take(at, is_bad);
    if (number > INT64_MAX / 8) *is_bad = 1;
    return *is_bad ? 0 : (int64_t)number;
}

/* 1: we wrote it, and `p` has what it says, but no times. */
static int by_parse(const char *by, struct cell_plain *p)
{
    int is_bad = 0;
    *p = (struct cell_plain){0};
    if (strncmp(by, MARK, strlen(MARK)) != 0) return 0;
    const char *at = by + strlen(MARK);
    size_t len = strcspn(at, " ");
    if (len == 0 || len >= sizeof p->owner) return 0;
    memcpy(p->owner, at, len);
    at += len;
    p->attempt = number_take(&at, &is_bad);
    p->ballot = count_take(&at, &is_bad);
    p->counter = count_take(&at, &is_bad);
    p->holds = count_take(&at, &is_bad);
    p->flags = (unsigned)count_take(&at, &is_bad) & CELL_DETACHED;
    p->fence = p->counter;
    if (is_bad || (at[0] && at[0] != ' ')) return 0;
    if (at[0]) snprintf(p->info, sizeof p->info, "%s", at + 1);
    return 1;
}

/* The column may be of any character set: printable ASCII is in all of them.
 * Spaces at the end are left out, for a server may take two texts that differ
 * in these for the same. */
static void by_write(const struct cell_plain *p, char by[SHED_BY_MAX + 1])
{
    int head =
        snprintf(by, SHED_BY_MAX + 1,
                 MARK "%s %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %u ",
                 p->owner[0] ? p->owner : FREE, p->attempt, p->ballot,
                 p->counter, p->holds, p->flags & CELL_DETACHED);
    size_t len = (size_t)head, info_len = strlen(p->info);
    if (info_len > SHED_BY_MAX - len) info_len = SHED_BY_MAX - len;
    memcpy(by + len, p->info, info_len);
    len += info_len;
    for (size_t i = 0; i < len; i++)
        if (by[i] < ' ' || by[i] > '~') by[i] = '?';
    while (len > 0 && by[len - 1] == ' ') len--;
    by[len] = '\0';
}

/* ---- reading ------------------------------------------------------------ */

/* A hold of ours that has ended has left its number. */
static void row_read(const struct shed_row *row, int64_t now_us,
                     struct sql_row *out)
{
    struct cell_plain *p = &out->plain;
    int is_held = row->until_us > now_us;
    *out = (struct sql_row){.is_there = row->is_there, .layout = "shedlock"};
    if (!row->is_there) return;
    out->id = row->id;
    out->name = row->name;
    out->name_len = row->name_len;
    out->version = row->until_us + 1; /* 0 means that there is no row */
    int is_ours = by_parse(row->by, p);
    if (is_held && (!is_ours || !strcmp(p->owner, FREE))) {
        *p = (struct cell_plain){.owner = FOREIGN, .holds = 1};
        out->foreign = row->by;
    } else if (!is_held) {
        *p = (struct cell_plain){.counter = p->counter};
    }
    if (!is_held) return;
    p->ends_us = row->until_us;
    p->since_us = max64(row->at_us, 0);
}

static int seen_keep(struct sql_job *job, const struct shed_row *row)
{
    struct cell_bytes *seen = &job->seen;
    const char *by = row->is_there ? row->by : "";
    size_t len = strlen(by) + 1;
    if (seen->room < len) {
        unsigned char *at = hf__realloc(seen->alloc, seen->at, len);
        if (!at) return -1;
        seen->at = at;
        seen->room = len;
    }
    memcpy(seen->at, by, len);
    seen->len = len;
    return 0;
}

void hf__sql_shed_answer(struct sql_job *job, const struct shed_row *row,
                         int64_t now_us)
{
    struct sql_row out;
    row_read(row, now_us, &out);
    /* Nobody says that it waits: some may. */
    out.waits_us = now_us;
    if (seen_keep(job, row) == 0)
        hf__sql_answer_row(job, &out, now_us, NULL);
    else
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
}

void hf__sql_shed_list(struct sql_job *job, const struct shed_row *row,
                       int64_t now_us)
{
    struct sql_row out;
    row_read(row, now_us, &out);
    hf__sql_list_row(job, &out, now_us);
}

/* ---- swapping ----------------------------------------------------------- */

static int64_t whole_ms(int64_t us)
{
    return us / US_PER_MS * US_PER_MS;
}

/* Given back, or broken: the row stays, and still names the last holder if that
 * was one of ours. */
static void next_free(const struct sql_job *job, struct shed_next *next)
{
    struct cell_plain was;
    int64_t now_us = whole_ms(job->reply.node_us);
    if (!by_parse(next->seen, &was)) was = (struct cell_plain){0};
    was.counter = job->next.plain.counter;
    by_write(&was, next->by);
    next->until_us = next->is_new ? now_us : min64(next->seen_us, now_us);
    next->at_us = next->is_new ? now_us : -1;
}

void hf__sql_shed_next(const struct sql_job *job, struct shed_next *next)
{
    const struct sql_row *row = &job->next;
    *next = (struct shed_next){.is_new = row->version == 0,
                               .seen_us = row->version - 1,
                               .seen = (const char *)job->seen.at};
    if (!strcmp(row->plain.owner, FOREIGN)) {
        next->is_nothing = 1; /* no number of ours can be kept there */
    } else if (!row->plain.owner[0]) {
        next_free(job, next);
    } else {
        by_write(&row->plain, next->by);
        next->until_us = row->plain.ends_us;
        next->at_us = whole_ms(row->plain.since_us);
    }
}
