/*
 * rig.c: a store, clients, locks and threads for one test at a time.  One rule:
 * cleanup goes threads, clients, store, so that nothing is closed while
 * something else still uses it.  A client closes its locks: a test that failed
 * may have left calls under way that use them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/folder.h"
#include "lab/wait.h"
#include "lib/cluster_rig.h"
#include "lib/lab_check.h"
#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/rig_etcd.h"
#include "lib/rig_mysql.h"
#include "lib/rig_postgres.h"
#include "lib/rig_redis.h"
#include "lib/rig_zookeeper.h"
#include "lib/tls_server.h"
#include "api/client/client.h" /* a hold without a handle, by its holder */

#define CLIENTS_MAX 128
#define URL_MAX 1024
#define THREADS_MAX 128
#define TEST_SECONDS_MAX 600
#define QUORUM_LEN RIG_MEMBERS

struct worker {
    pthread_t thread;
    void (*fn)(void *);
    void *arg;
};

static struct {
    int is_open;
    int is_well; /* nothing happens to the store: silence is the machine's */
    char url[512];
    char dir[128];
    hf_client *anchors[QUORUM_LEN]; /* keep the spaces of a quorum alive */
    hf_client *clients[CLIENTS_MAX];
    int clients_len;
    struct worker workers[THREADS_MAX];
    int workers_len;
} rig;

/* ---- the store ---------------------------------------------------------- */

static void rig_end(void *arg)
{
    (void)arg;
    rig_join();
    for (int i = 0; i < rig.clients_len; i++) hf_client_close(rig.clients[i]);
    rig.clients_len = 0;
    for (int i = 0; i < QUORUM_LEN; i++) {
        hf_client_close(rig.anchors[i]);
        rig.anchors[i] = NULL;
    }
    lab_folder_remove(rig.dir);
    rig.is_open = 0;
    rig.is_well = 0;
    alarm(0);
}

static void dir_make(void)
{
    LAB_CHECK(lab_folder_make(rig.dir, sizeof rig.dir, "test"));
    snprintf(rig.url, sizeof rig.url, "file:%s", rig.dir);
}

static void database_make(void)
{
    dir_make();
    snprintf(rig.url, sizeof rig.url, "sqlite:%s/locks.db", rig.dir);
}

/* "redis", "redis-tls", "redis-acl", "redis-string" or "redis-nofence". */
static void redis_make(const char *kind)
{
    const char *options = "";
    if (!strcmp(kind, "redis-tls")) {
        tls_server_fresh(rig.url, sizeof rig.url);
        return;
    }
    if (!strcmp(kind, "redis-acl")) {
        rig_acl_fresh(rig.url, sizeof rig.url);
        return;
    }
    if (!strcmp(kind, "redis-string")) options = "?format=string";
    if (!strcmp(kind, "redis-nofence")) options = "?format=string&fence=off";
    rig_redis_fresh(rig.url, sizeof rig.url);
    size_t len = strlen(rig.url);
    snprintf(rig.url + len, sizeof rig.url - len, "%s", options);
}

/* The operator's word that the members are new. */
static void quorum_init(void)
{
    struct hf_quorum_node nodes[QUORUM_LEN];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    int len = 0;
    o.max_lease_ms = 24 * 3600000; /* some tests ask for hours */
    if (nodes_init(rig.url, &o, nodes, QUORUM_LEN, &len, &err) != HF_OK)
        TEST_FAIL("init %s: %s", rig.url, err.text);
}

/* Three spaces of this process. */
static void quorum_make(int space)
{
    snprintf(rig.url, sizeof rig.url,
             "quorum:memory:q%d-a|memory:q%d-b|memory:q%d-c", space, space,
             space);
    for (int i = 0; i < QUORUM_LEN; i++) {
        char url[64];
        snprintf(url, sizeof url, "memory:q%d-%c", space, 'a' + i);
        CHECK_INT(hf_client_open(url, NULL, &rig.anchors[i], NULL), HF_OK);
    }
    quorum_init();
}

/* Three servers, and a user that may be no more than a client of a quorum. */
static void redlock_make(void)
{
    rig_redlock_acl_fresh(rig.url, sizeof rig.url);
    quorum_init();
}

/* A table of ShedLock, empty. */
static int shed_install(int is_there)
{
    size_t len = strlen(rig.url);
    snprintf(rig.url + len, sizeof rig.url - len, "?layout=shedlock");
    if (!is_there) postgres_install(rig.url);
    return 1;
}

