/*
 * started_contract.c: the list, the guards and the tickets, by the calls that
 * return at once.  One rule: a callback runs exactly once if, and only if, its
 * call returned HF_OK.
 */
#include <string.h>

#include "lib/rig_semaphore.h"
#include "lib/rig_started.h"

/* What the callbacks were told.  It outlives a test that fails. */
struct told {
    atomic_int rows;
    int stop_after; /* rows; 0: all */
    atomic_int calls;
    int status;
    uint64_t token;
    char text[32];
    hf_hold *hold;
};

static struct told *told_new(void)
{
    static struct told pool[32];
    static int used;
    struct told *t = &pool[used++ % 32];
    memset(t, 0, sizeof *t);
    return t;
}

static void told_set(struct told *t, int status, const struct hf_error *err)
{
    t->status = status;
    if (status != HF_OK && err->status != status) t->status = HF_INTERNAL;
    atomic_fetch_add(&t->calls, 1);
}

/* ---- list ---------------------------------------------------------------- */

static int on_row(const struct hf_list_row *row, void *user)
{
    struct told *t = user;
    if (row->info->locked) atomic_fetch_add(&t->rows, 1);
    return t->stop_after > 0 && atomic_load(&t->rows) >= t->stop_after;
}

static void on_listed(hf_client *client, int status, const struct hf_error *err,
                      void *user)
{
    (void)client;
    told_set(user, status, err);
}

static struct told *listed(hf_client *c, const char *match, int stop_after)
{
    struct told *t = told_new();
    char pattern[16] = "";
    t->stop_after = stop_after;
    if (match) snprintf(pattern, sizeof pattern, "%s", match);
    CHECK_INT(hf_client_list_start(c, match ? pattern : NULL, on_row, on_listed,
                                   t, NULL),
              HF_OK);
    memset(pattern, '?', sizeof pattern - 1); /* it was copied */
    CHECK(rig_until_told(c, &t->calls, 1));
    CHECK_INT(t->status, HF_OK);
    return t;
}

TEST(started, list_shows_all_or_as_many_as_are_wanted)
{
    if (!rig_begin_with(HF_CAP_LIST)) return;
    hf_client *holder = rig_client(NULL);
    const char *names[] = {"job:a", "job:b", "other"};
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_lock_try(rig_lock(holder, names[i]), NULL, NULL), HF_OK);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        CHECK_INT(atomic_load(&listed(c, NULL, 0)->rows), 3);
        CHECK_INT(atomic_load(&listed(c, "job:*", 0)->rows), 2);
        CHECK_INT(atomic_load(&listed(c, NULL, 1)->rows), 1);
        CHECK_INT(atomic_load(&listed(c, "none*", 0)->rows), 0);
    }
}

TEST(started, list_is_told_of_once_whenever_its_client_is_closed)
{
    if (!rig_begin_with(HF_CAP_LIST)) return;
    hf_client *holder = rig_client(NULL);
    CHECK_INT(hf_lock_try(rig_lock(holder, "a"), NULL, NULL), HF_OK);
    for (int i = 0; i < 10; i++) {
        hf_client *c = rig_client_in((enum rig_mode)(i % RIG_MODES));
        struct told *t = told_new();
        CHECK_INT(hf_client_list_start(c, NULL, on_row, on_listed, t, NULL),
                  HF_OK);
        for (int turns = 0; turns < i / 4; turns++) rig_turn(c, 1);
        rig_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
        CHECK(t->status == HF_OK || t->status == HF_CLOSED
              || t->status == HF_UNAVAILABLE);
    }
}

