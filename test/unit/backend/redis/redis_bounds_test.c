/*
 * redis_bounds_test.c: where servers may send us.  One rule: nothing is
 * connected to that the rule forbids, so that no password can go there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backend/redis/inner/bounds.h"
#include "backend/redis/cluster/hash_slot.h"
#include "lib/rig_redis.h"
#include "lib/server.h"
#include "net/resolve.h"
#include "test.h"

/* ---- networks and rules ---- */

static unsigned network(const char *ip)
{
    struct resolved to;
    CHECK_INT(hf__resolve_numeric(ip, 1, &to), 0);
    return hf__redis_network_of(&to.addrs[0]);
}

TEST(redis_bounds, an_address_is_of_this_host_private_or_public)
{
    static const char *const here[] = {
        "127.0.0.1", "127.255.0.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"};
    static const char *const private[] = {
        "10.0.0.1",    "10.255.255.255", "172.16.0.1",  "172.31.255.255",
        "192.168.3.4", "100.64.0.1",     "169.254.9.9", "fc00::1",
        "fd12:3::4",   "fe80::1",        "100.127.1.1", "::ffff:10.1.2.3"};
    static const char *const public[] = {
        "9.255.255.255", "11.0.0.1",    "172.15.255.255", "172.32.0.1",
        "192.167.1.1",   "192.169.1.1", "100.63.1.1",     "100.128.0.1",
        "169.253.1.1",   "8.8.8.8",     "2001:db8::1",    "fec0::1",
        "::ffff:8.8.8.8"};
    for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
        CHECK_INT(network(here[i]), NETWORK_LOOPBACK);
    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++)
        CHECK_INT(network(private[i]), NETWORK_PRIVATE);
    for (size_t i = 0; i < sizeof public / sizeof public[0]; i++)
        CHECK_INT(network(public[i]), NETWORK_PUBLIC);
}

static struct bounds b;

static void bounds_end(void *arg)
{
    (void)arg;
    hf__redis_bounds_free(&b, &hf__alloc_default);
}

/* A URL with these options, one of whose hosts was reached at `ip`. */
static void bounds_begin(const char *options, const char *host, const char *ip)
{
    struct url url;
    struct hf_error err;
    struct resolved to;
    char text[160];
    test_cleanup(bounds_end, NULL);
    hf__redis_bounds_free(&b, &hf__alloc_default);
    b = (struct bounds){.rule = BOUNDS_NETWORK};
    snprintf(text, sizeof text, "redis-cluster://%s%s", host, options);
    CHECK_INT(hf__url_parse(&url, text, &err), HF_OK);
    CHECK_INT(hf__redis_bounds_read(&b, &hf__alloc_default, &url, &err), HF_OK);
    CHECK_INT(hf__redis_bounds_list(&b, &hf__alloc_default, host), 0);
    CHECK_INT(hf__resolve_numeric(ip, 1, &to), 0);
    hf__redis_bounds_learn(&b, host, &to.addrs[0]);
}

TEST(redis_bounds, by_default_a_private_network_leads_to_private_ones_only)
{
    bounds_begin("", "redis-1", "10.0.0.5");
    CHECK(hf__redis_bounds_allow_text(&b, "10.9.8.7"));
    CHECK(hf__redis_bounds_allow_text(&b, "192.168.1.1"));
    CHECK(!hf__redis_bounds_allow_text(&b, "203.0.113.9"));
    CHECK(!hf__redis_bounds_allow_text(&b, "127.0.0.1"));
    CHECK(!hf__redis_bounds_allow_text(&b, "2001:db8::1"));
    /* A name is judged by its address, which comes later. */
    CHECK(hf__redis_bounds_allow_text(&b, "anything.invalid"));
}

TEST(redis_bounds, by_default_the_public_network_leads_to_public_hosts_only)
{
    bounds_begin("", "redis-1", "203.0.113.5");
    CHECK(hf__redis_bounds_allow_text(&b, "198.51.100.7"));
    CHECK(!hf__redis_bounds_allow_text(&b, "10.0.0.1"));
    CHECK(!hf__redis_bounds_allow_text(&b, "127.0.0.1"));
    CHECK(!hf__redis_bounds_allow_text(&b, "169.254.169.254"));
}

