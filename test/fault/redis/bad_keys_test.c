/*
 * bad_keys_test.c: what others do to the keys of a lock, in both formats.  One
 * rule: whatever is found there, the caller gets a status and an error text,
 * and nothing that is not ours is changed.
 */
#include <string.h>
#include <strings.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define JAVA "99999999-89ab-4def-8123-456789abcdef:31"
#define FORMATS 3

static const char *const formats[FORMATS] = {"", "?format=string",
                                             "?format=string&fence=off"};
static struct lab_server r;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

static hf_client *client_of(int format, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[160];
    o.lease_ms = lease_ms;
    snprintf(url, sizeof url, "%s%s", r.url, formats[format]);
    return rig_client_at(url, &o);
}

/* ---- other types -------------------------------------------------------- */

static void conflicts(int format, const char *make, const char *word)
{
    struct hf_error err = {0};
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "%s", make);
    hf_client *c = client_of(format, 0);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_CONFLICT);
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_CONFLICT);
    if (!strstr(err.text, word))
        TEST_FAIL("%s, %s: %s", formats[format], make, err.text);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS a"), 1);
    CHECK_INT(redis_number(&r, "PTTL a"), -1);
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
    rig_close(c);
}

TEST(bad_keys, another_type_under_the_name_is_a_conflict_and_stays)
{
    begin();
    for (int i = 0; i < FORMATS; i++) {
        conflicts(i, "RPUSH a x", "no lock is stored there");
        conflicts(i, "SADD a x", "no lock is stored there");
        conflicts(i, "ZADD a 1 x", "no lock is stored there");
        conflicts(i, "XADD a * k v", "no lock is stored there");
    }
}

TEST(bad_keys, a_string_without_an_expiry_is_a_conflict_and_stays)
{
    begin();
    conflicts(0, "SET a precious", "no lock is stored there");
    conflicts(1, "SET a precious", "a string without an expiry is stored");
    conflicts(2, "SET a precious", "a string without an expiry is stored");
}

TEST(bad_keys, a_hash_that_is_no_lock_is_a_conflict_and_stays)
{
    begin();
    for (int i = 0; i < FORMATS; i++)
        conflicts(i, "HSET a name Ann", "no lock is stored there");
}

TEST(bad_keys, a_string_lock_of_another_library_keeps_the_hash_format_out)
{
    begin();
    redis_say(&r, "SET a some-librarys-token PX 60000");
    hf_lock *l = rig_lock(client_of(0, 0), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_CONFLICT);
    CHECK_STR(redis_say(&r, "GET a"), "some-librarys-token");
}

/* ---- holds without an end ----------------------------------------------- */

TEST(bad_keys, a_hold_without_an_expiry_is_told_and_can_be_broken)
{
    begin();
    for (int i = 0; i < FORMATS; i++) {
        struct hf_acquire_options o = rig_options(1000, 0, 0);
        struct hf_error err = {0};
        int64_t ttl_ms = 0;
        redis_say(&r, "FLUSHALL");
        redis_say(&r, "HSET a " JAVA " 1");
        hf_client *c = client_of(i, 0);
        hf_lock *l = rig_lock(c, "a");
        CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_TIMEOUT);
        CHECK(strstr(err.text, "has no expiry") != NULL);
        CHECK(strstr(err.text, "break") != NULL);
        CHECK_INT(hf_lock_try(l, NULL, &err), HF_TAKEN);
        CHECK(strstr(err.text, "has no expiry") != NULL);
        CHECK_INT(hf_lock_ttl_ms(l, &ttl_ms, NULL), HF_OK);
        CHECK_INT(ttl_ms, -1);
        CHECK_INT(redis_number(&r, "HLEN a"), 1);
        CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        rig_close(c);
    }
}

/* The next hold has an expiry: the error text about the last one is not
 * repeated. */
