/*
 * redis_cluster_names_test.c: names with any braces, on a real cluster.  One
 * rule: all keys of a lock are in the slot of its name, whatever its name is.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"

static const char *const odd[] = {"{",    "}",       "{}",   "a{b}c", "{{x}}",
                                  "}{",   "foo{bar", "{}x",  "a}b",   "a}b{c}d",
                                  "{a}}", "plain",   "{}{x}"};
#define ODD (int)(sizeof odd / sizeof odd[0])

static struct lab_cluster c;

/* Every key that any node has is in this slot. */
static void all_are_in(int slot)
{
    int keys = 0;
    for (int i = 0; i < c.len; i++) {
        char list[4096];
        char *rest = NULL;
        snprintf(list, sizeof list, "%s", redis_say(&c.nodes[i], "KEYS *"));
        for (char *key = strtok_r(list, "\n", &rest); key;
             key = strtok_r(NULL, "\n", &rest), keys++)
            if (cluster_rig_slot(&c, key) != slot)
                TEST_FAIL("%s is not in slot %d", key, slot);
    }
    CHECK(keys > 0);
}

static void flush(void)
{
    for (int i = 0; i < c.masters; i++) redis_say(&c.nodes[i], "FLUSHALL");
}

TEST(redis_cluster_names, are_locked_kept_and_freed_with_any_braces)
{
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < ODD; i++) {
        hf_hold *first, *second;
        struct hf_error err = {0};
        hf_lock *l = rig_lock(client, odd[i]);
        if (hf_lock_try(l, &first, &err) != HF_OK)
            TEST_FAIL("%s: %s", odd[i], err.text);
        uint64_t fence = hf_hold_fence(first);
        all_are_in(cluster_rig_slot(&c, odd[i]));
        CHECK_INT(hf_hold_extend(first, 20000, NULL), HF_OK);
        CHECK_INT(hf_hold_release(first, NULL), HF_OK);
        CHECK_INT(hf_lock_try(l, &second, NULL), HF_OK);
        CHECK(hf_hold_fence(second) > fence);
        CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
        /* Otherwise its renewal finds out, and writes once more, later. */
        CHECK_INT(hf_hold_release(second, NULL), HF_EXPIRED);
        flush();
    }
}

struct waiter {
    hf_lock *lock;
    atomic_int is_seen;
    int status;
};

/* Each try is shorter than the longest sleep of a waiter that nobody wakes.
 * Once it was seen to wait, the try under way is the one that counts. */
static void wait_run(void *arg)
{
    struct waiter *w = arg;
    do {
        w->status = rig_acquire(w->lock, 0, 4000, NULL);
    } while (w->status == HF_TIMEOUT && !atomic_load(&w->is_seen));
}

static int has_waiter(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.waiters == 1;
}

/* The status of the wait that was under way when the lock was released. */
static int release_to(hf_lock *mine, hf_lock *theirs, const char *name)
{
    static struct waiter w;
    w = (struct waiter){.lock = theirs};
    CHECK_INT(hf_lock_try(mine, NULL, NULL), HF_OK);
    rig_spawn(wait_run, &w);
    int is_waiting = rig_until(has_waiter, mine);
    atomic_store(&w.is_seen, 1);
    CHECK_INT(hf_lock_release(mine, NULL, NULL), HF_OK);
    rig_join();
    if (!is_waiting) TEST_FAIL("%s: nobody waits", name);
    return w.status;
}

/* A try may be over just before the release: there are several rounds. */
static void wakes_everywhere(const char *options)
{
    char url[600];
    cluster_rig_begin(&c, 3, 0);
    snprintf(url, sizeof url, "%s%s", c.url, options);
    hf_client *mine = rig_client_at(url, NULL),
              *theirs = rig_client_at(url, NULL);
    for (int i = 0; i < ODD; i++) {
        hf_lock *l = rig_lock(mine, odd[i]), *other = rig_lock(theirs, odd[i]);
        int status = HF_TIMEOUT;
        for (int round = 0; round < 5 && status == HF_TIMEOUT; round++)
            status = release_to(l, other, odd[i]);
        if (status != HF_OK) TEST_FAIL("%s: %d", odd[i], status);
        CHECK_INT(hf_lock_break(l, NULL, NULL), HF_OK);
    }
}

TEST(redis_cluster_names, wake_who_waits_by_sharded_messages)
{
    wakes_everywhere("?pubsub=sharded");
}

TEST(redis_cluster_names, wake_who_waits_by_classic_messages)
{
    wakes_everywhere("?pubsub=classic");
}

