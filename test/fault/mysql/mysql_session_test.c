/*
 * mysql_session_test.c: session=on: locks that end with their connection.  One
 * rule: a hold has a lease that no test outlives, unless the lease is what the
 * test is about; what ends it sooner is the connection.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/holder.h"
#include "lib/lab_check.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/rig_mysql.h"

#define LONG_MS 3600000
#define GALERA "/usr/lib/galera/libgalera_smm.so"

static struct lab_mariadb server;
static char url[128];

static void session_url(int port)
{
    snprintf(url, sizeof url, "mysql://root@127.0.0.1:%d/holdfast?session=on",
             port);
}

static void server_end(void *arg)
{
    lab_mariadb_stop(arg);
}

/* A server without tables: none are needed. */
static void begin_with(const char *const *args)
{
    LAB_CHECK(lab_mariadb_start(&server, args));
    test_cleanup(server_end, &server);
    session_url(server.port);
    rig_begin_at(url);
}

static void begin(void)
{
    begin_with(NULL);
}

static hf_client *client_at(const char *at, int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.patience_ms = RIG_WAIT_MS;
    return rig_client_at(at, &o);
}

static hf_hold *hold_of(hf_lock *l)
{
    hf_hold *g = NULL;
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, &g), HF_OK);
    return g;
}

/* ---- held --------------------------------------------------------------- */

TEST(mysql_session, excludes_other_clients_and_other_programs)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hf_hold *g = hold_of(l);
    CHECK_INT(hf_hold_fence(g), 0);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_STR(lab_mariadb_say(&server, "SELECT GET_LOCK('a',0)"), "0");
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_STR(lab_mariadb_say(&server, "SELECT GET_LOCK('a',0)"), "1");
    CHECK_INT(rig_acquire(other, 0, RIG_WAIT_MS, NULL), HF_OK);
}

/* User locks are re-entrant within a connection: what keeps the holders of one
 * client apart is not the server. */
TEST(mysql_session, excludes_the_other_holders_of_its_client)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_hold *g = hold_of(l);
    CHECK_INT(rig_probe(l), HF_TAKEN);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
    CHECK_STR(lab_mariadb_say(&server, "SELECT IS_FREE_LOCK('a')"), "1");
}

/* The server takes no name of more than 64 characters, nor any bytes. */
TEST(mysql_session, a_name_of_any_length_and_bytes_is_a_lock_of_its_own)
{
    static char names[4][400];
    begin();
    memset(names[0], 'n', sizeof names[0] - 1);
    memset(names[1], 'n', sizeof names[1] - 2);
    memcpy(names[2], "\xff\xfe two", 7);
    memcpy(names[3], "\xff\xfd two", 7);
    hf_client *c = client_at(url, LONG_MS), *d = client_at(url, LONG_MS);
    for (int i = 0; i < 4; i++) {
        hold_of(rig_lock(c, names[i]));
        for (int j = 0; j < 4; j++)
            CHECK_INT(rig_probe(rig_lock(d, names[j])),
                      j <= i ? HF_TAKEN : HF_OK);
    }
}

TEST(mysql_session, another_client_sees_that_it_is_held)
{
    struct hf_info info = HF_INFO_INIT;
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    CHECK_INT(hf_lock_inspect(other, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_STR(info.layout, "user lock");
    CHECK(strstr(info.owner, "server connection ") == info.owner);
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_OK);
    CHECK_INT(info.mine, 1);
}

TEST(mysql_session, has_plain_locks_only)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options a = rig_options(RIG_TRY, 0, HF_ACQUIRE_DETACHED);
    hf_lock *l = NULL;
    struct hf_error err = {0};
    begin();
    hf_client *c = client_at(url, LONG_MS);
    CHECK_INT(hf_client_caps(c), HF_CAP_LEASE | HF_CAP_WATCH);
    o.kind = HF_KIND_WRITE;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, &err), HF_UNSUPPORTED);
    o.kind = HF_KIND_PLAIN;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &l, &err), HF_UNSUPPORTED);
    CHECK_INT(hf_lock_acquire(rig_lock(c, "a"), &a, NULL, &err),
              HF_UNSUPPORTED);
}