TEST(bad_keys, a_hold_with_an_expiry_is_not_told_as_one_without)
{
    struct hf_error err = {0};
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    redis_say(&r, "PEXPIRE a 60000");
    hf_lock *l = rig_lock(client_of(0, 0), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_TAKEN);
    CHECK(strstr(err.text, "expiry") == NULL);
}

struct waiter {
    hf_lock *lock;
    int status;
    atomic_int done;
};

static void waiter_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, RIG_WAIT_MS, NULL);
    hf_lock_release(w->lock, NULL, NULL);
    atomic_store(&w->done, 1);
}

static void waiter_start(struct waiter *w, hf_lock *lock)
{
    w->lock = lock;
    w->status = -1;
    atomic_store(&w->done, 0);
    rig_spawn(waiter_run, w);
}

TEST(bad_keys, a_hold_without_an_expiry_that_goes_silently_is_noticed)
{
    static struct waiter w;
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    waiter_start(&w, rig_lock(client_of(0, 0), "a"));
    rig_pause_ms(300);
    CHECK_INT(atomic_load(&w.done), 0);
    redis_say(&r, "DEL a");
    CHECK(rig_until_equal(&w.done, 1));
    CHECK_INT(w.status, HF_OK);
}

/* Before 2.7.0 Redisson used another channel: its release wakes no waiter of
 * ours. */
TEST(bad_keys, an_old_redisson_costs_at_most_its_holders_remaining_time)
{
    static struct waiter w;
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    redis_say(&r, "PEXPIRE a 3000");
    waiter_start(&w, rig_lock(client_of(0, 0), "a"));
    rig_pause_ms(300);
    redis_say(&r, "DEL a");
    redis_say(&r, "PUBLISH redisson_lock__channel__{a} 0");
    CHECK(rig_until_equal(&w.done, 1));
    CHECK_INT(w.status, HF_OK);
}

TEST(bad_keys, a_silent_string_holder_is_looked_at_again_and_again)
{
    static struct waiter w;
    begin();
    for (int i = 1; i < FORMATS; i++) {
        redis_say(&r, "SET a some-librarys-token PX 600000");
        waiter_start(&w, rig_lock(client_of(i, 0), "a"));
        rig_pause_ms(300);
        redis_say(&r, "DEL a"); /* and no message */
        CHECK(rig_until_equal(&w.done, 1));
        CHECK_INT(w.status, HF_OK);
        rig_join();
    }
}

/* ---- keys that go under a holder ---------------------------------------- */

#define LEASE_MS 6000
#define RENEWAL_MS 2000 /* every third of it */

enum { DELETED, RENAMED, OVERWRITTEN, RETYPED, GRABBED, ACTS };

static void keys_spoil(void)
{
    redis_say(&r, "DEL %d", DELETED);
    redis_say(&r, "RENAME %d elsewhere", RENAMED);
    redis_say(&r, "SET %d precious", OVERWRITTEN);
    redis_say(&r, "DEL %d", RETYPED);
    redis_say(&r, "RPUSH %d x", RETYPED);
    redis_say(&r, "DEL %d", GRABBED);
    redis_say(&r, "HSET %d " JAVA " 1", GRABBED);
}

/* By somebody else's lock, or by what is no lock at all. */
static int is_taken(int status)
{
    return status == HF_LOST || status == HF_CONFLICT;
}