/* "postgres", "postgres-session" or "postgres-shedlock". */
static void postgres_make(const char *kind)
{
    static int has_shedlock;
    rig_postgres_fresh(rig.url, sizeof rig.url);
    size_t len = strlen(rig.url);
    if (!strcmp(kind, "postgres-session"))
        snprintf(rig.url + len, sizeof rig.url - len, "?session=on");
    if (strcmp(kind, "postgres-shedlock") != 0) return;
    has_shedlock = shed_install(has_shedlock);
    LAB_CHECK(lab_postgres_do(rig_postgres_shared(), "DELETE FROM shedlock"));
}

/* "mysql", "mysql-session" or "mysql-shedlock". */
static void mysql_make(const char *kind)
{
    static int has_shedlock;
    rig_mysql_fresh(rig.url, sizeof rig.url);
    size_t len = strlen(rig.url);
    if (!strcmp(kind, "mysql-session"))
        snprintf(rig.url + len, sizeof rig.url - len, "?session=on");
    if (strcmp(kind, "mysql-shedlock") != 0) return;
    has_shedlock = shed_install(has_shedlock);
    LAB_CHECK(
        lab_mariadb_do(rig_mysql_shared(), "DELETE FROM holdfast.shedlock"));
}

void rig_begin_at(const char *url)
{
    CHECK(!rig.is_open);
    rig.is_open = 1;
    test_cleanup(rig_end, NULL);
    alarm(TEST_SECONDS_MAX); /* a hang is a failure, not a wait for ever */
    snprintf(rig.url, sizeof rig.url, "%s", url);
}

void rig_begin_on(const char *kind)
{
    static int space;
    rig_begin_at("");
    if (!strncmp(kind, "file", 4))
        dir_make();
    else if (!strncmp(kind, "sqlite", 6))
        database_make();
    else if (!strcmp(kind, "sentinel"))
        rig_sentinel_fresh(rig.url, sizeof rig.url);
    else if (!strcmp(kind, "cluster"))
        cluster_rig_fresh(rig.url, sizeof rig.url);
    else if (!strcmp(kind, "redlock-acl"))
        redlock_make();
    else if (!strncmp(kind, "postgres", 8))
        postgres_make(kind);
    else if (!strncmp(kind, "mysql", 5))
        mysql_make(kind);
    else if (!strcmp(kind, "etcd"))
        rig_etcd_fresh(rig.url, sizeof rig.url);
    else if (!strncmp(kind, "zookeeper", 9))
        rig_zookeeper_fresh(rig.url, sizeof rig.url, kind);
    else if (!strncmp(kind, "redis", 5))
        redis_make(kind);
    else if (!strncmp(kind, "quorum", 6))
        quorum_make(++space);
    else
        snprintf(rig.url, sizeof rig.url, "%stest-%d", kind, ++space);
}

void rig_begin(void)
{
    const char *kind = test_arg("url");
    rig_begin_on(kind ? kind : "memory:");
    rig.is_well = 1;
}

int rig_begin_with(unsigned caps)
{
    rig_begin();
    hf_client *c = rig_client(NULL);
    int has = (hf_client_caps(c) & caps) == caps;
    rig_close(c);
    return has;
}

const char *rig_url(void)
{
    return rig.url;
}

const char *rig_dir(void)
{
    return rig.dir[0] ? rig.dir : NULL;
}

int rig_has(unsigned caps)
{
    CHECK(rig.clients_len > 0);
    return (hf_client_caps(rig.clients[0]) & caps) == caps;
}

int rig_keeps_order(void)
{
    return strncmp(rig.url, "etcd", 4) != 0;
}

int rig_fence_rises(uint64_t last, uint64_t fence)
{
    return rig_has(HF_CAP_FENCE) ? fence > last : last == 0 && fence == 0;
}

int rig_is_foreign(void)
{
    return strstr(rig.url, "layout=shedlock") != NULL;
}

/* ---- clients and locks -------------------------------------------------- */

/* "quorum:A|B?options", as tests write it, is "quorum:options|A|B". */
static void options_lead(char text[URL_MAX], const char *url)
{
    const char *members = url + strlen("quorum:");
    const char *query = strchr(members, '?');
    if (!query) return;
    snprintf(text, URL_MAX, "quorum:%s|%.*s", query + 1, (int)(query - members),
             members);
}

