/*
 * redis_cluster_move_test.c: slots that move while their locks are held and
 * waited for.  One rule: only the backend notices it, apart from the time that
 * a call takes.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/crowd.h"
#include "lib/rig.h"
#include "lib/rig_rw.h"

#define NAME "job"

static struct lab_cluster c;
static int from, to, slot;

static void begin(void)
{
    cluster_rig_begin(&c, 3, 0);
    from = cluster_rig_at(&c, NAME);
    to = (from + 1) % 3;
    slot = cluster_rig_slot(&c, NAME);
}

static void move(void)
{
    cluster_rig_move(&c, slot, from, to);
}

TEST(redis_cluster_move, a_lock_is_renewed_and_released_where_its_slot_went)
{
    hf_hold *g = NULL;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    move();
    CHECK_INT(hf_hold_extend(g, 20000, NULL), HF_OK);
    CHECK(redis_number(&c.nodes[to], "PTTL " NAME) > 0);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&c.nodes[to], "EXISTS " NAME), 0);
}

TEST(redis_cluster_move, a_watchdog_hold_stays_held)
{
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_renewed(RIG_TRY);
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(hf_lock_acquire(l, &o, &g, NULL), HF_OK);
    for (int i = 0; i < 4; i++) {
        cluster_rig_move(&c, slot, i % 2 ? to : from, i % 2 ? from : to);
        CHECK(rig_until_renewed(l, 0, 3));
        CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    }
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

TEST(redis_cluster_move, tokens_rise_across_it)
{
    hf_hold *before, *after;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(hf_lock_try(l, &before, NULL), HF_OK);
    uint64_t fence = hf_hold_fence(before);
    CHECK_INT(hf_hold_release(before, NULL), HF_OK);
    move();
    CHECK_INT(hf_lock_try(l, &after, NULL), HF_OK);
    CHECK(hf_hold_fence(after) > fence);
}

struct waiter {
    hf_lock *lock;
    int64_t wait_ms;
    int status;
};

static void wait_run(void *arg)
{
    struct waiter *w = arg;
    w->status = rig_acquire(w->lock, 0, w->wait_ms, NULL);
}

static int has_waiter(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.waiters == 1;
}

/* The holder's lease is 30 s, and a waiter that nobody wakes looks after 5. */
static void is_woken(const char *options)
{
    static struct waiter w;
    char url[600];
    begin();
    snprintf(url, sizeof url, "%s%s", c.url, options);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), NAME);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    w = (struct waiter){rig_lock(rig_client_at(url, NULL), NAME), 15000, -1};
    rig_spawn(wait_run, &w);
    CHECK(rig_until(has_waiter, l));
    move();
    /* Its own look when the watch has moved is over then. */
    if (strstr(options, "sharded")) CHECK(rig_until(has_waiter, l));
    rig_pause_ms(300);
    int64_t began = rig_now_ms();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(rig_now_ms() - began < 4000);
}

TEST(redis_cluster_move, who_waits_by_sharded_messages_is_woken_afterwards)
{
    is_woken("?pubsub=sharded");
}

TEST(redis_cluster_move, who_waits_by_classic_messages_is_woken_afterwards)
{
    is_woken("?pubsub=classic");
}

TEST(redis_cluster_move, who_waits_by_both_kinds_of_messages_is_woken)
{
    is_woken("?pubsub=both");
}

/* ---- several names, waited for on one connection ---- */

#define NAMES 3

static char names[NAMES][32] = {NAME, "{" NAME "}2"}; /* and one that stays */

/* Find a name of another slot of the server that `slot` moves away from. */
static void stays_find(void)
{
    for (int i = 0; i < 1000; i++) {
        snprintf(names[2], sizeof names[2], "{" NAME "%d}", i);
        if (cluster_rig_slot(&c, names[2]) != slot
            && cluster_rig_at(&c, names[2]) == from)
            return;
    }
    TEST_FAIL("no other name of server %d", from);
}

static int is_watched(int node, const char *name)
{
    const char *braced = strchr(name, '{') ? name : "{" NAME "}";
    const char *said = redis_say(
        &c.nodes[node], "PUBSUB SHARDNUMSUB redisson_lock__channel:%s", braced);
    const char *number = strchr(said, '\n');
    return number && strtoll(number + 1, NULL, 10) == 1;
}

/* Are the names of the slot watched at `*node`, and the other one here? */
static int are_watched(void *node)
{
    const int *at = node;
    return is_watched(*at, names[0]) && is_watched(*at, names[1])
           && is_watched(from, names[2]);
}