TEST(redis_cluster_names, wake_who_waits_by_messages_of_both_kinds)
{
    wakes_everywhere("?pubsub=both");
}

TEST(redis_cluster_names, are_locked_without_a_fence_as_well)
{
    char url[600];
    cluster_rig_begin(&c, 3, 0);
    snprintf(url, sizeof url, "%s?format=string&fence=off", c.url);
    hf_client *client = rig_client_at(url, NULL);
    for (int i = 0; i < ODD; i++) {
        CHECK_INT(rig_probe(rig_lock(client, odd[i])), HF_OK);
        CHECK_INT(rig_probe(rig_lock(client, odd[i])), HF_OK);
    }
}

TEST(redis_cluster_names, of_resources_have_their_guards_with_them)
{
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < ODD; i++) {
        struct hf_value v = HF_VALUE_INIT;
        CHECK_INT(hf_guard_set(client, odd[i], 5, "x", 1, 0, NULL), HF_OK);
        all_are_in(cluster_rig_slot(&c, odd[i]));
        CHECK(hf_guard_set(client, odd[i], 4, "y", 1, 0, NULL) != HF_OK);
        CHECK_INT(hf_guard_read(client, odd[i], &v, NULL), HF_OK);
        CHECK_INT(v.version, 5);
        CHECK_STR(v.data, "x");
        hf_value_free(client, &v);
        CHECK_INT(hf_guard_claim(client, odd[i], 7, NULL), HF_OK);
        flush();
    }
}

TEST(redis_cluster_names, may_be_those_of_values_and_runs)
{
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < ODD; i++) {
        struct hf_once_result r = HF_ONCE_RESULT_INIT;
        hf_once *run;
        uint64_t version = 0;
        CHECK_INT(hf_once_begin(client, odd[i], NULL, &run, &r, NULL), HF_OK);
        CHECK_INT(hf_once_end(run, 0, NULL, 0, NULL), HF_OK);
        flush();
        CHECK_INT(hf_value_write(client, odd[i], 0, "v", 1, 0, &version, NULL),
                  HF_OK);
        CHECK(version > 0);
        flush();
    }
}

static int on_row(const struct hf_list_row *row, void *user)
{
    int *seen = user;
    for (int i = 0; i < ODD; i++)
        if (row->name_len == strlen(odd[i])
            && !memcmp(row->name, odd[i], row->name_len))
            seen[i] += row->info->locked;
    return 0;
}

TEST(redis_cluster_names, are_listed_once_each_from_all_masters)
{
    int seen[ODD] = {0};
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < ODD; i++)
        CHECK_INT(hf_lock_try(rig_lock(client, odd[i]), NULL, NULL), HF_OK);
    CHECK_INT(hf_client_list(client, NULL, on_row, seen, NULL), HF_OK);
    for (int i = 0; i < ODD; i++)
        if (seen[i] != 1) TEST_FAIL("%s: %d times", odd[i], seen[i]);
}

static int on_token(const struct hf_list_row *row, void *user)
{
    int *tokens = user;
    *tokens += row->info->fence > 0;
    return 0;
}

/* The counters of some have names that nobody could guess. */
TEST(redis_cluster_names, are_listed_with_their_tokens)
{
    int tokens = 0;
    cluster_rig_begin(&c, 3, 0);
    hf_client *client = rig_client(NULL);
    for (int i = 0; i < ODD; i++)
        CHECK_INT(hf_lock_try(rig_lock(client, odd[i]), NULL, NULL), HF_OK);
    CHECK_INT(hf_client_list(client, NULL, on_token, &tokens, NULL), HF_OK);
    CHECK_INT(tokens, ODD);
}

/* testInCluster */
TEST(redis_cluster_names, of_a_set_may_be_in_slots_of_several_masters)
{
    hf_lock *locks[ODD];
    hf_multi *set = NULL;
    hf_hold *g = NULL;
    cluster_rig_begin(&c, 3, 0);
    hf_client *mine = rig_client(NULL), *theirs = rig_client(NULL);
    for (int i = 0; i < ODD; i++) locks[i] = rig_lock(mine, odd[i]);
    CHECK_INT(hf_multi_open(locks, ODD, &set, NULL), HF_OK);
    CHECK_INT(hf_multi_acquire(set, NULL, &g, NULL), HF_OK);
    for (int i = 0; i < ODD; i++)
        CHECK_INT(rig_probe(rig_lock(theirs, odd[i])), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    for (int i = 0; i < ODD; i++)
        CHECK_INT(rig_probe(rig_lock(theirs, odd[i])), HF_OK);
    hf_multi_close(set);
}
