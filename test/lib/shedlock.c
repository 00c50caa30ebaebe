/*
 * shedlock.c: see shedlock.h.  One rule: leases are long where nothing is to
 * end, and what is to end is set to have ended.
 */
#include "lib/shedlock.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/refused.h"
#include "lib/rig.h"

#define HOUR_US INT64_C(3600000000)
#define HOUR_MS 3600000
#define HOST "app-7f9c"
#define TURNS 40
#define SQL_MAX 1024

/* %1$s is the holder, %2$lld a time in microseconds. */
struct dialect {
    const char *kind;
    const char *lock, *extend, *unlock; /* the number of rows that it changed */
    const char *row;
    const char *back; /* lock_until lies so far in the past */
};

#define PG_NOW "timezone('utc', CURRENT_TIMESTAMP)"
#define PG_US "(%2$lld * interval '1 microsecond')"
#define PG_COUNT(change)                                                       \
    "WITH u AS (" change " RETURNING 1) SELECT count(*) FROM u"
#define MY_NOW "UTC_TIMESTAMP(3)"
#define MY_UNTIL "TIMESTAMPADD(MICROSECOND, %2$lld, " MY_NOW ")"

static const struct dialect dialects[] = {
    {.kind = "postgres",
     .lock = PG_COUNT(
         "INSERT INTO shedlock (name, lock_until, locked_at, locked_by)"
         " VALUES ('a', " PG_NOW " + " PG_US ", " PG_NOW ", '%1$s')"
         " ON CONFLICT (name) DO UPDATE SET lock_until = " PG_NOW " + " PG_US
         ", locked_at = " PG_NOW ", locked_by = '%1$s'"
         " WHERE shedlock.lock_until <= " PG_NOW),
     .extend = PG_COUNT("UPDATE shedlock SET lock_until = " PG_NOW " + " PG_US
                        " WHERE name = 'a' AND locked_by = '%1$s'"
                        " AND lock_until > " PG_NOW),
     .unlock =
         PG_COUNT("UPDATE shedlock SET lock_until = greatest(locked_at + " PG_US
                  ", " PG_NOW ") WHERE name = 'a' AND locked_by = '%1$s'"),
     .row = "SELECT (lock_until > " PG_NOW ")::int, locked_by FROM shedlock"
            " WHERE name = 'a'",
     .back = PG_COUNT("UPDATE shedlock SET lock_until = " PG_NOW " - " PG_US
                      " WHERE name = 'a' AND '%1$s' <> ''")},
    {.kind = "mysql",
     .lock = "INSERT IGNORE INTO shedlock (name, lock_until, locked_at,"
             " locked_by) VALUES ('a', " MY_UNTIL ", " MY_NOW ", '%1$s');"
             "SET @made = ROW_COUNT();"
             "UPDATE shedlock SET lock_until = " MY_UNTIL ", locked_at"
             " = " MY_NOW ", locked_by = '%1$s' WHERE name = 'a'"
             " AND lock_until <= " MY_NOW ";"
             "SELECT @made + ROW_COUNT()",
     .extend = "UPDATE shedlock SET lock_until = " MY_UNTIL
               " WHERE name = 'a' AND locked_by = '%1$s'"
               " AND lock_until > " MY_NOW "; SELECT ROW_COUNT()",
     .unlock = "UPDATE shedlock SET lock_until = GREATEST("
               "TIMESTAMPADD(MICROSECOND, %2$lld, locked_at), " MY_NOW
               ") WHERE name = 'a' AND locked_by = '%1$s';"
               "SELECT ROW_COUNT()",
     .row = "SELECT lock_until > " MY_NOW ", locked_by FROM shedlock"
            " WHERE name = 'a'",
     .back = "UPDATE shedlock SET lock_until ="
             " TIMESTAMPADD(MICROSECOND, -%2$lld, " MY_NOW ")"
             " WHERE name = 'a' AND '%1$s' <> ''; SELECT ROW_COUNT()"},
};

/* ---- ShedLock ----------------------------------------------------------- */

static const struct dialect *dialect_of(const struct database *d)
{
    const struct dialect *p = dialects;
    while (strcmp(p->kind, d->kind) != 0) p++;
    return p;
}

/* Rows that the statement has changed. */
static int play(const struct database *d, const char *format, const char *by,
                int64_t us)
{
    char sql[SQL_MAX];
    int len = snprintf(sql, sizeof sql, format, by, (long long)us);
    CHECK(len > 0 && (size_t)len < sizeof sql);
    const char *said = d->ask(sql);
    if (strcmp(said, "0") && strcmp(said, "1")) TEST_FAIL("%s: %s", sql, said);
    return said[0] == '1';
}

static int shed_lock(const struct database *d)
{
    return play(d, dialect_of(d)->lock, HOST, HOUR_US);
}

