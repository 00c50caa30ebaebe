/*
 * slots_contract.c: semaphores of one lock per permit, where the store keeps no
 * permits.  One rule for all of it: what an acquire did not get, it does not
 * keep.
 */
#include <string.h>

#include "lib/rig_semaphore.h"

/* 0 where the store has permits of its own. */
static int begin(void)
{
    return !rig_begin_with(HF_CAP_PERMIT);
}

static int64_t taken(hf_semaphore *sem)
{
    return rig_count(sem).taken;
}

static int none_is_taken(void *sem)
{
    return taken(sem) == 0;
}

TEST(slots, are_locks_of_their_own)
{
    hf_hold *p;
    char name[16];
    if (!begin()) return;
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 2);
    CHECK_INT(hf_semaphore_try(s, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_state(p), HF_STATE_HELD);
    snprintf(name, sizeof name, "%s", hf_hold_name(p));
    CHECK(!strcmp(name, "s#1") || !strcmp(name, "s#2"));
    CHECK_INT(rig_probe(rig_lock(c, name)), HF_TAKEN);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(rig_probe(rig_lock(c, name)), HF_OK);
}

TEST(slots, are_counted_one_by_one)
{
    hf_hold *p;
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, &p), HF_OK);
    CHECK_INT(hf_hold_parts(p), 2);
    CHECK(strcmp(hf_hold_name(hf_hold_part(p, 0)),
                 hf_hold_name(hf_hold_part(p, 1)))
          != 0);
    struct hf_semaphore_state now = rig_count(s);
    CHECK_INT(now.capacity, 3);
    CHECK_INT(now.taken, 2);
    CHECK_INT(now.available, 1);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(taken(s), 0);
}

struct looked {
    atomic_int count;
    int status;
    struct hf_semaphore_state state;
};

static void on_look(hf_semaphore *sem, int status,
                    const struct hf_semaphore_state *state,
                    const struct hf_error *err, void *user)
{
    struct looked *l = user;
    (void)sem, (void)err;
    l->status = status;
    if (state) l->state = *state;
    atomic_fetch_add(&l->count, 1);
}

TEST(slots, are_counted_asynchronously_too)
{
    static struct looked l;
    l = (struct looked){0};
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 2, 0, NULL), HF_OK);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_LOOK, 0, 0, on_look, &l,
                                        NULL),
              HF_OK);
    CHECK(rig_until_equal(&l.count, 1));
    CHECK_INT(l.status, HF_OK);
    CHECK_INT(l.state.capacity, 3);
    CHECK_INT(l.state.taken, 2);
    CHECK_INT(l.state.available, 1);
}

TEST(slots, a_count_that_was_started_is_told_when_the_client_is_closed)
{
    static struct looked l;
    l = (struct looked){0};
    if (!begin()) return;
    hf_client *c = rig_client(NULL);
    hf_semaphore *s = rig_semaphore(c, "s", 64);
    CHECK_INT(hf_semaphore_change_start(s, HF_SEMAPHORE_LOOK, 0, 0, on_look, &l,
                                        NULL),
              HF_OK);
    rig_close(c);
    CHECK_INT(atomic_load(&l.count), 1);
    CHECK(l.status == HF_CLOSED || l.status == HF_OK);
}

TEST(slots, their_number_is_not_to_be_changed)
{
    struct hf_error err = {0};
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(hf_semaphore_set(s, 3, 0, NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "slots") != NULL);
    CHECK_INT(hf_semaphore_try_set(s, 3, NULL, NULL), HF_UNSUPPORTED);
    CHECK_INT(hf_semaphore_add(s, 1, 0, NULL, NULL), HF_UNSUPPORTED);
    CHECK_INT(hf_semaphore_delete(s, NULL, NULL), HF_UNSUPPORTED);
    CHECK_INT(
        hf_semaphore_change_start(s, HF_SEMAPHORE_ADD, 1, 0, NULL, NULL, NULL),
        HF_UNSUPPORTED);
}

TEST(slots, their_number_must_be_given)
{
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_semaphore *s;
    if (!begin()) return;
    hf_client *c = rig_client(NULL);
    CHECK_INT(hf_semaphore_open(c, "s", NULL, &s, &err), HF_INVALID);
    CHECK(strstr(err.text, "give it in options.permits") != NULL);
    o.permits = HF_SEMAPHORE_SLOTS_MAX + 1;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, &err), HF_INVALID);
    CHECK(strstr(err.text, "65 permits: out of range: 1 to 64") != NULL);
    o.permits = -1;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_INVALID);
    o.permits = 1;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL), HF_UNSUPPORTED);
    o.order = HF_ORDER_ANY;
    o.flags = HF_SEMAPHORE_PLAIN;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &s, NULL),
              rig_has(HF_CAP_TALLY) ? HF_OK : HF_UNSUPPORTED);
}