TEST(bad_keys, that_vanish_under_a_holder_are_told_with_the_next_renewal)
{
    begin();
    for (int i = 0; i < FORMATS; i++) {
        hf_lock *l[ACTS];
        char name[8];
        redis_say(&r, "FLUSHALL");
        hf_client *c = client_of(i, LEASE_MS);
        for (int k = 0; k < ACTS; k++) {
            snprintf(name, sizeof name, "%d", k);
            l[k] = rig_lock(c, name);
            CHECK_INT(hf_lock_try(l[k], NULL, NULL), HF_OK);
        }
        int64_t began_ms = rig_now_ms();
        keys_spoil();
        for (int k = 0; k < ACTS; k++)
            CHECK(rig_until_state(l[k], 0, HF_STATE_LOST));
        /* Generous, and yet long before the deadline. */
        CHECK(rig_now_ms() - began_ms < RENEWAL_MS + 2500);
        CHECK_INT(hf_lock_release(l[DELETED], NULL, NULL), HF_EXPIRED);
        CHECK_INT(hf_lock_release(l[RENAMED], NULL, NULL), HF_EXPIRED);
        CHECK(is_taken(hf_lock_release(l[OVERWRITTEN], NULL, NULL)));
        CHECK(is_taken(hf_lock_release(l[RETYPED], NULL, NULL)));
        CHECK(is_taken(hf_lock_release(l[GRABBED], NULL, NULL)));
        CHECK_STR(redis_say(&r, "GET %d", OVERWRITTEN), "precious");
        CHECK_INT(redis_number(&r, "LLEN %d", RETYPED), 1);
        CHECK_INT(redis_number(&r, "HLEN %d", GRABBED), 1);
        rig_close(c);
    }
}

TEST(bad_keys, that_are_evicted_under_a_holder_are_told)
{
    begin();
    for (int i = 0; i < FORMATS; i++) {
        hf_client *c = client_of(i, 1500);
        hf_lock *l = rig_lock(c, "a");
        CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
        redis_say(&r, "CONFIG SET maxmemory-policy allkeys-random");
        redis_say(&r, "CONFIG SET maxmemory 1");
        redis_say(&r, "SET other x"); /* makes room first */
        CHECK(redis_info(&r, "evicted_keys") > 0);
        redis_say(&r, "CONFIG SET maxmemory 0");
        CHECK_INT(redis_number(&r, "EXISTS a"), 0);
        CHECK(rig_until_state(l, 0, HF_STATE_LOST));
        CHECK_INT(hf_lock_release(l, NULL, NULL), HF_EXPIRED);
        CHECK_INT(rig_probe(l), HF_OK);
        rig_close(c);
    }
}

/* ---- names -------------------------------------------------------------- */

static const char *const names[] = {
    "{a",
    "a}",
    "{}",
    "a{b}c{d}",
    "}{",
    "two words",
    "it's \"so\"",
    "line\nbreak",
    "tab\tcr\r\n",
    "\xff\xfe\x80",
    "na\xc3\xafve",
    "*",
    "[a-z]?",
    "\\",
    "$0 ; FLUSHALL",
    "hf1:a:b",
    " ",
};
#define NAMES (sizeof names / sizeof names[0])

struct search {
    const char *name;
    int found;
};

static int row_look(const struct hf_list_row *row, void *user)
{
    struct search *s = user;
    if (row->name_len == strlen(s->name)
        && !memcmp(row->name, s->name, row->name_len))
        s->found++;
    return 0;
}

/* Held, seen, waited for, handed over by a message, and gone again. */
static void name_works(hf_client *c, hf_client *d, const char *name)
{
    static struct waiter w;
    struct search s = {name, 0};
    int64_t keys = redis_number(&r, "DBSIZE");
    hf_lock *l = rig_lock(c, name), *other = rig_lock(d, name);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_client_list(d, NULL, row_look, &s, NULL), HF_OK);
    CHECK_INT(s.found, 1);
    waiter_start(&w, other);
    rig_pause_ms(20);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(redis_number(&r, "DBSIZE") <= keys + 1); /* its counter, or none */
}

TEST(bad_keys, every_name_works_in_both_formats)
{
    begin();
    for (int i = 0; i < FORMATS; i++) {
        redis_say(&r, "FLUSHALL");
        hf_client *c = client_of(i, 0), *d = client_of(i, 0);
        for (size_t k = 0; k < NAMES; k++) name_works(c, d, names[k]);
        CHECK(redis_number(&r, "DBSIZE") <= (int64_t)NAMES);
    }
}
