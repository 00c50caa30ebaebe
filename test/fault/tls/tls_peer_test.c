/*
 * tls_peer_test.c: the peer of a connection.  One rule: TLS never becomes clear
 * text, whatever the peer says; a peer that speaks the wrong one of the two is
 * told apart from a peer that is silent.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/nodes.h"
#include "lib/proc.h"
#include "lib/proxy.h"
#include "lib/rig.h"
#include "lib/server.h"
#include "lib/tls_server.h"

#define SOON_MS 20000

static struct lab_tls s;
static struct fake_env f;
static struct script script;

static void says(const char *url, const char *word)
{
    struct hf_error err = {0};
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1500;
    o.patience_ms = 3000;
    int64_t began_ms = rig_now_ms();
    hf_client *c = rig_client_at(url, &o);
    int status = hf_lock_try(rig_lock(c, "a"), NULL, &err);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    if (status != HF_UNAVAILABLE || !strstr(err.text, word))
        TEST_FAIL("%s: %s: %s (not \"%s\")", url, hf_status_name(status),
                  err.text, word);
    rig_close(c);
}

/* ---- the wrong one of the two ------------------------------------------- */

TEST(tls_peer, a_plain_server_gets_no_command_from_who_wants_tls)
{
    static struct lab_server r;
    char url[128];
    redis_begin(&r, NULL);
    rig_begin_at("");
    CHECK_STR(redis_say(&r, "CONFIG RESETSTAT"), "OK");
    snprintf(url, sizeof url, "rediss://:geheim@127.0.0.1:%d", r.port);
    says(url, "tls: handshake: no answer within 1500 ms");
    const char *stats = redis_say(&r, "INFO commandstats");
    CHECK(!strstr(stats, "cmdstat_auth"));
    CHECK(!strstr(stats, "cmdstat_evalsha"));
}

TEST(tls_peer, a_server_of_tls_is_recognised_by_who_speaks_plainly)
{
    char url[64];
    tls_server_begin(&s, "no");
    rig_begin_at("");
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", s.port);
    says(url, "rediss://");
}

static void script_open(const char *scheme)
{
    char url[80];
    script_begin(&script);
    snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, script.port);
    server_open(&f, url);
    script_accept(&script, &f);
}

TEST(tls_peer, an_alert_of_tls_is_understood_by_who_speaks_plainly)
{
    static const char alert[] = {0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46};
    script_open("redis");
    script_expect(&script, &f, "TIME\r\n");
    script_send(&script, alert, sizeof alert);
    server_wait_link(&f, 0);
    while (!f.link_err.text[0]) fake_pump(&f, 10);
    CHECK(strstr(f.link_err.text, "speaks TLS: use rediss://") != NULL);
    CHECK_INT(f.link_err.status, HF_UNAVAILABLE);
}

/* It answers a ClientHello with these bytes; then the link says this. */
static void answers(const char *bytes, size_t len, const char *word)
{
    script_open("rediss");
    script_expect(&script, &f, "\x16\x03");
    script_send(&script, bytes, len);
    if (len == 0) script_hang_up(&script);
    int64_t end_ms = rig_now_ms() + FAKE_WAIT_MS;
    while (!f.link_err.text[0]) {
        CHECK(rig_now_ms() < end_ms);
        fake_pump(&f, 10);
    }
    if (!strstr(f.link_err.text, word)) TEST_FAIL("%s", f.link_err.text);
    CHECK_INT(f.is_up, 0);
    CHECK_INT(f.link_err.status, HF_UNAVAILABLE);
    fake_close(&f);
}

#define ANSWERS(text, word) answers(text, sizeof(text) - 1, word)

TEST(tls_peer, an_answer_in_the_clear_is_none)
{
    ANSWERS("-ERR unknown command\r\n", "does not speak TLS");
    ANSWERS("+OK\r\n+OK\r\n+OK\r\n", "does not speak TLS");
    ANSWERS("HTTP/1.1 400 Bad Request\r\n\r\n", "does not speak TLS");
    ANSWERS("SSH-2.0-OpenSSH\r\n", "does not speak TLS");
}

TEST(tls_peer, nonsense_in_the_handshake_ends_it)
{
    ANSWERS("\x16\x03\x03\x00\x04\x63\x00\x00\x00", "tls: ");
    ANSWERS("\x15\x03\x03\x00\x02\x02\x46", "version of TLS");
    ANSWERS("\x15\x03\x03\x00\x02\x02\x50", "tls: ");
    ANSWERS("", "tls: handshake: the server closed the connection");
}

/* ---- our certificate ----------------------------------------------------- */