/* A quorum that has all its nodes behaves as one store does. */
static void nodes_await(hf_client *client)
{
    struct hf_node nodes[QUORUM_LEN];
    int len = nodes_of(client, nodes, QUORUM_LEN);
    if (len != QUORUM_LEN) return;
    if (strncmp(rig.url, "quorum:", 7) && strncmp(rig.url, "redlock:", 8))
        return;
    for (int left = RIG_PATIENCE_MS; left > 0; left--) {
        int settled = 0;
        nodes_of(client, nodes, QUORUM_LEN);
        /* Nodes that nobody declared new stay as they are until a lock is
         * asked for. */
        for (int i = 0; i < QUORUM_LEN; i++)
            settled += nodes[i].settled || strstr(nodes[i].text, "it is new");
        if (settled == QUORUM_LEN) return;
        rig_pause_ms(1);
    }
}

/* A deadline of some milliseconds is a claim about the lock, not about how long
 * the first connection takes. */
static void link_await(hf_client *client)
{
    hf_lock *l = NULL;
    int is_locked;
    if (!rig.is_well) return;
    if (strncmp(rig.url, "redis", 5) && strncmp(rig.url, "postgres", 8)
        && strncmp(rig.url, "mysql", 5) && strncmp(rig.url, "etcd", 4)
        && strncmp(rig.url, "zookeeper", 9))
        return;
    if (hf_lock_open(client, "rig", &l, NULL) != HF_OK) return;
    (void)hf_lock_is_locked(l, &is_locked, NULL);
    hf_lock_close(l);
}

/* A busy machine may keep a server, or us, from running for some seconds. */
static struct hf_client_options patient(const struct hf_client_options *given)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    if (given) o = *given;
    if (!rig.is_well) return o;
    if (o.timeout_ms == 0) o.timeout_ms = RIG_WAIT_MS;
    if (o.patience_ms == 0) o.patience_ms = RIG_WAIT_MS;
    return o;
}

hf_client *rig_client_at(const char *url,
                         const struct hf_client_options *options)
{
    struct hf_error err = {0};
    struct hf_client_options own = patient(options);
    hf_client *client = NULL;
    char text[URL_MAX];
    CHECK(rig.clients_len < CLIENTS_MAX);
    snprintf(text, sizeof text, "%s", url);
    if (!strncmp(url, "quorum:", 7)) options_lead(text, url);
    /* Appended after "?" to a URL that has options already. */
    char *first = strchr(text, '?');
    char *again = first ? strchr(first + 1, '?') : NULL;
    if (again) *again = '&';
    int status = hf_client_open(text, &own, &client, &err);
    if (status == HF_UNSUPPORTED && strstr(err.text, ": not built in: "))
        test_skip("%s", err.text);
    if (status != HF_OK) TEST_FAIL("open %s: %s", url, err.text);
    CHECK(client != NULL);
    rig.clients[rig.clients_len++] = client;
    if (!(own.flags & HF_CLIENT_OWN_LOOP)) {
        nodes_await(client);
        link_await(client);
    }
    return client;
}

hf_client *rig_client(const struct hf_client_options *options)
{
    return rig_client_at(rig.url, options);
}

hf_client *rig_looker(void)
{
    char url[128];
    const char *uses = test_arg("look");
    if (!uses) return rig_client(NULL);
    rig_look_fresh(url, sizeof url, uses);
    return rig_client_at(url, NULL);
}

void rig_close(hf_client *client)
{
    for (int i = 0; i < rig.clients_len; i++)
        if (rig.clients[i] == client)
            rig.clients[i] = rig.clients[--rig.clients_len];
    hf_client_close(client);
}

hf_lock *rig_lock(hf_client *client, const char *name)
{
    return rig_lock_as(client, name, NULL);
}

hf_lock *rig_lock_as(hf_client *client, const char *name,
                     const struct hf_lock_options *options)
{
    struct hf_error err = {0};
    hf_lock *lock = NULL;
    if (hf_lock_open_as(client, name, options, &lock, &err) != HF_OK)
        TEST_FAIL("lock %s: %s", name, err.text);
    CHECK(lock != NULL);
    return lock;
}

struct hf_acquire_options rig_options(int64_t wait_ms, int64_t lease_ms,
                                      unsigned flags)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    o.flags = flags;
    if (wait_ms == RIG_TRY)
        o.flags |= HF_ACQUIRE_TRY;
    else
        o.wait_ms = wait_ms;
    o.lease_ms = lease_ms;
    return o;
}

struct hf_acquire_options rig_renewed(int64_t wait_ms)
{
    struct hf_acquire_options o = rig_options(wait_ms, 60000, 0);
    o.renew_ms = 100;
    return o;
}

int rig_acquire(hf_lock *lock, uint64_t holder, int64_t wait_ms,
                hf_hold **grant)
{
    struct hf_acquire_options o = rig_options(wait_ms, 0, 0);
    o.holder = holder;
    return hf_lock_acquire(lock, &o, grant, NULL);
}

