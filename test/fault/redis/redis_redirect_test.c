/*
 * redis_redirect_test.c: real Sentinels and clusters that name hosts.  One
 * rule: ordinary deployments work as they are; a host outside of what
 * redirect= allows is never connected to, and the error says so.
 */
#include <string.h>

#include "lib/cluster_rig.h"
#include "lib/rig.h"
#include "lib/sentinel_rig.h"

#define ELSEWHERE "192.0.2.7" /* of nobody, by RFC 5737 */

static struct lab_server r;

static int try_at(const char *url, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 1500;
    o.patience_ms = 4000;
    hf_client *c = rig_client_at(url, &o);
    int status = hf_lock_try(rig_lock(c, "a"), NULL, err);
    rig_close(c);
    return status;
}

static void denied(const char *url, const char *host)
{
    struct hf_error err = {0};
    int status = try_at(url, &err);
    if (status != HF_DENIED || !strstr(err.text, "redirect")
        || !strstr(err.text, host))
        TEST_FAIL("%s: %s: %s", url, hf_status_name(status), err.text);
}

/* It was tried, in vain: nobody is there. */
static void tried(const char *url)
{
    struct hf_error err = {0};
    int status = try_at(url, &err);
    if (status != HF_UNAVAILABLE || strstr(err.text, "redirect"))
        TEST_FAIL("%s: %s: %s", url, hf_status_name(status), err.text);
}

static void works(const char *url)
{
    hf_client *c = rig_client_at(url, NULL);
    hf_lock *l = rig_lock(c, "a");
    CHECK_INT(rig_acquire(l, 0, RIG_WAIT_MS, NULL), HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    rig_close(c);
}

TEST(redis_redirect, a_sentinel_does_not_lead_out_of_the_network)
{
    char url[160];
    redis_begin_sentinel(&r, "sentinel monitor m " ELSEWHERE " 6379 1\n");
    rig_begin_at("");
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d/m", r.port);
    denied(url, ELSEWHERE);
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d/m?redirect=listed",
             r.port);
    denied(url, ELSEWHERE);
    snprintf(url, sizeof url, "redis-sentinel://127.0.0.1:%d/m?redirect=any",
             r.port);
    tried(url);
    snprintf(url, sizeof url,
             "redis-sentinel://127.0.0.1:%d/m?redirect_hosts=" ELSEWHERE,
             r.port);
    tried(url);
}

TEST(redis_redirect, a_cluster_does_not_lead_out_of_the_network)
{
    static char bus[8];
    static const char *const args[] = {"--cluster-enabled",
                                       "yes",
                                       "--cluster-port",
                                       bus,
                                       "--cluster-announce-ip",
                                       ELSEWHERE,
                                       NULL};
    char url[160];
    snprintf(bus, sizeof bus, "%d", cluster_rig_bus_port());
    redis_begin(&r, args);
    rig_begin_at("");
    CHECK_STR(redis_say(&r, "CLUSTER ADDSLOTSRANGE 0 16383"), "OK");
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d", r.port);
    denied(url, ELSEWHERE);
    snprintf(url, sizeof url, "redis-cluster://127.0.0.1:%d?redirect=any",
             r.port);
    tried(url);
}

TEST(redis_redirect, sentinels_beside_their_servers_are_enough_of_a_list)
{
    static struct lab_sentinels g;
    char url[256];
    sentinel_begin(&g);
    works(g.url);
    snprintf(url, sizeof url, "%s?redirect=listed", g.url);
    works(url);
    snprintf(url, sizeof url,
             "redis-sentinel://localhost:%d/" SENTINEL_MASTER
             "?redirect=listed",
             g.sentinels[0].port);
    denied(url, "127.0.0.1");
    snprintf(url, sizeof url,
             "redis-sentinel://localhost:%d/" SENTINEL_MASTER
             "?redirect=listed&redirect_hosts=127.0.0.1",
             g.sentinels[0].port);
    works(url);
}

TEST(redis_redirect, a_cluster_is_used_by_names_and_by_a_list)
{
    static struct lab_cluster c;
    char url[600];
    cluster_rig_begin(&c, 3, 0);
    works(c.url);
    snprintf(url, sizeof url, "%s?redirect=listed", c.url);
    works(url);
    snprintf(url, sizeof url, "redis-cluster://localhost:%d", c.nodes[0].port);
    works(url);
    snprintf(url, sizeof url, "redis-cluster://localhost:%d?redirect=listed",
             c.nodes[0].port);
    denied(url, "127.0.0.1");
    snprintf(url, sizeof url,
             "redis-cluster://localhost:%d?redirect=listed&"
             "redirect_hosts=127.0.0.1",
             c.nodes[0].port);
    works(url);
}