TEST(started, list_without_a_function_is_refused)
{
    if (!rig_begin_with(HF_CAP_LIST)) return;
    hf_client *c = rig_client(NULL);
    struct told *t = told_new();
    CHECK_INT(hf_client_list_start(c, NULL, on_row, NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_client_list_start(c, NULL, NULL, on_listed, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_client_list(c, NULL, NULL, t, NULL), HF_INVALID);
    CHECK_INT(atomic_load(&t->calls), 0);
}

/* ---- guards -------------------------------------------------------------- */

static void on_guard(hf_client *client, int status, uint64_t token,
                     const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)client;
    t->token = token;
    told_set(t, status, err);
}

static void on_read(hf_client *client, int status, const struct hf_value *value,
                    const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)client;
    t->token = value ? value->version : 0;
    snprintf(t->text, sizeof t->text, "%s",
             value && value->data ? value->data : "");
    told_set(t, status, err);
}

/* The callback's status. */
static int ended(hf_client *c, struct told *t, int started)
{
    CHECK_INT(started, HF_OK);
    CHECK(rig_until_told(c, &t->calls, 1));
    return t->status;
}

static int set(hf_client *c, uint64_t token, const char *text)
{
    struct told *t = told_new();
    return ended(c, t,
                 hf_guard_set_start(c, "res", token, text, strlen(text), 0,
                                    on_guard, t, NULL));
}

static void holds(hf_client *c, const char *text, uint64_t token)
{
    struct told *t = told_new();
    CHECK_INT(ended(c, t, hf_guard_read_start(c, "res", on_read, t, NULL)),
              HF_OK);
    CHECK_STR(t->text, text);
    CHECK_INT(t->token, token);
    t = told_new();
    CHECK_INT(ended(c, t, hf_guard_token_start(c, "res", on_guard, t, NULL)),
              HF_OK);
    CHECK_INT(t->token, token);
}

TEST(started, guard_refuses_a_stale_token)
{
    if (!rig_begin_with(HF_CAP_GUARD)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        uint64_t token = 10 + 10 * (uint64_t)mode;
        struct told *t = told_new();
        CHECK_INT(
            ended(c, t,
                  hf_guard_touch_start(c, "res", token, on_guard, t, NULL)),
            HF_OK);
        CHECK_INT(t->token, token);
        CHECK_INT(set(c, token, "new"), HF_OK);
        CHECK_INT(set(c, token - 1, "old"), HF_STALE);
        holds(c, "new", token);
        t = told_new();
        CHECK_INT(ended(c, t,
                        hf_guard_delete_start(c, "res", token - 1, on_guard, t,
                                              NULL)),
                  HF_STALE);
        CHECK_INT(t->token, 0);
        t = told_new();
        CHECK_INT(
            ended(c, t,
                  hf_guard_delete_start(c, "res", token, on_guard, t, NULL)),
            HF_OK);
        holds(c, "", token);
    }
}

TEST(started, guard_that_is_claimed_is_written_by_its_claimer)
{
    if (!rig_begin_with(HF_CAP_GUARD)) return;
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct told *t = told_new();
        CHECK_INT(
            ended(c, t, hf_guard_claim_start(c, "res", 7, on_guard, t, NULL)),
            HF_OK);
        t = told_new();
        CHECK_INT(ended(c, t,
                        hf_guard_set_claimed_start(c, "res", 7, "x", 1, 0,
                                                   on_guard, t, NULL)),
                  HF_OK);
        t = told_new();
        CHECK_INT(ended(c, t,
                        hf_guard_set_claimed_start(c, "res", 6, "y", 1, 0,
                                                   on_guard, t, NULL)),
                  HF_STALE);
    }
}

