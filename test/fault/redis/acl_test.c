/*
 * acl_test.c: users without some rights.  One rule: the error of a refused call
 * names the missing right, and calls that do not need the right work.
 */
#include <string.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

static struct lab_server r;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

static int row_count(const struct hf_list_row *row, void *user)
{
    (void)row;
    ++*(int *)user;
    return 0;
}

static int rows_count(hf_client *c)
{
    int rows = 0;
    CHECK_INT(hf_client_list(c, NULL, row_count, &rows, NULL), HF_OK);
    return rows;
}

/* Redis 7 has EVAL_RO, and rights to read a key only. */
static int has_read_only(void)
{
    return strcmp(redis_say(&r, "EVAL_RO \"return 1\" 0"), "1") == 0;
}

/* A user with these rights; the answer says OK, or the server is too old. */
static void user_make(const char *rights)
{
    CHECK_STR(redis_say(&r, "ACL SETUSER eve reset on >pw %s", rights), "OK");
}

static hf_client *user_client(const char *options, hf_log_fn log, void *user)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    char url[160];
    o.patience_ms = 3000;
    o.log = log;
    o.log_user = user;
    snprintf(url, sizeof url, "redis://eve:pw@127.0.0.1:%d%s", r.port, options);
    return rig_client_at(url, &o);
}

/* A try by a user with these rights is denied, and the error text has both
 * words. */
static void denied(const char *options, const char *rights, const char *lacks,
                   const char *word)
{
    struct hf_error err = {0};
    user_make(rights);
    hf_client *c = user_client(options, NULL, NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_DENIED);
    CHECK_INT(err.status, HF_DENIED);
    if (!strstr(err.text, lacks) || !strstr(err.text, word))
        TEST_FAIL("%s: \"%s\" lacks \"%s\" or \"%s\"", rights, err.text, lacks,
                  word);
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_DENIED);
    CHECK_INT(redis_number(&r, "DBSIZE"), 0);
    rig_close(c);
}

TEST(acl, who_lacks_the_scripts_is_told_the_command)
{
    begin();
    denied("", "~* &* +@all -eval -evalsha", "lacks the command", "evalsha");
    denied("?format=string", "~* &* +@all -eval -evalsha", "lacks the command",
           "evalsha");
}

TEST(acl, who_lacks_the_key_is_told_the_key)
{
    begin();
    denied("", "~other:* &* +@all", "lacks the", "key");
    denied("?format=string", "~other:* &* +@all", "lacks the", "key");
    denied("?format=string&fence=off", "~other:* &* +@all", "lacks the", "key");
}

TEST(acl, who_lacks_the_fences_key_gets_no_lock_without_one)
{
    begin();
    denied("", "~a &* +@all", "lacks the", "key");
    denied("?format=string", "~a &* +@all", "lacks the", "key");
}

TEST(acl, without_a_fence_its_key_is_not_needed)
{
    begin();
    user_make("~a &* +@all");
    hf_client *c = user_client("?format=string&fence=off", NULL, NULL);
    CHECK_INT(rig_probe(rig_lock(c, "a")), HF_OK);
    CHECK_INT(hf_lock_break(rig_lock(c, "a"), NULL, NULL), HF_OK);
}

TEST(acl, who_lacks_a_command_of_the_script_is_told_so)
{
    begin();
    denied("", "~* &* +@all -hset", "lacks a command", "script");
    denied("?format=string", "~* &* +@all -set", "lacks a command", "script");
    denied("?format=string&fence=off", "~* &* +@all -set", "lacks the command",
           "set");
}

/* The lock is taken by a bare SET then; only its lease can end it. */
TEST(acl, without_a_fence_who_lacks_the_scripts_cannot_release)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(RIG_TRY, 3000, HF_ACQUIRE_FIXED);
    begin();
    user_make("~* &* +@all -eval -evalsha");
    hf_client *c = user_client("?format=string&fence=off", NULL, NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "evalsha") != NULL);
}

TEST(acl, who_may_not_write_can_look)
{
    static const char *const rights[] = {
        "~* &* +@all -@write",
        "%R~* &* +@all",
        "%R~* -@all +@read +eval_ro +time",
    };
    struct hf_info info = HF_INFO_INIT;
    begin();
    redis_say(&r, "SET redisson_lock_token:{a} 7");
    redis_say(&r, "HSET a 01234567-89ab-4def-8123-456789abcdef:1 1");
    redis_say(&r, "PEXPIRE a 30000");
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        if (strstr(rights[i], "%R") && !has_read_only()) continue;
        user_make(rights[i]);
        hf_client *c = user_client("", NULL, NULL);
        hf_lock *l = rig_lock(c, "a");
        CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
        CHECK_INT(info.locked, 1);
        CHECK_INT(hf_lock_inspect(rig_lock(c, "b"), &info, NULL), HF_OK);
        CHECK_INT(info.locked, 0);
        CHECK_INT(rows_count(c), 1);
        CHECK_INT(hf_lock_break(l, NULL, NULL), HF_DENIED);
        CHECK_INT(hf_lock_try(rig_lock(c, "b"), NULL, NULL), HF_DENIED);
        rig_close(c);
    }
    CHECK_INT(redis_number(&r, "DBSIZE"), 2);
}

/* ---- without wake-ups --------------------------------------------------- */

struct log {
    atomic_int subscribe; /* lines about it */
    atomic_int polls;     /* that say what follows */
};