int rig_probe(hf_lock *lock)
{
    hf_hold *hold;
    int status = rig_acquire(lock, hf_holder_new(), RIG_TRY, &hold);
    if (status == HF_OK) {
        int released = hf_hold_release(hold, NULL);
        CHECK_INT(released, HF_OK);
    }
    return status;
}

int rig_until_free(hf_lock *lock)
{
    int64_t end_ms = rig_now_ms() + RIG_WAIT_MS;
    while (rig_probe(lock) != HF_OK) {
        if (rig_now_ms() > end_ms) return 0;
        rig_pause_ms(5);
    }
    return 1;
}

int rig_inspect_as(hf_lock *lock, uint64_t holder, struct hf_info *info)
{
    return hf__lock_inspect(lock, holder, info, NULL);
}

int rig_is_held_by(hf_lock *lock, uint64_t holder)
{
    struct hf_info info;
    return rig_inspect_as(lock, holder, &info) == HF_OK ? info.mine : -1;
}

/* ---- threads ------------------------------------------------------------ */

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    w->fn(w->arg);
    return NULL;
}

void rig_spawn(void (*fn)(void *), void *arg)
{
    CHECK(rig.workers_len < THREADS_MAX);
    struct worker *w = &rig.workers[rig.workers_len];
    w->fn = fn;
    w->arg = arg;
    CHECK(pthread_create(&w->thread, NULL, worker_run, w) == 0);
    rig.workers_len++;
}

void rig_join(void)
{
    while (rig.workers_len > 0) {
        rig.workers_len--;
        pthread_join(rig.workers[rig.workers_len].thread, NULL);
    }
}

/* ---- time and conditions ------------------------------------------------ */

int64_t rig_now_ms(void)
{
    return lab_now_ms();
}

void rig_pause_ms(int64_t ms)
{
    lab_pause_ms(ms);
}

static int64_t cpu_ms(void)
{
    struct timespec t;
    CHECK_INT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void rig_second_is_idle(void)
{
    int64_t began_ms = cpu_ms();
    rig_pause_ms(1000);
    CHECK(cpu_ms() - began_ms < 250);
}

int rig_until(int (*cond)(void *), void *arg)
{
    return lab_until(cond, arg);
}

struct equal {
    atomic_int *counter;
    int wanted;
};

static int is_equal(void *arg)
{
    const struct equal *e = arg;
    return atomic_load(e->counter) == e->wanted;
}

int rig_until_equal(atomic_int *counter, int wanted)
{
    struct equal e = {counter, wanted};
    return rig_until(is_equal, &e);
}

int rig_until_readable(int fd, int64_t timeout_ms)
{
    return lab_until_readable(fd, timeout_ms);
}

struct stating {
    hf_lock *lock;
    uint64_t holder;
    int state;
};

static int is_in_state(void *arg)
{
    const struct stating *s = arg;
    return hf__lock_state(s->lock, s->holder) == s->state;
}

int rig_until_state(hf_lock *lock, uint64_t holder, int state)
{
    struct stating s = {lock, holder ? holder : hf_holder_self(), state};
    return rig_until(is_in_state, &s);
}

struct renewing {
    hf_lock *lock;
    uint64_t holder;
    int left;
    int64_t last_ms;
};

/* A renewal makes the time that is left longer. */
static int is_renewed(void *arg)
{
    struct renewing *r = arg;
    int64_t before_ms = r->last_ms;
    r->last_ms = hf__lock_valid_ms(r->lock, r->holder);
    if (r->last_ms == INT64_MAX) return 1;
    if (r->last_ms > before_ms) r->left--;
    return r->left <= 0;
}

int rig_until_renewed(hf_lock *lock, uint64_t holder, int times)
{
    struct renewing r = {.lock = lock,
                         .holder = holder ? holder : hf_holder_self(),
                         .left = times};
    r.last_ms = hf__lock_valid_ms(lock, r.holder);
    return rig_until(is_renewed, &r);
}

static int settled_count(hf_client *client)
{
    struct hf_node nodes[HF_QUORUM_NODES_MAX];
    int n = 0, len = nodes_of(client, nodes, HF_QUORUM_NODES_MAX);
    for (int i = 0; i < len; i++) n += nodes[i].settled;
    return n;
}

int rig_until_settled(hf_client *client, int nodes)
{
    for (int i = 0; i < RIG_PATIENCE_MS && settled_count(client) != nodes; i++)
        rig_pause_ms(1);
    return settled_count(client) == nodes;
}