TEST(redis_bounds, by_default_a_tunnel_leads_to_what_is_behind_it)
{
    bounds_begin("", "localhost", "127.0.0.1");
    CHECK(hf__redis_bounds_allow_text(&b, "127.0.0.1"));
    CHECK(hf__redis_bounds_allow_text(&b, "172.17.0.2"));
    CHECK(!hf__redis_bounds_allow_text(&b, "203.0.113.9"));
}

TEST(redis_bounds, listed_hosts_may_be_anywhere_and_no_others)
{
    bounds_begin("?redirect=listed&redirect_hosts=Redis-2,203.0.113.9",
                 "redis-1", "10.0.0.5");
    CHECK(hf__redis_bounds_allow_text(&b, "redis-1"));
    CHECK(hf__redis_bounds_allow_text(&b, "REDIS-2"));
    CHECK(hf__redis_bounds_allow_text(&b, "203.0.113.9"));
    CHECK(!hf__redis_bounds_allow_text(&b, "10.0.0.5"));
    CHECK(!hf__redis_bounds_allow_text(&b, "redis-3"));
    CHECK(!hf__redis_bounds_allow_text(&b, ""));
    CHECK(!hf__redis_bounds_allow_text(&b, "redis-1 redis-2"));
}

TEST(redis_bounds, any_host_may_be_allowed)
{
    bounds_begin("?redirect=any", "redis-1", "10.0.0.5");
    CHECK(hf__redis_bounds_allow_text(&b, "203.0.113.9"));
}

TEST(redis_bounds, only_hosts_of_the_url_widen_the_network)
{
    struct resolved to;
    bounds_begin("", "redis-1", "10.0.0.5");
    CHECK_INT(hf__resolve_numeric("203.0.113.9", 1, &to), 0);
    hf__redis_bounds_learn(&b, "redis-9", &to.addrs[0]);
    CHECK(!hf__redis_bounds_allow_text(&b, "203.0.113.9"));
}

TEST(redis_bounds, words_that_make_no_sense_are_refused)
{
    static const char *const urls[] = {
        "redis-cluster://a?redirect=near", "redis-sentinel://a/m?redirect=",
        "redis-cluster://a?redirect_hosts=", "redis://a?redirect=any"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        hf_client *c = NULL;
        struct hf_error err = {0};
        CHECK_INT(hf_client_open(urls[i], NULL, &c, &err), HF_INVALID);
        CHECK(strstr(err.text, "redirect") != NULL);
    }
}

/* ---- scripted servers ---- */

static struct script s, trap;
static struct fake_env f;
static struct fake_answer a;
static struct request req; /* it may be answered when the test has ended */

static void backend_end(void *arg)
{
    (void)arg;
    fake_close(&f);
}

