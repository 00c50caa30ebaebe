/*
 * redis_fair_test.c: fair locks on a real server, and what goes wrong there.
 * One rule: a test waits until its waiters are in the queue before it goes on.
 */
#include <signal.h>
#include <string.h>

#include "lib/fair.h"
#include "lib/proc.h"
#include "lib/rig_redis.h"

#define QUEUE "holdfast_queue:{a}"
#define QUEUED "holdfast_queue_who:{a}"
#define JAVA "0f0f0f0f-1111-4222-8333-444444444444:1"

static struct lab_server r;
static struct fair_waiter waiters[FAIR_MAX];
static atomic_int turns;

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    atomic_store(&turns, 0);
}

static void waiter_join(int i, hf_client *c, int64_t hold_ms)
{
    waiters[i] = (struct fair_waiter){
        .lock = fair_lock(c, "a"), .turns = &turns, .hold_ms = hold_ms};
    fair_join(&waiters[i]);
}

/* ---- processes that die ------------------------------------------------- */

/* A process that waits for the lock, and is killed. */
static int doomed_run(struct lab_proc *self, const void *arg)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options wait = rig_options(60000, 0, 0);
    hf_client *c = NULL;
    hf_lock *l = NULL;
    o.order = HF_ORDER_FAIR;
    if (hf_client_open(arg, NULL, &c, NULL) != HF_OK) return 1;
    if (hf_lock_open_as(c, "a", &o, &l, NULL) != HF_OK) return 1;
    proc_say(self, "waits");
    (void)hf_lock_acquire(l, &wait, NULL, NULL);
    proc_say(self, "has it");
    (void)proc_hears(self, "never", 120000);
    return 0;
}

static void doomed_start(struct lab_proc *p)
{
    proc_start(p, doomed_run, r.url);
    CHECK(proc_hears(p, "waits", RIG_PATIENCE_MS));
}

static void doomed_kill(struct lab_proc *p)
{
    proc_signal(p, SIGKILL);
    CHECK_INT(proc_wait(p, RIG_PATIENCE_MS), -SIGKILL);
}

/* Defect 2 of Redisson's: the lock is free, the first of the queue is dead, and
 * the others ask without a pause for five minutes. */
TEST(redis_fair, a_dead_waiter_is_skipped_and_nobody_spins)
{
    static struct lab_proc doomed;
    static struct fair_waiter w;
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    doomed_start(&doomed);
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK(fair_until_queued(l, 1));
    doomed_kill(&doomed);
    w = (struct fair_waiter){.lock = l};
    fair_join(&w);
    redis_say(&r, "DEL a"); /* and nobody is told */
    int64_t before = redis_info(&r, "total_commands_processed");
    rig_join();
    CHECK_INT(w.status, HF_OK);
    CHECK(redis_info(&r, "total_commands_processed") - before < 300);
}

/* It was given the lock, and is dead: a waiter passes the lock on. */
TEST(redis_fair, what_was_given_to_the_dead_is_given_to_the_next)
{
    static struct lab_proc doomed;
    begin();
    doomed_start(&doomed);
    CHECK(proc_hears(&doomed, "has it", RIG_PATIENCE_MS));
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    waiter_join(0, rig_client(NULL), 0);
    proc_signal(&doomed, SIGSTOP);
    redis_say(&r, "PEXPIRE a 1500"); /* as if it had just been given it */
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    CHECK(fair_until_queued(l, 0));
    doomed_kill(&doomed);
}

/* A waiter that has not asked just now is not given the lock for a whole lease,
 * only for the moment in which it could ask. */
TEST(redis_fair, what_is_given_to_a_stopped_waiter_goes_to_the_next)
{
    static struct lab_proc doomed;
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    doomed_start(&doomed);
    CHECK(fair_until_queued(l, 1));
    waiter_join(0, rig_client(NULL), 0);
    proc_signal(&doomed, SIGSTOP);
    rig_pause_ms(100);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK(redis_number(&r, "PTTL a") <= 1500);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    doomed_kill(&doomed);
}