static void on_log(int level, const char *line, void *user)
{
    struct log *log = user;
    (void)level;
    if (strstr(line, "SUBSCRIBE")) atomic_fetch_add(&log->subscribe, 1);
    if (strstr(line, "polls")) atomic_fetch_add(&log->polls, 1);
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

/* Two waits for a lock with a long lease: both get it soon after its release,
 * and the log has one line. */
static void waits_by_polling(const char *options, const char *rights)
{
    static struct log log;
    static struct waiter w;
    char url[160];
    memset(&log, 0, sizeof log);
    user_make(rights);
    hf_client *eve = user_client(options, on_log, &log);
    snprintf(url, sizeof url, "%s%s", r.url, options);
    hf_client *holder = rig_client_at(url, NULL);
    for (int i = 0; i < 2; i++) {
        hf_lock *held = rig_lock(holder, i ? "a" : "b");
        CHECK_INT(hf_lock_try(held, NULL, NULL), HF_OK);
        w.lock = rig_lock(eve, i ? "a" : "b");
        atomic_store(&w.done, 0);
        rig_spawn(waiter_run, &w);
        rig_pause_ms(300);
        CHECK_INT(atomic_load(&w.done), 0);
        CHECK_INT(hf_lock_release(held, NULL, NULL), HF_OK);
        CHECK(rig_until_equal(&w.done, 1));
        CHECK_INT(w.status, HF_OK);
        rig_join();
    }
    CHECK_INT(atomic_load(&log.subscribe), 1);
    CHECK_INT(atomic_load(&log.polls), 1);
    rig_close(eve);
    rig_close(holder);
}

TEST(acl, who_may_not_subscribe_waits_by_polling_and_is_told_once)
{
    begin();
    waits_by_polling("", "~* &* +@all -subscribe");
    waits_by_polling("?format=string", "~* &* +@all -subscribe");
}

TEST(acl, who_lacks_the_channel_waits_by_polling_and_is_told_once)
{
    begin();
    waits_by_polling("", "~* resetchannels &other +@all");
    waits_by_polling("?format=string", "~* resetchannels &other +@all");
}

/* ---- values and runs ---------------------------------------------------- */

TEST(acl, who_may_not_expire_writes_no_value_with_an_end)
{
    struct hf_error err = {0};
    begin();
    user_make("~* &* +@all -pexpire");
    hf_client *c = user_client("", NULL, NULL);
    CHECK_INT(hf_value_write(c, "v", 0, "x", 1, 5000, NULL, &err), HF_DENIED);
    CHECK_INT(redis_number(&r, "EXISTS v"), 0);
    uint64_t version;
    CHECK_INT(hf_value_write(c, "v", 0, "old", 3, 0, &version, &err), HF_OK);
    CHECK_INT(hf_value_write(c, "v", version, "x", 1, 5000, NULL, &err),
              HF_DENIED);
    CHECK_STR(redis_say(&r, "HGET v value"), "old");
    CHECK_INT(redis_number(&r, "HGET v version"), version);
}

TEST(acl, who_may_not_make_a_value_last_leaves_its_end)
{
    uint64_t version;
    struct hf_error err = {0};
    begin();
    user_make("~* &* +@all -persist");
    hf_client *c = user_client("", NULL, NULL);
    CHECK_INT(hf_value_write(c, "v", 0, "old", 3, 50000, &version, &err),
              HF_OK);
    CHECK_INT(hf_value_write(c, "v", version, "x", 1, 0, NULL, &err),
              HF_DENIED);
    CHECK_STR(redis_say(&r, "HGET v value"), "old");
    CHECK(redis_number(&r, "PTTL v") > 0);
    /* A new value has no expiry that would have to be removed. */
    CHECK_INT(hf_value_write(c, "w", 0, "x", 1, 0, NULL, &err), HF_OK);
}

TEST(acl, who_lacks_a_values_key_is_told_that_one)
{
    struct hf_error err = {0};
    struct hf_value v = HF_VALUE_INIT;
    begin();
    user_make("~other:* &* +@all");
    hf_client *c = user_client("", NULL, NULL);
    CHECK_INT(hf_value_read(c, "the value", &v, &err), HF_DENIED);
    CHECK(strstr(err.text, "the user lacks the key") != NULL);
    CHECK(strstr(err.text, "the value") != NULL);
    CHECK(strstr(err.text, "redisson") == NULL);
}

TEST(acl, who_lacks_a_guards_keys_is_told_those)
{
    struct hf_error err = {0};
    begin();
    user_make("~other:* &* +@all");
    hf_client *c = user_client("", NULL, NULL);
    CHECK_INT(hf_guard_touch(c, "the guard", 7, &err), HF_DENIED);
    CHECK(strstr(err.text, "the key the guard, or holdfast_guard:") != NULL);
    CHECK(strstr(err.text, "redisson") == NULL);
}

TEST(acl, who_gives_no_password_is_told_so)
{
    struct hf_error err = {0};
    char url[96];
    begin();
    user_make("~* &* +@all");
    snprintf(url, sizeof url, "redis://eve@127.0.0.1:%d", r.port);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "no password was given") != NULL);
}

static void on_release_log(int level, const char *line, void *user)
{
    (void)level;
    if (strstr(line, "not released")) atomic_fetch_add((atomic_int *)user, 1);
}

TEST(acl, who_may_not_release_is_told_at_the_end_of_a_run)
{
    static atomic_int told;
    struct hf_error err = {0};
    struct hf_once_result result = HF_ONCE_RESULT_INIT;
    hf_once *run;
    begin();
    atomic_store(&told, 0);
    user_make("~* &* +@all");
    hf_client *c = user_client("?lease=4s", on_release_log, &told);
    CHECK_INT(hf_once_begin(c, "job", NULL, &run, &result, &err), HF_OK);
    CHECK_STR(redis_say(&r, "ACL SETUSER eve -del"), "OK");
    CHECK_INT(hf_once_end(run, 0, NULL, 0, &err), HF_OK);
    CHECK_INT(err.status, HF_DENIED);
    CHECK_INT(atomic_load(&told), 1);
}