TEST(started, guard_is_not_asked_with_what_is_not_valid)
{
    struct hf_error err = {0};
    if (!rig_begin_with(HF_CAP_GUARD)) return;
    hf_client *c = rig_client(NULL);
    struct told *t = told_new();
    int (*const start[])(hf_client *, const char *, uint64_t, hf_guard_fn,
                         void *, struct hf_error *) = {
        hf_guard_touch_start, hf_guard_delete_start, hf_guard_claim_start};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(start[i](c, "res", 1, NULL, t, &err), HF_INVALID);
        CHECK(err.text[0] != '\0');
        CHECK_INT(start[i](c, "res", 0, on_guard, t, NULL), HF_INVALID);
        CHECK_INT(start[i](c, "", 1, on_guard, t, NULL), HF_INVALID);
    }
    CHECK_INT(hf_guard_set_start(c, "res", 1, NULL, 1, 0, on_guard, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_guard_set_start(c, "res", 1, "x", 1, 0, NULL, t, NULL),
              HF_INVALID);
    CHECK_INT(
        hf_guard_set_claimed_start(c, "res", 1, "x", 1, -1, on_guard, t, NULL),
        HF_INVALID);
    CHECK_INT(hf_guard_token_start(c, "res", NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_guard_read_start(c, "res", NULL, t, NULL), HF_INVALID);
    CHECK_INT(atomic_load(&t->calls), 0);
}

TEST(started, guard_is_told_of_once_if_its_client_is_closed)
{
    if (!rig_begin_with(HF_CAP_GUARD)) return;
    rig_client(NULL); /* a space in memory stays as long as its last client */
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct told *t = told_new();
        CHECK_INT(hf_guard_read_start(c, "res", on_read, t, NULL), HF_OK);
        rig_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
    }
}

/* ---- tickets ------------------------------------------------------------- */

static void on_attached(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)lock;
    t->hold = hold;
    told_set(t, status, err);
}

static void on_permits(hf_semaphore *sem, int status, hf_hold *hold,
                       const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)sem;
    t->hold = hold;
    told_set(t, status, err);
}

static void on_released(hf_lock *lock, int status, const struct hf_error *err,
                        void *user)
{
    (void)lock;
    told_set(user, status, err);
}

static void ticket_make(hf_client *c, char *ticket)
{
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    hf_hold *hold;
    CHECK_INT(hf_lock_acquire(rig_lock(c, "a"), &o, &hold, NULL), HF_OK);
    CHECK_INT(hf_hold_ticket(hold, ticket, HF_TICKET_MAX, NULL), HF_OK);
}

TEST(started, ticket_is_attached_and_released)
{
    char ticket[HF_TICKET_MAX];
    if (!rig_begin_with(HF_CAP_DETACHED)) return;
    hf_client *giver = rig_client(NULL);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_lock *l = rig_lock(c, "a");
        ticket_make(giver, ticket);
        struct told *t = told_new();
        CHECK_INT(
            ended(c, t,
                  hf_lock_attach_start(l, ticket, 40000, on_attached, t, NULL)),
            HF_OK);
        CHECK_INT(hf_hold_state(t->hold), HF_STATE_HELD);
        CHECK_INT(hf_hold_lease_ms(t->hold), 40000);
        CHECK_INT(hf_hold_ticket(t->hold, ticket, sizeof ticket, NULL), HF_OK);
        t = told_new();
        CHECK_INT(
            ended(c, t,
                  hf_ticket_release_start(l, ticket, on_released, t, NULL)),
            HF_OK);
        CHECK_INT(rig_probe(rig_lock(giver, "a")), HF_OK);
        t = told_new();
        int status = ended(
            c, t, hf_lock_attach_start(l, ticket, 0, on_attached, t, NULL));
        CHECK(status == HF_EXPIRED || status == HF_LOST);
        CHECK(t->hold == NULL);
    }
}

