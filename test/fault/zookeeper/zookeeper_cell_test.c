/*
 * zookeeper_cell_test.c: values, latches and counters while clients race, are
 * stopped, and lose the line.  One rule: no write is lost or made twice, and a
 * name is one thing.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/lab_check.h"
#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig_gate.h"
#include "lib/rig_number.h"
#include "lib/rig_zookeeper.h"
#include "lib/server.h"

static struct lab_zookeeper server;
static struct lab_proxy proxy;
static char url[160];

static void begin(const char *session)
{
    zookeeper_begin(&server);
    snprintf(url, sizeof url, "%s/t?chroot=create&session=%s", server.url,
             session);
    rig_begin_at(url);
}

/* ---- processes ----------------------------------------------------------- */

#define TURNS 20

static hf_client *child_client(struct lab_proc *self)
{
    char line[PROC_LINE_MAX];
    hf_client *c = NULL;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.patience_ms = RIG_PATIENCE_MS;
    if (!proc_hear(self, line, RIG_PATIENCE_MS)) return NULL;
    return hf_client_open(line, &o, &c, NULL) == HF_OK ? c : NULL;
}

static int child_counts(struct lab_proc *self, const void *arg)
{
    hf_client *c = child_client(self);
    (void)arg;
    if (!c) return 1;
    for (int done = 0; done < TURNS;) {
        int status = number_add(c);
        if (status != HF_OK && status != HF_CHANGED) return 2;
        done += status == HF_OK;
    }
    proc_say(self, "done");
    hf_client_close(c);
    return 0;
}

TEST(zookeeper_cell, counts_each_write_of_racing_processes_once)
{
    enum { PROCESSES = 3 };
    static struct lab_proc p[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) proc_start(&p[i], child_counts, NULL);
    begin("1h");
    for (int i = 0; i < PROCESSES; i++) proc_say(&p[i], "%s", url);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(proc_hears(&p[i], "done", 2 * RIG_PATIENCE_MS));
    CHECK_INT(number_of(rig_client(NULL)), PROCESSES * TURNS);
}

/* Reads the version, and writes with it when it is asked to. */
static int child_writes(struct lab_proc *self, const void *arg)
{
    char line[PROC_LINE_MAX];
    struct hf_value v = HF_VALUE_INIT;
    hf_client *c = child_client(self);
    (void)arg;
    if (!c || hf_value_read(c, "n", &v, NULL) != HF_OK) return 1;
    proc_say(self, "read");
    if (!proc_hear(self, line, 10 * RIG_PATIENCE_MS)) return 2;
    int status = hf_value_write(c, "n", v.version, "stale", 5, 0, NULL, NULL);
    proc_say(self, "%s", hf_status_name(status));
    return 0;
}

static int has_one_session(void *arg)
{
    (void)arg;
    return strstr(lab_zookeeper_say(&server, "dump"), "Ephemerals (1)") != NULL;
}

/* Its session ends meanwhile, and the version is another. */
TEST(zookeeper_cell, of_a_process_that_was_stopped_is_not_overwritten)
{
    static struct lab_proc p;
    proc_start(&p, child_writes, NULL);
    begin("2s");
    hf_client *c = rig_client(NULL);
    CHECK_INT(number_add(c), HF_OK);
    proc_say(&p, "%s", url);
    CHECK(proc_hears(&p, "read", RIG_PATIENCE_MS));
    proc_signal(&p, SIGSTOP);
    CHECK_INT(number_add(c), HF_OK);
    CHECK(rig_until(has_one_session, NULL));
    proc_signal(&p, SIGCONT);
    proc_say(&p, "write");
    CHECK(proc_hears(&p, hf_status_name(HF_CHANGED), RIG_PATIENCE_MS));
    CHECK_INT(number_of(c), 2);
}

/* ---- the line ------------------------------------------------------------ */

static hf_client *client_of_line(int64_t timeout_ms, int64_t patience_ms)
{
    char line_url[160];
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    proxy_begin(&proxy, server.port);
    snprintf(line_url, sizeof line_url, "zookeeper://127.0.0.1:%d/t?session=1h",
             proxy.port);
    o.timeout_ms = timeout_ms;
    o.patience_ms = patience_ms;
    return rig_client_at(line_url, &o);
}

/* Cut at many places of the exchange: what was told as written is there, once,
 * and at most once what was in doubt. */
