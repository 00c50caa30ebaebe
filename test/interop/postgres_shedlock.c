/*
 * postgres_shedlock.c: ShedLock's table, by its provider for JDBC with the time
 * of the database, and layout=shedlock.  One rule: what one side holds, the
 * other cannot get, and gets when it is given back, or when its time is over.
 */
#include <signal.h>
#include <string.h>

#include "lib/holder.h"
#include "lib/rig_postgres.h"
#include "turns.h"

#define SHORT_MS 3000 /* a time that is over within the test */
#define ROUNDS 100    /* of each thread */
#define THREADS 2     /* of Java, and of this process; one more in another */

static struct lab_postgres server;
static struct peer java;
static char url[160];

static void begin(void)
{
    struct lab_server where;
    postgres_begin(&server, NULL, NULL);
    snprintf(url, sizeof url, "%s?layout=shedlock", server.url);
    postgres_install(url);
    rig_begin_at(url);
    where = (struct lab_server){.port = server.port};
    java.language = "shedlock";
    peer_start(&java, &where, 0);
}

static hf_lock *begin_with_lock(void)
{
    begin();
    return rig_lock(rig_client(NULL), "a");
}

TEST(shedlock_exclusion, what_it_holds_we_cannot_take)
{
    hf_lock *l = begin_with_lock();
    CHECK_STR(peer_ask(&java, "once a %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
    CHECK_INT(rig_acquire(l, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_NOT_OWNER);
    CHECK_STR(peer_ask(&java, "once b %d", PEER_LEASE_MS), "true");
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

TEST(shedlock_exclusion, what_we_hold_it_cannot_take)
{
    hf_lock *l = begin_with_lock();
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "once a %d", PEER_LEASE_MS), "false");
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_STR(peer_ask(&java, "once a %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

TEST(shedlock_exclusion, our_waiter_gets_what_it_gives_back)
{
    static struct waiter w;
    hf_lock *l = begin_with_lock();
    CHECK_STR(peer_ask(&java, "once a %d", PEER_LEASE_MS), "true");
    waiter_start_polling(&w, l, HF_BACKOFF_NONE);
    CHECK_INT(w.ended_ms, 0);
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    rig_join();
    CHECK_INT(w.status, HF_OK);
}

TEST(shedlock_exclusion, its_least_time_keeps_us_out_after_its_unlock)
{
    hf_lock *l = begin_with_lock();
    CHECK_STR(peer_ask(&java, "once a %d %d", PEER_LEASE_MS, PEER_LEASE_MS),
              "true");
    CHECK_STR(peer_ask(&java, "unlock a"), "ok");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_TAKEN);
}

TEST(shedlock_seen, its_lock_is_shown_and_taken_away)
{
    int was_locked = 0;
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l = begin_with_lock();
    CHECK_STR(peer_ask(&java, "once a %d", PEER_LEASE_MS), "true");
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.foreign, 1);
    CHECK_INT(info.mine, 0);
    CHECK_STR(info.layout, "shedlock");
    CHECK(info.ttl_ms > 0 && info.ttl_ms <= PEER_LEASE_MS);
    CHECK_INT(hf_lock_break(l, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_STR(peer_ask(&java, "extend a %d", PEER_LEASE_MS), "false");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_OK);
}

TEST(shedlock_lease, its_killed_holder_keeps_it_for_its_time_only)
{
    hf_lock *l = begin_with_lock();
    CHECK_STR(peer_ask(&java, "once a %d", SHORT_MS), "true");
    peer_kill(&java);
    CHECK_INT(rig_acquire(l, 0, RIG_PATIENCE_MS, NULL), HF_OK);
}

static int it_has_got_it(void *unused)
{
    (void)unused;
    return !strcmp(peer_ask(&java, "once a %d", PEER_LEASE_MS), "true");
}

TEST(shedlock_lease, it_gets_what_our_killed_holder_had)
{
    static struct lab_proc p;
    begin();
    struct holder h = {.url = url, .name = "a", .lease_ms = SHORT_MS};
    holder_start(&p, &h);
    proc_signal(&p, SIGKILL);
    CHECK_INT(proc_wait(&p, RIG_PATIENCE_MS), -SIGKILL);
    CHECK(rig_until(it_has_got_it, NULL));
}

TEST(shedlock_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct turns ours[THREADS];
    static struct turns_process conf;
    static struct lab_proc process;
    begin();
    turns_files(server.dir);
    conf = (struct turns_process){rig_url(), ROUNDS, 1};
    turns_process_start(&process, &conf);
    hf_client *c = rig_client(NULL);
    peer_say(&java, "mix a %d %d 7 %s", THREADS, ROUNDS, turns_counter);
    proc_say(&process, "go");
    for (int i = 0; i < THREADS; i++) turns_start(&ours[i], c, ROUNDS);
    rig_join();
    for (int i = 0; i < THREADS; i++) CHECK_STR(ours[i].wrong, "");
    CHECK(proc_hears(&process, "exact", TURNS_MS));
    CHECK_STR(peer_hear(&java, TURNS_MS), "exact");
    CHECK_INT(turns_counted(), (2 * THREADS + 1) * ROUNDS);
}