TEST(started, ticket_that_is_none_is_refused)
{
    char ticket[HF_TICKET_MAX];
    if (!rig_begin_with(HF_CAP_DETACHED)) return;
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a");
    struct told *t = told_new();
    ticket_make(c, ticket);
    CHECK_INT(hf_lock_attach_start(l, "hf2:x", 0, on_attached, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_lock_attach_start(l, NULL, 0, on_attached, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_lock_attach_start(l, ticket, -1, on_attached, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_lock_attach_start(l, ticket, 0, NULL, t, NULL), HF_INVALID);
    CHECK_INT(hf_ticket_release_start(l, "hf2:x", on_released, t, NULL),
              HF_INVALID);
    CHECK_INT(hf_ticket_release_start(l, ticket, NULL, t, NULL), HF_INVALID);
    CHECK_INT(atomic_load(&t->calls), 0);
    CHECK_INT(hf_ticket_release(l, ticket, NULL), HF_OK);
}

TEST(started, attach_is_told_of_once_if_its_client_is_closed)
{
    char ticket[HF_TICKET_MAX];
    if (!rig_begin_with(HF_CAP_DETACHED)) return;
    hf_client *giver = rig_client(NULL);
    ticket_make(giver, ticket);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
        hf_client *c;
        hf_lock *l; /* stays open until its client is closed */
        if (mode == RIG_OWN_LOOP) o.flags = HF_CLIENT_OWN_LOOP;
        CHECK_INT(hf_client_open(rig_url(), &o, &c, NULL), HF_OK);
        CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
        struct told *t = told_new();
        CHECK_INT(hf_lock_attach_start(l, ticket, 0, on_attached, t, NULL),
                  HF_OK);
        hf_client_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
    }
}

TEST(started, permits_are_attached)
{
    char ticket[HF_TICKET_MAX];
    struct hf_acquire_options o =
        rig_options(RIG_TRY, 30000, HF_ACQUIRE_DETACHED);
    hf_hold *hold;
    o.permits = 2;
    if (!rig_begin_with(HF_CAP_PERMIT | HF_CAP_DETACHED)) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_semaphore *other = rig_semaphore(c, "s", 3);
        CHECK_INT(hf_semaphore_acquire(s, &o, &hold, NULL), HF_OK);
        CHECK_INT(hf_hold_ticket(hold, ticket, sizeof ticket, NULL), HF_OK);
        struct told *t = told_new();
        CHECK_INT(hf_semaphore_attach_start(other, "hfp1:2:x", 0, on_permits, t,
                                            NULL),
                  HF_INVALID);
        CHECK_INT(hf_semaphore_attach_start(other, ticket, 0, NULL, t, NULL),
                  HF_INVALID);
        CHECK_INT(ended(c, t,
                        hf_semaphore_attach_start(other, ticket, 40000,
                                                  on_permits, t, NULL)),
                  HF_OK);
        CHECK_INT(hf_hold_count(t->hold), 2);
        CHECK_INT(hf_hold_release(t->hold, NULL), HF_OK);
    }
}

/* ---- acquires of several operations -------------------------------------- */

static void on_set(hf_multi *multi, int status, hf_hold *hold,
                   const struct hf_error *err, void *user)
{
    struct told *t = user;
    (void)multi;
    t->hold = hold;
    told_set(t, status, err);
}

static void multi_end(void *m)
{
    hf_multi_close(m);
}

static hf_multi *set_of(hf_client *c)
{
    hf_lock *locks[] = {rig_lock(c, "a"), rig_lock(c, "b")};
    hf_multi *m;
    CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
    test_cleanup(multi_end, m);
    return m;
}

TEST(started, set_of_locks_is_granted_times_out_and_is_cancelled)
{
    rig_begin();
    hf_client *other = rig_client(NULL);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct hf_acquire_options o = rig_options(2000, 0, 0);
        hf_multi *m = set_of(c);
        hf_hold *b;
        hf_cancel *cancel;
        struct told *t = told_new();
        CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
        CHECK_INT(ended(c, t, hf_multi_acquire_start(m, NULL, on_set, t, NULL)),
                  HF_OK);
        CHECK_INT(hf_hold_count(t->hold), 2);
        CHECK_INT(hf_hold_release(t->hold, NULL), HF_OK);
        CHECK_INT(rig_acquire(rig_lock(other, "b"), 0, RIG_WAIT_MS, &b), HF_OK);
        t = told_new();
        CHECK_INT(ended(c, t, hf_multi_acquire_start(m, &o, on_set, t, NULL)),
                  HF_TIMEOUT);
        CHECK(rig_until_free(rig_lock(other, "a")));
        t = told_new();
        o.wait_ms = 0;
        o.cancel = cancel;
        CHECK_INT(hf_multi_acquire_start(m, &o, on_set, t, NULL), HF_OK);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        hf_cancel_fire(cancel);
        CHECK_INT(ended(c, t, HF_OK), HF_CANCELLED);
        CHECK_INT(hf_hold_release(b, NULL), HF_OK);
        hf_cancel_close(cancel);
    }
}