static void cut_along_writes(enum lab_way way)
{
    long done = 0, doubt = 0, cuts = 0;
    begin("1h");
    hf_client *direct = rig_client(NULL);
    CHECK_INT(number_add(direct), HF_OK);
    hf_client *c = client_of_line(1000, 5000);
    CHECK_INT(number_add(c), HF_OK);
    long before = 2;
    for (long n = 1; n < 700; n += 23) {
        proxy_arm(&proxy, way, n, n % 2 == 0);
        int status = number_add(c);
        if (status != HF_OK && status != HF_UNAVAILABLE && status != HF_CHANGED)
            TEST_FAIL("cut after %ld: %s", n, hf_status_name(status));
        cuts += atomic_load(&proxy.cuts);
        done += status == HF_OK;
        doubt += status != HF_OK;
        long now = number_of(direct);
        CHECK(now >= before + (status == HF_OK) && now <= before + 1);
        before = now;
    }
    proxy_arm(&proxy, way, -1, 0);
    printf("    %ld cuts: %ld written, %ld in doubt\n", cuts, done, doubt);
    CHECK(cuts > 10);
    CHECK(done > 0);
}

TEST(zookeeper_cell, is_written_once_all_along_the_calls)
{
    cut_along_writes(LAB_UP);
}

TEST(zookeeper_cell, is_written_once_all_along_the_answers)
{
    cut_along_writes(LAB_DOWN);
}

#define LATE_MS 300

/* The line holds back each request, so that the client gives up between its
 * read and its write; what it wrote comes to the server when others have
 * written. */
TEST(zookeeper_cell, is_not_changed_by_what_comes_late)
{
    long doubt = 0;
    begin("1h");
    hf_client *direct = rig_client(NULL);
    CHECK_INT(number_add(direct), HF_OK);
    hf_client *hasty = client_of_line(2 * LATE_MS - 100, 2 * LATE_MS - 100);
    for (int i = 0; i < 6; i++) {
        struct hf_value v = HF_VALUE_INIT;
        for (int k = 0; k < 100; k++)
            if (hf_value_read(hasty, "n", &v, NULL) == HF_OK) break;
        proxy_delay(&proxy, LAB_UP, LATE_MS);
        doubt += hf_value_write(hasty, "n", v.version, "1", 1, 0, NULL, NULL)
                 == HF_UNAVAILABLE;
        hf_value_free(hasty, &v);
        long added = 0;
        for (int k = 0; k < 3; k++) added += number_add(direct) == HF_OK;
        long now = number_of(direct);
        CHECK(added > 0);
        proxy_delay(&proxy, LAB_UP, 0);
        rig_pause_ms(LATE_MS);
        CHECK_INT(number_of(direct), now);
    }
    printf("    %ld in doubt\n", doubt);
    CHECK(doubt > 0);
}

/* ---- the store alone ----------------------------------------------------- */

static struct fake_env env;

static struct request value_request(enum verb verb)
{
    struct request req = {.verb = verb, .name = "n", .name_len = 1};
    snprintf(req.owner, sizeof req.owner, "us:1");
    req.attempt = 1;
    req.version = HF_VALUE_ANY;
    return req;
}

static void latch_ask(enum verb verb)
{
    static struct fake_answer answer;
    struct request req = {
        .verb = verb, .kind = KIND_LATCH, .name = "l", .name_len = 1};
    fake_call(&env, &req, &answer);
    CHECK_INT(answer.reply.verdict, V_GRANTED);
}

/* A latch that is watched over a line through the proxy. */
static hf_latch *watched_latch(int64_t count)
{
    char line_url[160];
    begin("1h");
    hf_latch *latch = rig_latch(rig_client(NULL), "l");
    CHECK_INT(hf_latch_set(latch, count, NULL), HF_OK);
    proxy_begin(&proxy, server.port);
    snprintf(line_url, sizeof line_url, "zookeeper://127.0.0.1:%d/t?session=1h",
             proxy.port);
    zookeeper_connect(&env, line_url);
    latch_ask(VERB_WATCH);
    return latch;
}

/* What happens while there is no line is found out when there is one. */
TEST(zookeeper_cell, that_changes_behind_a_cut_wakes_those_that_wait)
{
    hf_latch *latch = watched_latch(1);
    int wakes = env.wakes;
    lab_proxy_sever(&proxy, 1);
    CHECK_INT(hf_latch_down(latch, NULL, NULL), HF_OK);
    lab_proxy_sever(&proxy, 0);
    fake_wait_wakes(&env, wakes + 1);
    CHECK(!strcmp(env.woken, "l"));
}

/* Without memory nothing is written, and with it all goes on. */
/* A wait that ends while the server is away leaves nothing behind that the next
 * connection would look at. */