static long long subscriber_id(void)
{
    const char *said = redis_say(&c.nodes[from], "CLIENT LIST TYPE pubsub");
    const char *id = strstr(said, "id=");
    return id ? strtoll(id + 3, NULL, 10) : -1;
}

/* The server tells of all channels of the slot at once, and the classic
 * subscriptions to them are ended meanwhile. */
TEST(redis_cluster_move, waiters_by_both_kinds_keep_their_connection)
{
    static struct waiter w[NAMES];
    hf_lock *held[NAMES];
    char url[600];
    begin();
    stays_find();
    snprintf(url, sizeof url, "%s?pubsub=both", c.url);
    hf_client *holder = rig_client_at(url, NULL);
    hf_client *waits = rig_client_at(url, NULL);
    for (int i = 0; i < NAMES; i++) {
        held[i] = rig_lock(holder, names[i]);
        CHECK_INT(hf_lock_try(held[i], NULL, NULL), HF_OK);
        w[i] = (struct waiter){rig_lock(waits, names[i]), RIG_WAIT_MS, -1};
        rig_spawn(wait_run, &w[i]);
    }
    CHECK(rig_until(are_watched, &from));
    long long id = subscriber_id();
    move();
    CHECK(rig_until(are_watched, &to));
    for (int i = 0; i < NAMES; i++)
        CHECK_INT(hf_lock_release(held[i], NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < NAMES; i++) CHECK_INT(w[i].status, HF_OK);
    const char *said = redis_say(&c.nodes[from], "CLIENT LIST ID %lld", id);
    CHECK(strstr(said, "id=") != NULL);
}

/* ---- the window: half of the slot is here, half is there ---- */

TEST(redis_cluster_move, in_the_window_a_held_lock_is_kept_and_freed)
{
    hf_hold *g = NULL;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    cluster_rig_move_begin(&c, slot, from, to);
    CHECK_INT(hf_hold_extend(g, 20000, NULL), HF_OK);
    cluster_rig_move_keys(&c, slot, from, to);
    CHECK_INT(hf_hold_extend(g, 25000, NULL), HF_OK);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    cluster_rig_move_end(&c, slot, to);
    CHECK_INT(redis_number(&c.nodes[to], "EXISTS " NAME), 0);
    CHECK_INT(rig_acquire(l, 0, 10000, &g), HF_OK);
}

/* The script is asked for by its hash first, and that has ASKING before it; so
 * must have the whole one that follows. */
TEST(redis_cluster_move, in_the_window_a_script_that_is_not_there_is_brought)
{
    hf_hold *g = NULL;
    begin();
    hf_client *client = rig_client(NULL);
    hf_lock *l = rig_lock(client, NAME);
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    cluster_rig_move_begin(&c, slot, from, to);
    cluster_rig_move_keys(&c, slot, from, to);
    CHECK_INT(hf_hold_extend(g, 20000, NULL), HF_OK);
    redis_say(&c.nodes[to], "SCRIPT FLUSH");
    CHECK_INT(hf_hold_extend(g, 25000, NULL), HF_OK);
    redis_say(&c.nodes[to], "SCRIPT FLUSH");
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    cluster_rig_move_end(&c, slot, to);
}

/* A command with two keys of which one is missing is refused by both sides
 * until the window is closed; the server offers no way round that. */
TEST(redis_cluster_move, in_the_window_an_acquire_waits_until_it_is_closed)
{
    static struct waiter w;
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(rig_probe(l), HF_OK); /* the counter is there */
    w = (struct waiter){rig_lock(rig_client(NULL), NAME), 15000, -1};
    cluster_rig_move_begin(&c, slot, from, to);
    rig_spawn(wait_run, &w);
    rig_pause_ms(500);
    cluster_rig_move_keys(&c, slot, from, to);
    rig_pause_ms(500);
    cluster_rig_move_end(&c, slot, to);
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(redis_cluster_move, in_the_window_an_acquire_ends_by_its_deadline)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), NAME);
    CHECK_INT(rig_probe(l), HF_OK);
    cluster_rig_move_begin(&c, slot, from, to);
    int64_t began = rig_now_ms();
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began < 8000);
    CHECK(strstr(err.text, "moving") != NULL);
}

TEST(redis_cluster_move, in_the_window_a_lock_of_one_key_is_taken_as_ever)
{
    char url[600];
    begin();
    snprintf(url, sizeof url, "%s?format=string&fence=off", c.url);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), NAME);
    cluster_rig_move_begin(&c, slot, from, to);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&c.nodes[to], "CLUSTER COUNTKEYSINSLOT %d", slot),
              1);
    CHECK_INT(rig_probe(rig_lock(rig_client_at(url, NULL), NAME)), HF_TAKEN);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    cluster_rig_move_end(&c, slot, to);
}