TEST(slots, a_name_has_to_leave_room_for_their_numbers)
{
    static char name[HF_NAME_MAX + 1];
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_semaphore *s;
    if (!begin()) return;
    memset(name, 'x', HF_NAME_MAX);
    o.permits = 1;
    CHECK_INT(hf_semaphore_open(rig_client(NULL), name, &o, &s, &err),
              HF_INVALID);
    CHECK(strstr(err.text, "bytes") != NULL);
}

/* While it waited for all, the first that came was enough. */
TEST(slots, that_were_free_at_once_are_not_kept_by_who_wants_one)
{
    static struct taker t;
    hf_hold *p;
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 4);
    CHECK_INT(rig_take(s, 4, 0, &p), HF_OK);
    t.keep_ms = 3000;
    taker_start(&t, rig_semaphore(rig_client(NULL), "s", 4), 1, RIG_WAIT_MS);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK(rig_until_equal(&t.got, 1));
    CHECK_INT(rig_take(s, 3, RIG_WAIT_MS, &p), HF_OK);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.release_status, HF_OK);
    CHECK(rig_until(none_is_taken, s));
}

TEST(slots, of_a_wait_that_was_over_too_early_are_given_back)
{
    static struct taker t;
    hf_hold *p;
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 3);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    taker_start(&t, rig_semaphore(rig_client(NULL), "s", 3), 3, 2000);
    rig_join();
    CHECK_INT(t.status, HF_TIMEOUT);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK(rig_until(none_is_taken, s));
    CHECK_INT(rig_take(s, 3, RIG_WAIT_MS, NULL), HF_OK);
}

/* Each of them could have half of what both want. */
TEST(slots, two_who_want_most_of_them_do_not_wait_for_each_other)
{
    static struct taker t[2];
    hf_hold *p;
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 4);
    CHECK_INT(rig_take(s, 4, 0, &p), HF_OK);
    for (int i = 0; i < 2; i++)
        taker_start(&t[i], rig_semaphore(rig_client(NULL), "s", 4), 3,
                    RIG_WAIT_MS);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 2; i++) CHECK_INT(t[i].status, HF_OK);
    CHECK(rig_until(none_is_taken, s));
}

TEST(slots, a_detached_hold_of_them_is_refused)
{
    static const char why[] = "not with slots, which are one lock for each";
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_hold *p;
    char ticket[HF_TICKET_MAX];
    if (!begin()) return;
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 1);
    o.flags = HF_ACQUIRE_DETACHED;
    CHECK_INT(hf_semaphore_acquire(s, &o, &p, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, why) != NULL);
    CHECK_INT(taken(s), 0);
    CHECK_INT(rig_take(s, 1, 0, &p), HF_OK);
    err = (struct hf_error){0};
    CHECK_INT(hf_hold_ticket(p, ticket, sizeof ticket, &err), HF_UNSUPPORTED);
    CHECK(err.text[0] != 0);
    CHECK_INT(hf_hold_state(p), HF_STATE_HELD);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    CHECK_INT(taken(s), 0);
}

static void closed(hf_semaphore *sem, int status, hf_hold *hold,
                   const struct hf_error *err, void *user)
{
    (void)hold;
    (void)err;
    hf_semaphore_close(sem);
    atomic_store((atomic_int *)user, status);
}

TEST(slots, who_waits_for_them_is_told_when_the_client_is_closed)
{
    static atomic_int told;
    hf_semaphore *mine = NULL;
    struct hf_semaphore_options o = HF_SEMAPHORE_OPTIONS_INIT;
    struct hf_acquire_options how = HF_ACQUIRE_OPTIONS_INIT;
    if (!begin()) return;
    atomic_store(&told, 1);
    hf_semaphore *s = rig_semaphore(rig_client(NULL), "s", 2);
    CHECK_INT(rig_take(s, 1, 0, NULL), HF_OK);
    hf_client *c = rig_client(NULL);
    o.permits = 2;
    CHECK_INT(hf_semaphore_open(c, "s", &o, &mine, NULL), HF_OK);
    how.permits = 2;
    CHECK_INT(hf_semaphore_acquire_start(mine, &how, closed, &told, NULL),
              HF_OK);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&told), 1);
    rig_close(c);
    CHECK_INT(atomic_load(&told), HF_CLOSED);
}