static int shed_unlock(const struct database *d, int64_t least_us)
{
    return play(d, dialect_of(d)->unlock, HOST, least_us);
}

const char *shed_row(const struct database *d)
{
    return d->ask(dialect_of(d)->row);
}

/* ---- holdfast ----------------------------------------------------------- */

static void begin(const struct database *d)
{
    char kind[32];
    snprintf(kind, sizeof kind, "%s-shedlock", d->kind);
    rig_begin_on(kind);
}

static hf_hold *hold_of(hf_lock *l)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, HOUR_MS, 0);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    return g;
}

void shed_excludes_and_is_excluded(const struct database *d)
{
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g = hold_of(l);
    CHECK_INT(hf_hold_fence(g), 0);
    CHECK_INT(shed_lock(d), 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(shed_lock(d), 1);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(play(d, dialect_of(d)->extend, HOST, 2 * HOUR_US), 1);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(shed_unlock(d, 0), 1);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

void shed_least_time_is_waited_for(const struct database *d)
{
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(shed_lock(d), 1);
    CHECK_INT(shed_unlock(d, HOUR_US / 2), 1);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(shed_unlock(d, 1), 1); /* the least time is over */
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

void shed_end_frees_it_and_a_late_unlock_does_not(const struct database *d)
{
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(shed_lock(d), 1);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(play(d, dialect_of(d)->back, HOST, 1000), 1);
    hf_hold *g = hold_of(l);
    CHECK_INT(play(d, dialect_of(d)->extend, HOST, HOUR_US), 0);
    CHECK_INT(shed_unlock(d, 0), 0);
    CHECK_INT(shed_lock(d), 0);
    CHECK_INT(hf_hold_extend(g, HOUR_MS, NULL), HF_OK);
}

static int64_t ttl_ms(hf_lock *l)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_STR(info.layout, "shedlock");
    CHECK_INT(info.foreign, 0);
    return info.ttl_ms;
}

void shed_hold_moves_the_end_and_leaves_the_row(const struct database *d)
{
    char was[SQL_MAX];
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g = hold_of(l);
    CHECK(ttl_ms(l) <= HOUR_MS);
    CHECK_INT(hf_hold_extend(g, 5 * HOUR_MS, NULL), HF_OK);
    CHECK(ttl_ms(l) > 4 * HOUR_MS);
    CHECK(!strncmp(shed_row(d), "1|holdfast ", 11));
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(!strncmp(shed_row(d), "0|holdfast ", 11));
    snprintf(was, sizeof was, "%s", shed_row(d));
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK(strcmp(shed_row(d), was) != 0); /* a late copy does not know it */
}

static void row_see(const struct hf_info *info)
{
    CHECK_INT(info->locked, 1);
    CHECK_INT(info->foreign, 1);
    CHECK_STR(info->owner, HOST);
    CHECK_STR(info->host, HOST);
    CHECK_STR(info->layout, "shedlock");
    CHECK(info->ttl_ms > 0 && info->ttl_ms <= HOUR_MS);
    CHECK(info->since_ms > 0 && info->since_ms <= info->now_ms);
}

static int row_count(const struct hf_list_row *row, void *user)
{
    CHECK_INT(row->name_len, 1);
    CHECK_STR(row->name, "a");
    row_see(row->info);
    ++*(int *)user;
    return 0;
}

void shed_holder_is_shown_listed_and_broken(const struct database *d)
{
    struct hf_info info = HF_INFO_INIT;
    int count = 0, was_locked = 0;
    begin(d);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(shed_lock(d), 1);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    row_see(&info);
    CHECK_INT(hf_client_list(c, NULL, row_count, &count, NULL), HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_INT(shed_unlock(d, 0), 0);
    CHECK_INT(hf_client_list(c, NULL, row_count, &count, NULL), HF_OK);
    CHECK_INT(count, 1);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* Its own end is not its holder's word: the row is another's by then. */
void shed_release_of_what_another_has_changes_nothing(const struct database *d)
{
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_hold *g = hold_of(l);
    CHECK_INT(play(d, dialect_of(d)->back, HOST, 1000), 1);
    CHECK_INT(shed_lock(d), 1);
    CHECK_INT(hf_hold_release(g, NULL) == HF_OK, 0);
    CHECK_STR(shed_row(d), "1|" HOST);
    CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_STR(shed_row(d), "1|" HOST);
}

/* Whatever begins like a text of ours, and is none, is another's. */
void shed_texts_of_others_are_foreign(const struct database *d)
{
    static const char *const texts[] = {
        "",
        "holdfast",
        "holdfast ",
        "holdfast x",
        "holdfast - 0 0 9 0 0",
        "holdfast x 1 2 3",
        "holdfast x 1 2 3 4 -5",
        "holdfast x 1 2 3 4 5tail",
        "holdfast x 99999999999999999999 2 3 4 5",
        "holdfast x 1 9223372036854775807 3 4 5",
        "HOLDFAST x 1 2 3 4 5"};
    struct hf_info info = HF_INFO_INIT;
    begin(d);
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK_INT(play(d, dialect_of(d)->lock, texts[i], HOUR_US), 1);
        CHECK_INT(rig_acquire(l, 0, RIG_TRY, NULL), HF_TAKEN);
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
        CHECK_INT(info.foreign, 1);
        CHECK_STR(info.owner, texts[i]);
        CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
        CHECK_INT(rig_probe(l), HF_OK);
    }
}

/* ---- taking turns ------------------------------------------------------- */

static struct {
    atomic_int inside; /* 1: somebody has it */
    atomic_int overlaps;
    int count; /* changed by the holder only */
} turns;

static void turn_take(void)
{
    if (atomic_fetch_add(&turns.inside, 1) != 0)
        atomic_fetch_add(&turns.overlaps, 1);
    int count = turns.count;
    rig_pause_ms(1);
    turns.count = count + 1;
    atomic_fetch_sub(&turns.inside, 1);
}

static void *turns_run(void *arg)
{
    hf_lock *l = arg;
    for (int i = 0; i < TURNS; i++) {
        if (rig_acquire(l, 0, RIG_WAIT_MS, NULL) != HF_OK) break;
        turn_take();
        if (hf_lock_release(l, NULL, NULL) != HF_OK) break;
    }
    return NULL;
}

void shed_turns_are_counted_exactly(const struct database *d)
{
    pthread_t threads[2];
    begin(d);
    memset(&turns, 0, sizeof turns);
    for (int i = 0; i < 2; i++) {
        hf_lock *l = rig_lock(rig_client(NULL), "a");
        CHECK_INT(pthread_create(&threads[i], NULL, turns_run, l), 0);
    }
    for (int i = 0; i < TURNS; i++) {
        for (int left = RIG_WAIT_MS; !shed_lock(d); left--) {
            CHECK(left > 0);
            rig_pause_ms(1);
        }
        turn_take();
        CHECK_INT(shed_unlock(d, 0), 1);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK_INT(atomic_load(&turns.overlaps), 0);
    CHECK_INT(turns.count, 3 * TURNS);
}

/* ---- refused ------------------------------------------------------------ */

void shed_has_plain_locks_only(const struct database *d)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    hf_lock *l = NULL;
    char quorum[256];
    begin(d);
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_client_caps(c),
              HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_BREAK | HF_CAP_LIST);
    o.kind = HF_KIND_WRITE;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, NULL), HF_UNSUPPORTED);
    o.kind = HF_KIND_PLAIN;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, NULL), HF_UNSUPPORTED);
    CHECK_STR(shed_row(d), "");
    snprintf(quorum, sizeof quorum, "quorum:%.200s|memory:x", rig_url());
    struct hf_error err = {0};
    CHECK_INT(hf_client_open(quorum, NULL, &c, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "cannot be a member of a quorum") != NULL);
}