static int is_empty(void *arg)
{
    (void)arg;
    return redis_number(&r, "EXISTS " QUEUE " " QUEUED) == 0;
}

/* Defect 3: there, the keys of the queue stay for ever. */
TEST(redis_fair, what_is_stored_of_a_queue_ends_by_itself)
{
    static const char *const keys[] = {QUEUE, QUEUED};
    static struct lab_proc doomed;
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    doomed_start(&doomed);
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK(fair_until_queued(l, 1));
    for (int i = 0; i < 2; i++) {
        int64_t ttl_ms = redis_number(&r, "PTTL %s", keys[i]);
        CHECK(ttl_ms > 0 && ttl_ms <= 10000);
    }
    doomed_kill(&doomed);
    CHECK(fair_until_queued(l, 0));
    CHECK(rig_until(is_empty, NULL)); /* looked at, and not touched */
}

/* ---- what is told ------------------------------------------------------- */

static int64_t publishes(void)
{
    const char *text = redis_say(&r, "INFO commandstats");
    const char *at = strstr(text, "cmdstat_publish:calls=");
    long long calls = 0;
    if (at) (void)sscanf(at, "cmdstat_publish:calls=%lld", &calls);
    return calls;
}

static int64_t scripts_run(void)
{
    const char *text = redis_say(&r, "INFO commandstats");
    const char *at = strstr(text, "cmdstat_evalsha:calls=");
    long long calls = 0;
    if (at) (void)sscanf(at, "cmdstat_evalsha:calls=%lld", &calls);
    return calls;
}

TEST(redis_fair, a_release_sends_one_message_to_one_process)
{
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    for (int i = 0; i < 4; i++) waiter_join(i, rig_client(NULL), 0);
    int64_t before = publishes();
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    /* One for each waiter that was given it, and one when it is free. */
    CHECK_INT(publishes() - before, 5);
    for (int i = 0; i < 4; i++) CHECK_INT(waiters[i].turn, i + 1);
}

TEST(redis_fair, who_does_not_queue_pays_nothing_for_it)
{
    begin();
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(rig_probe(l), HF_OK);
    int64_t before = scripts_run();
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(scripts_run() - before, 2);
}

static void on_handed_over(hf_lock *lock, int status, hf_hold *hold,
                           const struct hf_error *err, void *user)
{
    (void)lock;
    (void)err;
    if (status == HF_OK && hf_hold_state(hold) == HF_STATE_HELD)
        atomic_fetch_add((atomic_int *)user, 1);
}

TEST(redis_fair, a_hand_over_takes_two_commands)
{
    static atomic_int handed;
    begin();
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    hf_lock *l = fair_lock(c, "a"), *m = fair_lock(d, "a");
    hf_hold *g = NULL;
    struct hf_acquire_options o = rig_options(RIG_WAIT_MS, 0, 0);
    atomic_store(&handed, 0);
    CHECK_INT(rig_acquire(l, hf_holder_new(), 0, &g), HF_OK);
    CHECK_INT(hf_lock_acquire_start(m, &o, on_handed_over, &handed, NULL),
              HF_OK);
    CHECK(fair_until_queued(l, 1));
    rig_pause_ms(50); /* what it asks until it is told is over */
    int64_t before = scripts_run();
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK(rig_until_equal(&handed, 1));
    CHECK(scripts_run() - before <= 2);
}

/* A release of Redisson's: delete, and a message to everybody. */
TEST(redis_fair, a_lock_that_redisson_releases_goes_to_the_first)
{
    begin();
    redis_say(&r, "HSET a " JAVA " 1");
    redis_say(&r, "PEXPIRE a 60000");
    for (int i = 0; i < 4; i++) waiter_join(i, rig_client(NULL), 20);
    redis_say(&r, "DEL a");
    redis_say(&r, "PUBLISH redisson_lock__channel:{a} 0");
    rig_join();
    for (int i = 0; i < 4; i++) CHECK_INT(waiters[i].turn, i + 1);
}

