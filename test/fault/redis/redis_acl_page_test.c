/*
 * redis_acl_page_test.c: users with the rights that docs/how-to/acl.md tells,
 * for the one name "a".  One rule: with them the use works, waits by messages
 * included, and what the block does not give is refused.  Of inspect and
 * quorum, which the contract tries only beside other uses, each right is used.
 */
#include <string.h>

#include "lib/acl_page.h"
#include "lib/fair.h"
#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_gate.h"
#include "lib/rig_rw.h"
#include "lib/rig_semaphore.h"

static struct lab_server r;
static atomic_int polls;

/* The library says in the log that a user may not subscribe. */
static void on_log(int level, const char *line, void *user)
{
    (void)level;
    (void)user;
    if (strstr(line, "polls")) atomic_fetch_add(&polls, 1);
}

static void begin(const char *uses)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    acl_user_make(&r, ACL_USER, uses, "a");
    atomic_store(&polls, 0);
}

static hf_client *client(const char *options)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[160];
    o.log = on_log;
    snprintf(url, sizeof url,
             "redis://" ACL_USER ":" ACL_PASSWORD "@127.0.0.1:%d%s", r.port,
             options);
    return rig_client_at(url, &o);
}

/* Both hold it in turn, the second after a wait. */
static void waits(hf_lock *one, hf_lock *two)
{
    hf_hold *g = NULL;
    static struct fair_waiter w;
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(rig_acquire(one, 0, 0, &g), HF_OK);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(one, &info, NULL), HF_OK);
    memset(&w, 0, sizeof w);
    w.lock = two;
    rig_spawn(fair_run, &w);
    rig_pause_ms(200);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK_INT(atomic_load(&polls), 0);
}

TEST(redis_acl_page, a_lock_needs_no_more)
{
    begin("lock");
    waits(rig_lock(client(""), "a"), rig_lock(client(""), "a"));
    CHECK_INT(rig_probe(rig_lock(client(""), "b")), HF_DENIED);
    CHECK_INT(hf_lock_break(rig_lock(client(""), "b"), NULL, NULL), HF_DENIED);
}

TEST(redis_acl_page, a_lock_that_is_a_string_needs_no_more)
{
    static const char *const options[] = {"?format=string",
                                          "?format=string&fence=off"};
    begin("string");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        waits(rig_lock(client(options[i]), "a"),
              rig_lock(client(options[i]), "a"));
    CHECK_INT(rig_probe(rig_lock(client(options[0]), "b")), HF_DENIED);
}

TEST(redis_acl_page, a_fair_lock_needs_no_more)
{
    begin("fair");
    waits(fair_lock(client(""), "a"), fair_lock(client(""), "a"));
    waits(rig_lock(client(""), "a"), fair_lock(client(""), "a"));
    CHECK_INT(rig_probe(fair_lock(client(""), "b")), HF_DENIED);
}

TEST(redis_acl_page, a_read_write_lock_needs_no_more)
{
    static struct rw one, two;
    begin("readwrite");
    rw_open(&one, client(""), "a", HF_ORDER_ANY);
    rw_open(&two, client(""), "a", HF_ORDER_ANY);
    waits(one.read, two.write);
    waits(one.write, two.read);
    CHECK_INT(rig_probe(rig_lock(client(""), "b")), HF_DENIED);
}

TEST(redis_acl_page, a_semaphore_needs_no_more)
{
    static struct taker t;
    hf_hold *p;
    begin("semaphore");
    hf_semaphore *one = rig_semaphore(client(""), "a", 1);
    hf_semaphore *two = rig_semaphore(client(""), "a", 1);
    CHECK_INT(hf_semaphore_try(one, &p, NULL), HF_OK);
    CHECK_INT(hf_hold_extend(p, 0, NULL), HF_OK);
    taker_start(&t, two, 1, RIG_WAIT_MS);
    rig_pause_ms(200);
    CHECK_INT(hf_hold_release(p, NULL), HF_OK);
    rig_join();
    CHECK_INT(t.status, HF_OK);
    CHECK_INT(atomic_load(&polls), 0);
}