TEST(zookeeper_cell,
     that_is_not_waited_for_any_more_is_forgotten_without_a_server)
{
    hf_latch *latch = watched_latch(2);
    lab_proxy_sever(&proxy, 1);
    server_wait_link(&env, 0);
    latch_ask(VERB_UNWATCH);
    CHECK_INT(hf_latch_down(latch, NULL, NULL), HF_OK);
    lab_proxy_sever(&proxy, 0);
    server_wait_link(&env, 1);
    int wakes = env.wakes;
    latch_ask(VERB_WATCH);
    CHECK_INT(hf_latch_down(latch, NULL, NULL), HF_OK);
    fake_wait_wakes(&env, wakes + 1);
}

TEST(zookeeper_cell, survives_the_lack_of_memory)
{
    static struct fake_answer answers[2];
    begin("1h");
    zookeeper_connect(&env, url);
    for (int i = 0; i < 2; i++) {
        struct request req = value_request(VERB_VALUE_WRITE);
        req.attempt = (uint64_t)i + 1;
        req.data = "x";
        req.data_len = 1;
        env.fail_allocs = i == 0;
        fake_call(&env, &req, &answers[i]);
        env.fail_allocs = 0;
    }
    CHECK(answers[0].reply.verdict >= V_ERROR);
    CHECK_INT(answers[0].reply.status, HF_NOMEM);
    CHECK_INT(answers[1].reply.verdict, V_GRANTED);
    fake_close(&env);
    CHECK_INT(env.allocs_open, 0);
}

/* ---- one name, one kind -------------------------------------------------- */

static struct {
    hf_lock *lock;
    hf_latch *latch;
    atomic_int is_locked, is_latched;
    atomic_int both, locked, latched;
} pair;

#define RACES 100

static void locks(void *arg)
{
    (void)arg;
    for (int i = 0; i < RACES; i++) {
        if (hf_lock_try(pair.lock, NULL, NULL) != HF_OK) continue;
        atomic_store(&pair.is_locked, 1);
        rig_pause_ms(i % 4);
        pair.both += atomic_load(&pair.is_latched);
        pair.locked++;
        atomic_store(&pair.is_locked, 0);
        CHECK_INT(hf_lock_release(pair.lock, NULL, NULL), HF_OK);
    }
}

static void latches(void *arg)
{
    (void)arg;
    for (int i = 0; i < RACES; i++) {
        if (hf_latch_set(pair.latch, 1, NULL) != HF_OK) continue;
        atomic_store(&pair.is_latched, 1);
        rig_pause_ms(i % 3);
        pair.both += atomic_load(&pair.is_locked);
        pair.latched++;
        atomic_store(&pair.is_latched, 0);
        CHECK_INT(hf_latch_delete(pair.latch, NULL, NULL), HF_OK);
    }
}

/* The line ends after each part of the answers to a proposal. */
TEST(zookeeper_cell, keeps_a_lock_out_wherever_its_line_is_cut)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(RIG_PATIENCE_MS, 0, 0);
    char line_url[160];
    begin("1h");
    CHECK_INT(hf_latch_set(rig_latch(rig_client(NULL), "a"), 1, NULL), HF_OK);
    proxy_begin(&proxy, server.port);
    snprintf(line_url, sizeof line_url, "zookeeper://127.0.0.1:%d/t?session=1h",
             proxy.port);
    o.patience_ms = RIG_PATIENCE_MS;
    hf_lock *l = rig_lock(rig_client_at(line_url, &o), "a");
    CHECK_INT(hf_lock_acquire(l, &a, NULL, NULL), HF_CONFLICT);
    for (long n = 1; n < 400; n += 3) {
        proxy_arm(&proxy, LAB_DOWN, n, n % 4 == 1);
        CHECK_INT(hf_lock_acquire(l, &a, NULL, NULL), HF_CONFLICT);
    }
}

TEST(zookeeper_cell, and_a_lock_never_have_a_name_at_the_same_time)
{
    begin("1h");
    pair.lock = rig_lock(rig_client(NULL), "a");
    pair.latch = rig_latch(rig_client(NULL), "a");
    atomic_store(&pair.both, 0);
    rig_spawn(locks, NULL);
    rig_spawn(latches, NULL);
    rig_join();
    printf("    %d locked, %d latched\n", atomic_load(&pair.locked),
           atomic_load(&pair.latched));
    CHECK_INT(pair.both, 0);
    CHECK(pair.locked > 0);
    CHECK(pair.latched > 0);
}