static int is_heard(void *arg)
{
    (void)arg;
    return strstr(redis_say(&r, "PUBSUB NUMSUB redisson_lock__channel:{a}"),
                  "\n1")
           != NULL;
}

/* Clients outside the queue are told only when the queue is empty. */
TEST(redis_fair, the_lock_is_told_to_be_free_when_the_queue_is_empty)
{
    static struct fair_waiter plain;
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    plain = (struct fair_waiter){.lock = rig_lock(rig_client(NULL), "a"),
                                 .turns = &turns};
    rig_spawn(fair_run, &plain);
    CHECK(rig_until(is_heard, NULL));
    waiter_join(0, rig_client(NULL), 50);
    waiter_join(1, rig_client(NULL), 50);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(plain.status, HF_OK);
    CHECK_INT(plain.turn, 3);
}

/* ---- servers that fail -------------------------------------------------- */

/* testAcquireFailedNotCalledOnRedisTimeout */
TEST(redis_fair, who_gives_up_while_the_server_hangs_leaves_the_queue_later)
{
    static struct fair_waiter w;
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    w = (struct fair_waiter){.lock = fair_lock(rig_client(NULL), "a"),
                             .wait_ms = 1500};
    fair_join(&w);
    redis_say(&r, "CLIENT PAUSE 3000 WRITE");
    rig_join();
    CHECK_INT(w.status, HF_TIMEOUT);
    CHECK(fair_until_queued(l, 0));
}

TEST(redis_fair, waiters_outlive_a_restart_without_data)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    begin();
    o.patience_ms = 15000;
    hf_client *c = rig_client_at(r.url, &o);
    CHECK_INT(rig_acquire(fair_lock(rig_client_at(r.url, &o), "a"), 0, 0, NULL),
              HF_OK);
    waiter_join(0, c, 0);
    waiter_join(1, c, 0);
    redis_shutdown(&r, 0);
    redis_start(&r);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    CHECK_INT(waiters[1].status, HF_OK);
}

TEST(redis_fair, scripts_that_were_flushed_are_sent_again)
{
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    redis_say(&r, "SCRIPT FLUSH");
    waiter_join(0, rig_client(NULL), 0);
    redis_say(&r, "SCRIPT FLUSH");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiters[0].release_status, HF_OK);
}

/* The request by which a waiter asks again is refused, and with it the waiter's
 * place: it may have to ask once more when there is room. */
TEST(redis_fair, a_full_server_still_hands_over)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    begin();
    o.patience_ms = RIG_PATIENCE_MS;
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    waiter_join(0, rig_client_at(r.url, &o), 1000);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 1);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 0"), "OK");
    CHECK(rig_until_equal(&turns, 1));
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    CHECK_INT(waiters[0].release_status, HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 0"), "OK");
}

TEST(redis_fair, a_link_that_breaks_costs_no_place)
{
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    for (int i = 0; i < 3; i++) waiter_join(i, rig_client(NULL), 0);
    redis_say(&r, "CLIENT KILL TYPE normal SKIPME yes");
    redis_say(&r, "CLIENT KILL TYPE pubsub");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    for (int i = 0; i < 3; i++) {
        CHECK_INT(waiters[i].status, HF_OK);
        CHECK_INT(waiters[i].turn, i + 1);
    }
}

/* ---- what is no lock ---------------------------------------------------- */

static void conflicts(const char *make, const char *key)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "%s", make);
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_CONFLICT);
    CHECK(err.text[0] != '\0');
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
    CHECK_INT(redis_number(&r, "EXISTS %s", key), 1);
}

