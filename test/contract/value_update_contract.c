/*
 * value_update_contract.c: read, compute, write, and again.  One rule: no
 * update is lost, and none goes on for ever.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rig_started.h"

static void put(hf_client *c, const char *key, const char *text)
{
    CHECK_INT(
        hf_value_write(c, key, HF_VALUE_ANY, text, strlen(text), 0, NULL, NULL),
        HF_OK);
}

/* Read it and compare; NULL: there is none. */
static void holds(hf_client *c, const char *key, const char *text)
{
    char found[64];
    struct hf_value v = HF_VALUE_INIT;
    CHECK_INT(hf_value_read(c, key, &v, NULL), HF_OK);
    int is_there = v.version != 0;
    snprintf(found, sizeof found, "%s", v.data ? v.data : "");
    hf_value_free(c, &v);
    CHECK_INT(is_there, text != NULL);
    if (text) CHECK_STR(found, text);
}

#define ADDERS 8
#define ADDS 50

struct sum {
    hf_client *client;
    atomic_int failed;
};

/* Each thread has its own buffer: the function may run on several at once. */
static int add_one(const struct hf_value *now, struct hf_value_next *next,
                   void *user)
{
    char *text = user;
    long n = now->data ? strtol(now->data, NULL, 10) : 0;
    snprintf(text, 32, "%ld", n + 1);
    next->data = text;
    next->len = strlen(text);
    return 0;
}

static void adder(void *arg)
{
    struct sum *s = arg;
    char text[32];
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    o.wait_ms = 120000;
    for (int i = 0; i < ADDS; i++)
        if (hf_value_update(s->client, "n", add_one, text, &o, NULL, NULL))
            atomic_fetch_add(&s->failed, 1);
}

TEST(value_update, by_many_threads_of_two_clients_loses_nothing)
{
    static struct sum sums[2];
    memset(sums, 0, sizeof sums);
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int i = 0; i < 2; i++) sums[i].client = rig_client(NULL);
    for (int i = 0; i < ADDERS; i++) rig_spawn(adder, &sums[i % 2]);
    rig_join();
    CHECK_INT(atomic_load(&sums[0].failed) + atomic_load(&sums[1].failed), 0);
    holds(sums[0].client, "n", "400");
}

struct spoiler {
    hf_client *client;
    int calls;
};

/* Somebody else is faster, every time. */
static int spoil(const struct hf_value *now, struct hf_value_next *next,
                 void *user)
{
    struct spoiler *s = user;
    (void)now;
    s->calls++;
    next->data = "mine";
    next->len = 4;
    return hf_value_write(s->client, "a", HF_VALUE_ANY, "new", 3, 0, NULL,
                          NULL);
}

TEST(value_update, gives_up_after_its_tries)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct spoiler s = {rig_client(NULL), 0};
    o.tries = 3;
    CHECK_INT(hf_value_update(c, "a", spoil, &s, &o, NULL, NULL), HF_CHANGED);
    CHECK_INT(s.calls, 3);
    holds(c, "a", "new");
}

TEST(value_update, refuses_tries_and_flags_that_do_not_exist)
{
    struct hf_update_options bad[3] = {
        HF_UPDATE_OPTIONS_INIT, HF_UPDATE_OPTIONS_INIT, HF_UPDATE_OPTIONS_INIT};
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct spoiler s = {rig_client(NULL), 0};
    bad[0].tries = -1;
    bad[1].flags = 2;
    bad[2].flags = HF_UPDATE_TRY;
    bad[2].tries = 2;
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_value_update(c, "a", spoil, &s, &bad[i], NULL, NULL),
                  HF_INVALID);
    CHECK_INT(s.calls, 0);
}

TEST(value_update, gives_up_when_its_time_is_over)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct spoiler s = {rig_client(NULL), 0};
    o.wait_ms = 1000;
    CHECK_INT(hf_value_update(c, "a", spoil, &s, &o, NULL, NULL), HF_TIMEOUT);
    holds(c, "a", "new");
}

static int refuse(const struct hf_value *now, struct hf_value_next *next,
                  void *user)
{
    (void)now;
    (void)next;
    (void)user;
    return 1;
}

static int take_away(const struct hf_value *now, struct hf_value_next *next,
                     void *user)
{
    (void)now;
    (void)user;
    next->remove = 1;
    return 0;
}

TEST(value_update, stops_when_the_function_says_so)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    put(c, "a", "1");
    CHECK_INT(hf_value_update(c, "a", refuse, NULL, NULL, NULL, NULL),
              HF_CANCELLED);
    holds(c, "a", "1");
}

TEST(value_update, may_delete)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    put(c, "a", "1");
    CHECK_INT(hf_value_update(c, "a", take_away, NULL, NULL, NULL, NULL),
              HF_OK);
    holds(c, "a", NULL);
}

/* ---- started ------------------------------------------------------------- */

/* What the callback was told; `user` of the function as well. */
struct told {
    hf_client *other; /* which is faster, if there is one */
    atomic_int runs;  /* of the function */
    atomic_int calls;
    int status;
    uint64_t version;
    char text[32];
};