static void name_is_refused(hf_client *c, const char *name, const char *words)
{
    struct hf_error err = {0};
    CHECK_INT(hf_lock_try(rig_lock(c, name), NULL, &err), HF_INVALID);
    if (!strstr(err.text, words)) TEST_FAIL("%s: %s", words, err.text);
}

void shed_names_are_short_text(const struct database *d)
{
    char name[SQL_MAX];
    begin(d);
    hf_client *c = rig_client(NULL);
    memset(name, 'x', sizeof name);
    name[65] = '\0';
    name_is_refused(c, name, "at most 64 bytes");
    name_is_refused(c, "\xff\xfe", "text in UTF-8");
    CHECK_STR(d->ask("SELECT count(*) FROM shedlock"), "0");
    name[64] = '\0';
    CHECK_INT(rig_probe(rig_lock(c, name)), HF_OK);
    CHECK_INT(rig_probe(rig_lock(c, "k\xc3\xb6nig")), HF_OK);
}

const char *shed_server(const struct database *d)
{
    static char url[256];
    rig_begin_at(d->begin());
    snprintf(url, sizeof url, "%.200s?layout=shedlock", rig_url());
    return url;
}

void shed_table_is_refused(const struct database *d, const char *url,
                           const char *columns, int status, const char *words)
{
    char sql[SQL_MAX];
    snprintf(sql, sizeof sql, "DROP TABLE IF EXISTS shedlock;%s%s%s",
             columns ? "CREATE TABLE shedlock (" : "", columns ? columns : "",
             columns ? ")" : "");
    CHECK_STR(d->say(sql), "");
    url_is_refused(url, status, words);
    if (columns) CHECK_STR(d->say("SELECT count(*) FROM shedlock"), "0");
}