/* Slots where the store keeps no permits. */
TEST(started, permits_are_granted_time_out_and_are_cancelled)
{
    rig_begin();
    hf_client *other = rig_client(NULL);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        const char *name = mode == RIG_THREAD ? "s" : "t";
        hf_client *c = rig_client_in((enum rig_mode)mode);
        hf_semaphore *s = rig_semaphore(c, name, 3);
        struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
        hf_hold *some;
        hf_cancel *cancel;
        struct told *t = told_new();
        o.permits = 2;
        CHECK_INT(hf_cancel_open(c, &cancel), HF_OK);
        CHECK_INT(
            ended(c, t, hf_semaphore_acquire_start(s, &o, on_permits, t, NULL)),
            HF_OK);
        CHECK_INT(hf_hold_count(t->hold), 2);
        CHECK_INT(hf_hold_release(t->hold, NULL), HF_OK);
        CHECK_INT(
            rig_take(rig_semaphore(other, name, 3), 2, RIG_WAIT_MS, &some),
            HF_OK);
        t = told_new();
        o.wait_ms = 2000; /* also a busy machine has asked by then */
        CHECK_INT(
            ended(c, t, hf_semaphore_acquire_start(s, &o, on_permits, t, NULL)),
            HF_TIMEOUT);
        t = told_new();
        o.wait_ms = 0;
        o.cancel = cancel;
        CHECK_INT(hf_semaphore_acquire_start(s, &o, on_permits, t, NULL),
                  HF_OK);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        hf_cancel_fire(cancel);
        CHECK_INT(ended(c, t, HF_OK), HF_CANCELLED);
        CHECK_INT(hf_hold_release(some, NULL), HF_OK);
        hf_cancel_close(cancel);
    }
}

/* A client that is closed while its set waits; the set outlives it. */
TEST(started, set_of_locks_hears_that_its_client_is_closed)
{
    hf_hold *b;
    rig_begin();
    CHECK_INT(rig_acquire(rig_lock(rig_client(NULL), "b"), 0, RIG_WAIT_MS, &b),
              HF_OK);
    for (int mode = 0; mode < RIG_MODES; mode++) {
        struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
        struct told *t = told_new();
        hf_lock *locks[2];
        hf_client *c;
        hf_multi *m;
        if (mode == RIG_OWN_LOOP) o.flags = HF_CLIENT_OWN_LOOP;
        CHECK_INT(hf_client_open(rig_url(), &o, &c, NULL), HF_OK);
        CHECK_INT(hf_lock_open(c, "a", &locks[0], NULL), HF_OK);
        CHECK_INT(hf_lock_open(c, "b", &locks[1], NULL), HF_OK);
        CHECK_INT(hf_multi_open(locks, 2, &m, NULL), HF_OK);
        CHECK_INT(hf_multi_acquire_start(m, NULL, on_set, t, NULL), HF_OK);
        for (int i = 0; i < 3; i++) rig_turn(c, 10);
        hf_client_close(c);
        CHECK_INT(atomic_load(&t->calls), 1);
        CHECK_INT(t->status, HF_CLOSED);
        CHECK(t->hold == NULL);
    }
}