static void on_updated(hf_client *client, int status, uint64_t version,
                       const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)client;
    t->status = status;
    t->version = version;
    if (status != HF_OK && err->status != status) t->status = HF_INTERNAL;
    atomic_fetch_add(&t->calls, 1);
}

static int count_up(const struct hf_value *now, struct hf_value_next *next,
                    void *user)
{
    struct told *t = user;
    atomic_fetch_add(&t->runs, 1);
    return add_one(now, next, t->text);
}

/* The other client is faster, every time. */
static int count_late(const struct hf_value *now, struct hf_value_next *next,
                      void *user)
{
    struct told *t = user; /* on a thread where nothing may be checked */
    int status =
        hf_value_write(t->other, "a", HF_VALUE_ANY, "new", 3, 0, NULL, NULL);
    return status == HF_OK ? count_up(now, next, user) : 1;
}

/* The callbacks of a test outlive it if it fails. */
static struct told *told_new(hf_client *other)
{
    static struct told pool[16];
    static int used;
    struct told *t = &pool[used++ % 16];
    memset(t, 0, sizeof *t);
    t->other = other;
    return t;
}

static hf_client *fresh_client(int mode)
{
    hf_client *c = rig_client_in((enum rig_mode)mode);
    CHECK_INT(hf_value_delete(c, "a", HF_VALUE_ANY, NULL), HF_OK);
    return c;
}

TEST(value_update, that_is_started_writes_and_tells_once)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = fresh_client(mode);
        struct told *t = told_new(NULL);
        for (int i = 1; i <= 2; i++) {
            CHECK_INT(hf_value_update_start(c, "a", count_up, NULL, on_updated,
                                            t, NULL),
                      HF_OK);
            CHECK(rig_until_told(c, &t->calls, i));
            CHECK_INT(t->status, HF_OK);
            CHECK(t->version > 0);
        }
        holds(c, "a", "2");
        CHECK_INT(atomic_load(&t->runs), 2);
    }
}

TEST(value_update, that_is_started_may_delete_or_be_stopped)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = fresh_client(mode);
        struct told *t = told_new(NULL);
        put(c, "a", "1");
        CHECK_INT(
            hf_value_update_start(c, "a", refuse, NULL, on_updated, t, NULL),
            HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_CANCELLED);
        holds(c, "a", "1");
        CHECK_INT(
            hf_value_update_start(c, "a", take_away, NULL, on_updated, t, NULL),
            HF_OK);
        CHECK(rig_until_told(c, &t->calls, 2));
        CHECK_INT(t->status, HF_OK);
        CHECK_INT(t->version, 0);
        holds(c, "a", NULL);
    }
}

TEST(value_update, that_is_started_gives_up_as_one_that_waits)
{
    struct hf_update_options o = HF_UPDATE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = fresh_client(mode);
        struct told *t = told_new(rig_client(NULL));
        o.tries = 3;
        o.wait_ms = 0;
        CHECK_INT(
            hf_value_update_start(c, "a", count_late, &o, on_updated, t, NULL),
            HF_OK);
        CHECK(rig_until_told(c, &t->calls, 1));
        CHECK_INT(t->status, HF_CHANGED);
        CHECK_INT(atomic_load(&t->runs), 3);
        o.tries = 0;
        o.wait_ms = 1000;
        CHECK_INT(
            hf_value_update_start(c, "a", count_late, &o, on_updated, t, NULL),
            HF_OK);
        CHECK(rig_until_told(c, &t->calls, 2));
        CHECK_INT(t->status, HF_TIMEOUT);
        holds(c, "a", "new");
    }
}

TEST(value_update, that_is_started_hears_that_its_client_is_closed)
{
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = fresh_client(mode);
        struct told *t = told_new(rig_client(NULL));
        CHECK_INT(hf_value_update_start(c, "a", count_late, NULL, on_updated, t,
                                        NULL),
                  HF_OK);
        while (atomic_load(&t->runs) < 2) rig_turn(c, 1000);
        rig_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
        CHECK_INT(t->status, HF_CLOSED);
    }
}

TEST(value_update, is_not_started_with_what_is_not_valid)
{
    struct hf_update_options bad = HF_UPDATE_OPTIONS_INIT;
    if (!rig_begin_with(HF_CAP_VALUE)) return;
    hf_client *c = rig_client(NULL);
    struct told *t = told_new(NULL);
    struct hf_error err;
    bad.tries = -1;
    CHECK_INT(hf_value_update_start(c, "a", count_up, NULL, NULL, t, &err),
              HF_INVALID);
    CHECK(err.status == HF_INVALID && err.text[0]);
    CHECK_INT(hf_value_update_start(c, "a", NULL, NULL, on_updated, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_value_update_start(c, "", count_up, NULL, on_updated, t, NULL),
              HF_INVALID);
    CHECK_INT(
        hf_value_update_start(c, "a", count_up, &bad, on_updated, t, NULL),
        HF_INVALID);
    CHECK_INT(atomic_load(&t->runs) + atomic_load(&t->calls), 0);
}