#define ALERT_LEN 24 /* of TLS 1.3: a header of 5, the alert, 17 around it */

static int try_through(struct lab_proxy *p, const char *options,
                       struct hf_error *err)
{
    char url[1200];
    const char *query = strchr(tls_server_url(&s, options), '?');
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d%s", p->port, query);
    hf_client *c = rig_client_at(url, NULL);
    int status = hf_lock_try(rig_lock(c, "a"), NULL, err);
    rig_close(c);
    return status;
}

/* The reset that follows the alert may come first, or the alert never: cut the
 * line in the middle of it.  How many lines it takes to hear one is chance, so
 * that the cut may not come about. */
TEST(tls_peer, a_lost_alert_does_not_hide_that_a_certificate_is_wanted)
{
    static struct lab_proxy p;
    struct hf_error err = {0};
    tls_server_begin(&s, "yes");
    rig_begin_at("");
    proxy_begin(&p, s.port);
    for (int i = 0; i < 50 && atomic_load(&p.cuts) == 0; i++) {
        proxy_arm(&p, PROXY_DOWN, -1, 0);
        CHECK_INT(try_through(&p, "", &err), HF_DENIED);
        long all = atomic_load(&p.bytes[PROXY_DOWN]);
        proxy_arm(&p, PROXY_DOWN, all - ALERT_LEN / 2, 1);
        CHECK_INT(try_through(&p, "", &err), HF_DENIED);
        if (!strstr(err.text, "give it by tls_cert="))
            TEST_FAIL("%s", err.text);
    }
    CHECK_INT(atomic_load(&p.cuts), 1);
}

/* ---- the right one ------------------------------------------------------ */

TEST(tls_peer, requests_and_subscriptions_go_over_tls_only)
{
    char wanted[32];
    tls_server_begin(&s, "no");
    rig_begin_at("");
    hf_client *c = rig_client_at(tls_server_url(&s, ""), NULL);
    hf_client *other = rig_client_at(tls_server_url(&s, ""), NULL);
    hf_lock *held = rig_lock(other, "a");
    CHECK_INT(hf_lock_try(held, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(rig_lock(c, "a"), 0, 2000, NULL), HF_TIMEOUT);
    const char *list = redis_say(&s.redis, "CLIENT LIST");
    snprintf(wanted, sizeof wanted, "laddr=127.0.0.1:%d ", s.port);
    int links = 0;
    for (const char *at = list; (at = strstr(at, "name=holdfast")); at++) {
        const char *line = at;
        while (line > list && line[-1] != '\n') line--;
        CHECK(strstr(line, wanted) != NULL && strstr(line, wanted) < at);
        links++;
    }
    CHECK_INT(links, 3); /* two of requests, one of subscriptions */
}

TEST(tls_peer, members_of_a_quorum_are_reached_by_tls)
{
    static struct lab_server more[2];
    static const char *args[2][16];
    static char ports[2][16];
    char url[1024];
    struct hf_quorum_options q = HF_QUORUM_OPTIONS_INIT;
    struct hf_quorum_node nodes[3];
    struct hf_error err = {0};
    int len = 0, port[2];
    tls_server_begin(&s, "no");
    for (int i = 0; i < 2; i++) {
        port[i] = redis_free_port();
        snprintf(ports[i], sizeof ports[i], "%d", port[i]);
        memcpy(args[i], s.args, sizeof s.args);
        args[i][1] = ports[i];
        redis_begin(&more[i], args[i]);
    }
    rig_begin_at("");
    snprintf(url, sizeof url,
             "redlock://127.0.0.1:%d,localhost:%d,127.0.0.1:%d?tls=on&"
             "tls_ca=%s",
             s.port, port[0], port[1], s.ca);
    if (nodes_init(url, &q, nodes, 3, &len, &err) != HF_OK)
        TEST_FAIL("%s", err.text);
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
}

/* ---- after fork() ------------------------------------------------------- */

TEST(tls_peer, a_forked_child_says_no_goodbye_on_the_parents_line)
{
    int status = 0;
    tls_server_begin(&s, "no");
    rig_begin_at("");
    hf_client *c = rig_client_at(tls_server_url(&s, ""), NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_probe(l), HF_OK);
    int64_t lines = redis_info(&s.redis, "total_connections_received");
    pid_t pid = proc_fork();
    if (pid == 0) {
        hf_client_close(c);
        _exit(hf_lock_try(l, NULL, NULL) == HF_FORKED ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(status, 0);
    CHECK_INT(rig_probe(l), HF_OK);
    /* Ours is still the same; the other is that of INFO. */
    CHECK_INT(redis_info(&s.redis, "total_connections_received"), lines + 1);
}