/* The server must not end a silent connection before the lease does. */
TEST(mysql_session, server_waits_for_longer_than_the_longest_lease)
{
    static const char *const args[] = {"--wait-timeout=1", NULL};
    begin_with(args);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hf_hold *g = hold_of(l);
    rig_pause_ms(3000);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
}

/* ---- its connection ends ------------------------------------------------ */

TEST(mysql_session, lock_of_a_killed_holder_is_free_at_once)
{
    static struct lab_proc p;
    begin();
    struct holder h = {url, "a", LONG_MS, 0};
    holder_start(&p, &h);
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    proc_signal(&p, SIGKILL);
    hold_of(other);
}

static void session_kill(const char *name)
{
    char sql[64];
    snprintf(sql, sizeof sql, "KILL %s",
             lab_mariadb_say(&server, "SELECT IS_USED_LOCK('%s')", name));
    LAB_CHECK(lab_mariadb_do(&server, sql));
}

TEST(mysql_session, session_that_the_server_ends_is_lost_at_once)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hf_hold *g = hold_of(l);
    session_kill("a");
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    hf_lock *next = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(next);
    CHECK(hf_hold_release(g, NULL) != HF_OK);
    CHECK_INT(rig_probe(l), HF_TAKEN);
}

/* A hold with a fixed lease asks for nothing by itself. */
TEST(mysql_session, server_that_goes_is_told_though_it_does_not_come_back)
{
    struct hf_acquire_options o =
        rig_options(RIG_WAIT_MS, LONG_MS, HF_ACQUIRE_FIXED);
    begin();
    hf_client *c = client_at(url, LONG_MS);
    hf_lock *kept = rig_lock(c, "kept"), *fixed = rig_lock(c, "fixed");
    hold_of(kept);
    CHECK_INT(hf_lock_acquire(fixed, &o, NULL, NULL), HF_OK);
    LAB_CHECK(lab_mariadb_shutdown(&server, 0));
    CHECK(rig_until_state(kept, 0, HF_STATE_LOST));
    CHECK(rig_until_state(fixed, 0, HF_STATE_LOST));
}

TEST(mysql_session, line_that_is_cut_is_lost_at_once)
{
    static struct lab_proxy proxy;
    begin();
    proxy_begin(&proxy, server.port);
    session_url(proxy.port);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    proxy_sever(&proxy, 1);
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    session_url(server.port);
    hold_of(rig_lock(client_at(url, LONG_MS), "a"));
}

/* Past its lease: the server knows of none. */
TEST(mysql_session, paused_holder_keeps_it_until_it_wakes)
{
    static struct lab_proc p;
    begin();
    struct holder h = {url, "a", 4000, 0};
    holder_start(&p, &h);
    proc_signal(&p, SIGSTOP);
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    rig_pause_ms(5000);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    proc_signal(&p, SIGCONT);
    CHECK(holder_says(&p, "state LOST"));
    hold_of(other);
}

/* ---- its line is silent ------------------------------------------------- */

/* Nothing is proved any more: the hold ends with its lease, and the server,
 * which stands still, has not given it to anybody. */
TEST(mysql_session, silent_server_ends_it_with_its_lease)
{
    begin();
    hf_lock *l = rig_lock(client_at(url, 1500), "a");
    hf_lock *other = rig_lock(client_at(url, LONG_MS), "a");
    hold_of(l);
    CHECK_INT(rig_acquire(other, 0, RIG_TRY, NULL), HF_TAKEN);
    LAB_CHECK(lab_mariadb_pause(&server));
    CHECK(rig_until_state(l, 0, HF_STATE_LOST));
    LAB_CHECK(lab_mariadb_resume(&server));
    hold_of(other);
}

/* ---- a proxy ------------------------------------------------------------ */