static void backend_open(const struct backend *backend, const char *url)
{
    struct hf_error err = {0};
    fake_init(&f, backend);
    test_cleanup(backend_end, NULL);
    if (fake_open(&f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
}

/* A node that serves nothing but slot 1, and names the trap for the others. */
static void cluster_begin(const char *options, const char *host)
{
    char text[256];
    script_begin(&s);
    script_begin(&trap);
    snprintf(text, sizeof text,
             "redis-cluster://:geheim@localhost:%d?pubsub=classic%s", s.port,
             options);
    backend_open(&hf__backend_redis_cluster, text);
    script_accept(&s, &f);
    script_expect(&s, &f, "TIME\r\n");
    script_say(&s, "+OK\r\n+OK\r\n");
    /* A server of a cluster is not asked whether it is a member. */
    for (int i = 1; i < SERVER_SCRIPTS; i++) script_say(&s, "$1\r\nx\r\n");
    script_say(&s, "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n");
    script_expect(&s, &f, "SLOTS\r\n");
    snprintf(text, sizeof text,
             "*2\r\n*3\r\n:0\r\n:1\r\n*2\r\n$9\r\nlocalhost\r\n:%d\r\n"
             "*3\r\n:2\r\n:16383\r\n*2\r\n$%zu\r\n%s\r\n:%d\r\n",
             s.port, strlen(host), host, trap.port);
    script_say(&s, text);
    server_wait_link(&f, 1);
}

static int trap_is_sprung(void)
{
    int fd = accept4(trap.listen_fd, NULL, NULL, SOCK_NONBLOCK);
    if (fd >= 0) return 1;
    CHECK_INT(errno, EAGAIN);
    return 0;
}

/* A proposal is not sent, the error text says why, and no host was connected
 * to. */
static void proposal_is_denied(void)
{
    req = server_request(VERB_PROPOSE, "job", 1, 42);
    CHECK_INT(server_do(&f, req, &a), V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    if (!strstr(a.text, "redirect")) TEST_FAIL("\"%s\"", a.text);
    CHECK(strstr(a.text, "geheim") == NULL);
}

TEST(redis_bounds, a_node_that_is_not_listed_is_not_called)
{
    cluster_begin("&redirect=listed", "127.0.0.1");
    proposal_is_denied();
    CHECK(!trap_is_sprung());
}

TEST(redis_bounds, a_node_of_another_network_is_not_called)
{
    cluster_begin("", "192.0.2.7");
    proposal_is_denied();
}

TEST(redis_bounds, nor_is_one_at_a_longer_address)
{
    cluster_begin("&redirect=same-network", "2001:db8::7");
    proposal_is_denied();
}

TEST(redis_bounds, a_node_that_is_allowed_is_called_with_the_password)
{
    cluster_begin("&redirect=listed&redirect_hosts=127.0.0.1", "127.0.0.1");
    req = server_request(VERB_PROPOSE, "job", 1, 42);
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_accept(&trap, &f);
    script_expect(&trap, &f, "AUTH\r\n$6\r\ngeheim\r\n");
}

/* "MOVED", by a server that was allowed itself. */
TEST(redis_bounds, a_redirected_request_does_not_leave_the_network)
{
    char text[80];
    cluster_begin("", "localhost");
    req = server_request(VERB_PROPOSE, "job", 1, 42);
    fake_submit(&f, &req, &a);
    f.backend->flush(f.conn);
    script_accept(&trap, &f);
    script_expect(&trap, &f, "TIME\r\n");
    script_say(&trap, "+OK\r\n+OK\r\n");
    for (int i = 1; i < SERVER_SCRIPTS; i++) script_say(&trap, "$1\r\nx\r\n");
    script_say(&trap, "*2\r\n$10\r\n1700000000\r\n$2\r\n17\r\n");
    script_expect(&trap, &f, "EVALSHA\r\n");
    snprintf(text, sizeof text, "-MOVED %u 192.0.2.7:6379\r\n",
             (unsigned)hf__redis_hash_slot_of("job", 3));
    script_say(&trap, text);
    fake_wait(&f, &a);
    CHECK_INT(a.reply.verdict, V_UNSENT);
    CHECK_INT(a.reply.status, HF_DENIED);
    CHECK(strstr(a.text, "192.0.2.7:6379") != NULL);
}

static void sentinel_begin(const char *options, const char *host)
{
    char text[256];
    script_begin(&s);
    script_begin(&trap);
    snprintf(text, sizeof text, "redis-sentinel://:geheim@localhost:%d/m%s",
             s.port, options);
    backend_open(&hf__backend_sentinel, text);
    script_accept(&s, &f);
    script_expect(&s, &f, "PING\r\n");
    script_say(&s, "+OK\r\n+PONG\r\n");
    script_expect(&s, &f, "MASTER\r\n$1\r\nm\r\n");
    snprintf(text, sizeof text,
             "*2\r\n$%zu\r\n%s\r\n$5\r\n%05d\r\n*0\r\n*4\r\n$4\r\nname\r\n"
             "$1\r\nm\r\n$12\r\nconfig-epoch\r\n$1\r\n7\r\n",
             strlen(host), host, trap.port);
    script_say(&s, text);
}

TEST(redis_bounds, a_primary_that_is_not_listed_is_not_called)
{
    sentinel_begin("?redirect=listed", "127.0.0.1");
    proposal_is_denied();
    CHECK(!trap_is_sprung());
}

TEST(redis_bounds, a_primary_of_another_network_is_not_called)
{
    sentinel_begin("", "192.0.2.7");
    proposal_is_denied();
}

TEST(redis_bounds, a_primary_that_is_allowed_is_called_with_the_password)
{
    sentinel_begin("?redirect=listed&redirect_hosts=127.0.0.1", "127.0.0.1");
    script_accept(&trap, &f);
    script_expect(&trap, &f, "AUTH\r\n$6\r\ngeheim\r\n");
}