TEST(redis_fair, what_is_no_lock_is_a_conflict_and_stays)
{
    begin();
    conflicts("SET a x", "a");
    conflicts("HSET a name value", "a");
    conflicts("HSET a mode read " JAVA " 1", "a");
    conflicts("SET " QUEUE " x", QUEUE);
    conflicts("SET " QUEUED " x", QUEUED);
    conflicts("SET redisson_lock_token:{a} none", "redisson_lock_token:{a}");
}

TEST(redis_fair, who_does_not_queue_finds_a_foreign_queue_a_conflict)
{
    struct hf_error err = {0};
    begin();
    redis_say(&r, "SET " QUEUE " x");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_CONFLICT);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}

/* ---- rights ------------------------------------------------------------- */

static hf_client *eve_client(const char *rights)
{
    char url[128];
    CHECK_STR(redis_say(&r, "ACL SETUSER eve reset on >secret %s", rights),
              "OK");
    snprintf(url, sizeof url, "redis://eve:secret@127.0.0.1:%d", r.port);
    return rig_client_at(url, NULL);
}

TEST(redis_fair, who_lacks_the_keys_of_the_queue_is_told)
{
    struct hf_error err = {0};
    struct hf_acquire_options o = rig_options(1000, 0, 0);
    begin();
    hf_lock *l =
        fair_lock(eve_client("~a ~redisson_lock_token:{a} &* +@all"), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, &err), HF_DENIED);
    CHECK(strstr(err.text, "not permitted") != NULL);
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 1);
}

TEST(redis_fair, who_may_not_subscribe_is_served_all_the_same)
{
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    waiter_join(0, eve_client("~* &* +@all -subscribe"), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
}

#define EVE_KEYS "~a ~redisson_lock_token:{a} "

TEST(redis_fair, who_lacks_the_keys_of_the_queue_releases_past_it)
{
    begin();
    hf_lock *l = rig_lock(eve_client(EVE_KEYS "&* +@all"), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    waiter_join(0, rig_client(NULL), 0);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
}

TEST(redis_fair, a_name_that_is_forbidden_hides_no_queue_of_others)
{
    struct hf_info info = HF_INFO_INIT;
    begin();
    hf_client *eve = eve_client(EVE_KEYS "~holdfast_queue*{a} &* +@all");
    CHECK_INT(hf_lock_try(rig_lock(eve, "z"), NULL, NULL), HF_DENIED);
    CHECK_INT(rig_acquire(rig_lock(rig_client(NULL), "a"), 0, 0, NULL), HF_OK);
    waiter_join(0, rig_client(NULL), 0);
    CHECK_INT(hf_lock_inspect(rig_lock(eve, "a"), &info, NULL), HF_OK);
    CHECK_INT(info.queued, 1);
    CHECK_INT(hf_lock_break(rig_lock(rig_client(NULL), "a"), NULL, NULL),
              HF_OK);
    rig_join();
}

TEST(redis_fair, the_rights_in_the_readme_are_enough)
{
    static const char rights[] =
        EVE_KEYS "~holdfast_queue:{a} ~holdfast_queue_who:{a} "
                 "~holdfast_queue_gone:{a} &redisson_lock__channel:{a} "
                 "&redisson_lock__channel:{a}:* -@all +evalsha +eval +time "
                 "+pttl +get +set +hget +hset +hmget +pexpire +del +exists "
                 "+publish +subscribe +unsubscribe +ping +hscan +hdel +zadd "
                 "+zrem +zrange +zrangebyscore +zscore +zpopmin";
    begin();
    hf_lock *l = fair_lock(rig_client(NULL), "a");
    CHECK_INT(rig_acquire(l, 0, 0, NULL), HF_OK);
    waiters[0] = (struct fair_waiter){
        .lock = fair_lock(eve_client(rights), "a"), .turns = &turns};
    rig_spawn(fair_run, &waiters[0]);
    CHECK(fair_until_queued(l, 1));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_join();
    CHECK_INT(waiters[0].status, HF_OK);
    CHECK_INT(waiters[0].release_status, HF_OK);
}