/* ---- torn: one of its two keys is here, the other one is there ---- */

static const char lock_key[] = NAME;
static const char counter_key[] = "redisson_lock_token:{" NAME "}";

static void key_move(const char *key)
{
    const char *said = redis_say(&c.nodes[from], "MIGRATE %s %d %s 0 5000",
                                 c.nodes[to].ip, c.nodes[to].port, key);
    if (strcmp(said, "OK") != 0) TEST_FAIL("MIGRATE: %s", said);
}

static hf_lock *torn_lock(const char *options, const char *key, hf_hold **g)
{
    char url[600];
    begin();
    snprintf(url, sizeof url, "%s%s", c.url, options);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), NAME);
    CHECK_INT(hf_lock_try(l, g, NULL), HF_OK);
    cluster_rig_move_begin(&c, slot, from, to);
    key_move(key);
    return l;
}

static void is_freed(const char *options, const char *key)
{
    hf_hold *g = NULL;
    hf_lock *l = torn_lock(options, key, &g);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(
        redis_number(&c.nodes[from], "CLUSTER COUNTKEYSINSLOT %d", slot)
            + redis_number(&c.nodes[to], "CLUSTER COUNTKEYSINSLOT %d", slot),
        1); /* the counter */
    cluster_rig_move_keys(&c, slot, from, to);
    cluster_rig_move_end(&c, slot, to);
    CHECK_INT(rig_acquire(l, 0, 10000, NULL), HF_OK);
}

TEST(redis_cluster_move, a_lock_that_went_before_its_counter_is_freed)
{
    is_freed("", lock_key);
}

TEST(redis_cluster_move, a_lock_whose_counter_went_first_is_freed)
{
    is_freed("", counter_key);
}

TEST(redis_cluster_move, a_string_that_went_before_its_counter_is_freed)
{
    is_freed("?format=string", lock_key);
}

TEST(redis_cluster_move, a_string_whose_counter_went_first_is_freed)
{
    is_freed("?format=string", counter_key);
}

TEST(redis_cluster_move, a_lock_without_its_counter_can_be_looked_at)
{
    struct hf_info info = HF_INFO_INIT;
    hf_hold *g = NULL;
    hf_lock *l = torn_lock("", lock_key, &g);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.mine, 1);
    CHECK(info.fence > 0 && info.fence == hf_hold_fence(g));
}

/* ---- under load ---- */

TEST(redis_cluster_move, a_crowd_never_meets_while_its_slot_goes_to_and_fro)
{
    static struct crowd crowd;
    int moves = 0;
    begin();
    crowd = (struct crowd){.members = 6,
                           .rounds = 60,
                           .hold_ms = 2,
                           .how = rig_options(20000, 0, 0)};
    for (int i = 0; i < crowd.members; i++)
        crowd.locks[i] = rig_lock(rig_client(NULL), NAME);
    crowd_start(&crowd);
    for (; !crowd_is_over(&crowd); moves++) {
        cluster_rig_move(&c, slot, moves % 2 ? to : from,
                         moves % 2 ? from : to);
        rig_pause_ms(20);
    }
    crowd_finish(&crowd);
    printf("    the slot moved %d times\n", moves);
    CHECK(moves > 0);
}

/* The hash and the record move one after the other; a renewal in between is
 * sent again. */
TEST(redis_cluster_move, in_the_window_a_read_lock_is_kept)
{
    hf_hold *g = NULL;
    struct hf_error err = {0};
    struct rw a;
    begin();
    rw_open(&a, rig_client(NULL), NAME, HF_ORDER_ANY);
    CHECK_INT(hf_lock_try(a.read, &g, NULL), HF_OK);
    cluster_rig_move_begin(&c, slot, from, to);
    CHECK_INT(hf_hold_extend(g, 20000, NULL), HF_OK);
    redis_say(&c.nodes[from], "MIGRATE %s %d " NAME " 0 5000", c.nodes[to].ip,
              c.nodes[to].port);
    CHECK_INT(hf_hold_extend(g, 25000, &err), HF_UNAVAILABLE);
    CHECK(strstr(err.text, "moving") != NULL);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    cluster_rig_move_keys(&c, slot, from, to);
    CHECK_INT(hf_hold_extend(g, 25000, NULL), HF_OK);
    cluster_rig_move_end(&c, slot, to);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&c.nodes[to], "EXISTS " NAME), 0);
}