TEST(redis_acl_page, a_latch_needs_no_more)
{
    static struct gate_wait w;
    begin("latch");
    hf_latch *one = rig_latch(client(""), "a");
    CHECK_INT(hf_latch_set(one, 1, NULL), HF_OK);
    gate_wait_latch(&w, rig_latch(client(""), "a"), RIG_WAIT_MS, NULL);
    rig_pause_ms(200);
    CHECK_INT(hf_latch_down(one, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
    CHECK_INT(atomic_load(&polls), 0);
}

TEST(redis_acl_page, a_barrier_needs_no_more)
{
    static struct gate_wait w;
    begin("barrier");
    gate_wait_barrier(&w, rig_barrier(client(""), "a", 2), RIG_WAIT_MS, NULL);
    rig_pause_ms(200);
    CHECK_INT(rig_barrier_wait(rig_barrier(client(""), "a", 2), RIG_WAIT_MS,
                               NULL, NULL),
              HF_OK);
    CHECK_INT(gate_ended(&w), HF_OK);
    CHECK_INT(atomic_load(&polls), 0);
}

TEST(redis_acl_page, a_value_needs_no_more)
{
    struct hf_value v = HF_VALUE_INIT;
    uint64_t version;
    begin("value");
    hf_client *c = client("");
    CHECK_INT(hf_value_write(c, "a", 0, "x", 1, 5000, &version, NULL), HF_OK);
    CHECK_INT(hf_value_write(c, "a", version, "y", 1, 0, NULL, NULL), HF_OK);
    CHECK_INT(hf_value_read(c, "a", &v, NULL), HF_OK);
    hf_value_free(c, &v);
    CHECK_INT(hf_value_write(c, "b", 0, "x", 1, 0, NULL, NULL), HF_DENIED);
}

TEST(redis_acl_page, a_guard_needs_no_more)
{
    begin("guard");
    hf_client *c = client("");
    CHECK_INT(hf_guard_touch(c, "a", 7, NULL), HF_OK);
    CHECK_INT(hf_guard_touch(c, "a", 6, NULL), HF_STALE);
    CHECK_INT(hf_guard_set(c, "a", 8, "x", 1, 0, NULL), HF_OK);
    CHECK_INT(hf_guard_touch(c, "b", 7, NULL), HF_DENIED);
}

static int on_row(const struct hf_list_row *row, void *user)
{
    if (!strcmp(row->name, "a")) ++*(int *)user;
    return 0;
}

/* The lock is held by a user with all rights; the user under test may look at
 * it, and no more. */
static void looked_at(hf_lock *held, hf_lock *look)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_INT(hf_lock_try(held, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_inspect(look, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(hf_lock_break(look, NULL, NULL), HF_DENIED);
    CHECK_INT(hf_lock_release(held, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_try(look, NULL, NULL), HF_DENIED);
}

TEST(redis_acl_page, looking_on_needs_no_more_and_changes_nothing)
{
    static struct rw all, look;
    hf_hold *p;
    begin("inspect");
    hf_client *admin = rig_client(NULL), *c = client("");
    looked_at(rig_lock(admin, "a"), rig_lock(c, "a"));
    looked_at(fair_lock(admin, "a"), fair_lock(c, "a"));
    rw_open(&all, admin, "a", HF_ORDER_ANY);
    rw_open(&look, c, "a", HF_ORDER_ANY);
    looked_at(all.read, look.read);
    looked_at(all.write, look.write);
    CHECK_STR(redis_say(&r, "FLUSHALL"), "OK");
    hf_semaphore *sem = rig_semaphore(admin, "a", 2);
    CHECK_INT(hf_semaphore_try(sem, &p, NULL), HF_OK);
    CHECK_INT(rig_count(rig_semaphore(c, "a", 2)).taken, 1);
}

TEST(redis_acl_page, listing_needs_no_more)
{
    int rows = 0;
    begin("inspect");
    hf_lock *held = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(held, NULL, NULL), HF_OK);
    CHECK_STR(redis_say(&r, "SET b secret"), "OK");
    CHECK_INT(hf_client_list(client(""), NULL, on_row, &rows, NULL), HF_OK);
    CHECK_INT(rows, 1);
}

/* ---- every right is of use ---------------------------------------------- */

/* Commands that the user alone has called, each between blanks. */
static char called[4096];

/* From now on only the user acts. */
static void note_begin(struct lab_server *at)
{
    CHECK_STR(redis_say(at, "CONFIG RESETSTAT"), "OK");
}

/* This INFO itself is counted only when it is over. */
static void note_end(struct lab_server *at)
{
    for (const char *line = redis_say(at, "INFO commandstats"); line;) {
        char word[64] = " ";
        long long calls = 0;
        if (sscanf(line, "cmdstat_%62[^:]:calls=%lld", word + 1, &calls) == 2
            && calls > 0) {
            size_t used = strlen(called);
            CHECK(used + strlen(word) + 2 < sizeof called);
            snprintf(called + used, sizeof called - used, "%s ", word);
        }
        line = strchr(line, '\n');
        if (line) line++;
    }
}

/* Was each command of the block called, but for those in `rare`? */
static void is_of_use(const char *use, const char *rare)
{
    char block[1024] = "", wanted[64];
    char *rest = block;
    int unused = 0;
    acl_block_add(block, sizeof block, use, "a");
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (word[0] != '+') continue;
        snprintf(wanted, sizeof wanted, " %s ", word + 1);
        if (strstr(called, wanted) || strstr(rare, wanted)) continue;
        printf("    %s: of no use: %s\n", use, word);
        unused++;
    }
    CHECK_INT(unused, 0);
}

/* A held lock, looked at by the user alone. */
static void look_noted(hf_lock *look)
{
    struct hf_info info = HF_INFO_INIT;
    note_begin(&r);
    CHECK_INT(hf_lock_inspect(look, &info, NULL), HF_OK);
    note_end(&r);
    CHECK_INT(info.locked, 1);
    CHECK_STR(redis_say(&r, "FLUSHALL"), "OK");
}

TEST(redis_acl_page, looking_on_uses_every_right)
{
    static struct rw all;
    hf_hold *p;
    int64_t left;
    int rows = 0;
    begin("inspect");
    called[0] = '\0';
    note_begin(&r);
    hf_client *c = client("");
    CHECK_INT(hf_client_list(c, NULL, on_row, &rows, NULL), HF_OK);
    note_end(&r);
    hf_client *admin = rig_client(NULL);
    CHECK_INT(rig_acquire(rig_lock(admin, "a"), 0, 0, NULL), HF_OK);
    look_noted(rig_lock(c, "a"));
    rw_open(&all, admin, "a", HF_ORDER_ANY);
    CHECK_INT(rig_acquire(all.read, 0, 0, NULL), HF_OK);
    look_noted(rig_lock(c, "a"));
    CHECK_INT(hf_semaphore_try(rig_semaphore(admin, "a", 2), &p, NULL), HF_OK);
    look_noted(hf_semaphore_lock(rig_semaphore(c, "a", 2)));
    CHECK_STR(redis_say(&r, "SET a hf1: PX 60000"), "OK");
    look_noted(rig_lock(c, "a"));
    CHECK_INT(hf_latch_set(rig_latch(admin, "a"), 1, NULL), HF_OK);
    note_begin(&r);
    CHECK_INT(hf_latch_count(rig_latch(c, "a"), &left, NULL), HF_OK);
    note_end(&r);
    is_of_use("inspect", " eval ");
}

#define MEMBERS 3

static struct lab_server members[MEMBERS];

/* Start them, each with a user of these rights; the quorum's URL. */
static const char *members_begin(const char *uses)
{
    static char url[256];
    snprintf(url, sizeof url, "redlock://" ACL_USER ":" ACL_PASSWORD "@");
    for (int i = 0; i < MEMBERS; i++) {
        size_t used = strlen(url);
        redis_begin(&members[i], NULL);
        acl_user_make(&members[i], ACL_USER, uses, "a");
        snprintf(url + used, sizeof url - used, "%s127.0.0.1:%d", i ? "," : "",
                 members[i].port);
    }
    rig_begin_at(url);
    return url;
}

static void members_init(const char *url)
{
    struct hf_quorum_node nodes[MEMBERS];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    if (nodes_init(url, &o, nodes, MEMBERS, &len, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
}

TEST(redis_acl_page, a_member_of_a_quorum_needs_no_more)
{
    hf_hold *g = NULL;
    members_init(members_begin("lock,quorum"));
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_OK);
    for (int i = 0; i < MEMBERS; i++)
        CHECK_INT(redis_number(&members[i], "EXISTS a"), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
}

/* Becoming a member needs no lock's rights. */
TEST(redis_acl_page, a_member_of_a_quorum_uses_every_right)
{
    const char *url = members_begin("quorum");
    called[0] = '\0';
    note_begin(&members[0]);
    members_init(url);
    note_end(&members[0]);
    is_of_use("quorum", "");
}