/* A proxy answers the handshake itself, so its number of the connection is not
 * the server's.  This one passes everything on but that number, which stands
 * behind the version. */
static struct {
    pid_t pid;
    int listener, port;
} between;

static int socket_at(int port, int is_server)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = is_server ? bind(fd, (struct sockaddr *)&at, sizeof at)
                       : connect(fd, (struct sockaddr *)&at, sizeof at);
    if (rc == 0 && is_server) rc = listen(fd, 8);
    return rc == 0 ? fd : -1;
}

static ssize_t pass(int from, int to, int is_greeting)
{
    char bytes[4096];
    ssize_t n = read(from, bytes, sizeof bytes);
    if (n > 0 && is_greeting) bytes[5 + strnlen(bytes + 5, 200) + 1] ^= 1;
    return n > 0 ? write(to, bytes, (size_t)n) : n;
}

static void between_run(void)
{
    for (;;) {
        int client = accept(between.listener, NULL, NULL);
        int there = socket_at(server.port, 0);
        ssize_t n = pass(there, client, 1);
        while (n > 0) {
            struct pollfd p[] = {{.fd = client, .events = POLLIN},
                                 {.fd = there, .events = POLLIN}};
            (void)poll(p, 2, -1);
            n = p[0].revents ? pass(client, there, 0) : pass(there, client, 0);
        }
        close(client);
        close(there);
    }
}

static void between_end(void *arg)
{
    (void)arg;
    kill(between.pid, SIGKILL);
    waitpid(between.pid, NULL, 0);
    close(between.listener);
}

static void between_begin(void)
{
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    between.listener = socket_at(0, 1);
    CHECK(between.listener >= 0);
    CHECK(getsockname(between.listener, (struct sockaddr *)&at, &len) == 0);
    between.port = ntohs(at.sin_port);
    between.pid = fork();
    if (between.pid == 0) between_run();
    CHECK(between.pid > 0);
    test_cleanup(between_end, NULL);
}

/* Two clients might get the same lock there. */
TEST(mysql_session, is_refused_behind_a_proxy_with_connections_of_its_own)
{
    struct hf_error err = {0};
    begin();
    between_begin();
    session_url(between.port);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "a proxy or a pooler answers there") != NULL);
    CHECK_STR(lab_mariadb_say(&server, "SELECT IS_FREE_LOCK('a')"), "1");
}

/* ---- refused ------------------------------------------------------------ */

TEST(mysql_session, is_refused_on_a_node_of_galera)
{
    static const char *const args[] = {"--wsrep-on=ON",
                                       "--wsrep-provider=" GALERA,
                                       "--wsrep-cluster-address=gcomm://",
                                       "--binlog-format=ROW",
                                       "--innodb-autoinc-lock-mode=2",
                                       NULL};
    struct hf_error err = {0};
    if (access(GALERA, R_OK) != 0) test_skip("there is no " GALERA);
    begin_with(args);
    hf_lock *l = rig_lock(client_at(url, LONG_MS), "a");
    CHECK_INT(hf_lock_try(l, NULL, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "a node of a Galera cluster") != NULL);
}

static int opens(const char *text, const char *words)
{
    hf_client *c = NULL;
    struct hf_error err = {0};
    int status = hf_client_open(text, NULL, &c, &err);
    hf_client_close(c);
    if (status != HF_OK && !strstr(err.text, words))
        TEST_FAIL("\"%s\" is not in: %s", words, err.text);
    return status;
}

TEST(mysql_session, urls_that_contradict_themselves_are_invalid)
{
    CHECK_INT(opens("mysql://127.0.0.1:1/a?session=yes", "neither on nor"),
              HF_INVALID);
    CHECK_INT(opens("mysql://127.0.0.1:1/a?session=on&schema=create",
                    "session=on needs no tables"),
              HF_INVALID);
    CHECK_INT(opens("quorum:mysql://127.0.0.1:1/a?session=on|memory:x",
                    "cannot be a member of a quorum"),
              HF_UNSUPPORTED);
}
