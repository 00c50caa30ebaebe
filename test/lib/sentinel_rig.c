/*
 * sentinel_rig.c: see sentinel_rig.h.  One rule: no waiting by the clock, but
 * for what the servers themselves say.
 */
#include "lib/sentinel_rig.h"

#include <string.h>

#include "lib/rig.h"

/* ---- starting ----------------------------------------------------------- */

static int replicas_follow(void *arg)
{
    struct lab_sentinels *g = arg;
    const char *said = redis_say(&g->servers[0], "INFO replication");
    return strstr(said, "slave0:") && strstr(said, "slave1:")
           && !strstr(said, "state=wait_bgsave")
           && !strstr(said, "state=send_bulk");
}

static void servers_start(struct lab_sentinels *g)
{
    redis_begin(&g->servers[0], NULL);
    for (int i = 1; i < SENTINEL_SERVERS; i++) {
        redis_begin(&g->servers[i], NULL);
        CHECK_STR(redis_say(&g->servers[i], "REPLICAOF %s %d", g->servers[0].ip,
                            g->servers[0].port),
                  "OK");
    }
    if (!rig_until(replicas_follow, g)) TEST_FAIL("the replicas do not follow");
}

/* Each knows both replicas and both others. */
static int sentinels_know(void *arg)
{
    struct lab_sentinels *g = arg;
    for (int i = 0; i < SENTINEL_SERVERS; i++) {
        const char *said =
            redis_say(&g->sentinels[i], "SENTINEL MASTER " SENTINEL_MASTER);
        if (!strstr(said, "num-slaves\n2\n")
            || !strstr(said, "num-other-sentinels\n2\n"))
            return 0;
    }
    return 1;
}

static void sentinels_start(struct lab_sentinels *g, const char *more)
{
    char conf[512];
    snprintf(conf, sizeof conf,
             "sentinel monitor " SENTINEL_MASTER " %s %d 2\n"
             "sentinel down-after-milliseconds " SENTINEL_MASTER " 500\n"
             "sentinel failover-timeout " SENTINEL_MASTER " 3000\n"
             "%s",
             g->servers[0].ip, g->servers[0].port, more);
    for (int i = 0; i < SENTINEL_SERVERS; i++) {
        redis_begin_sentinel(&g->sentinels[i], conf);
        /* They look around more often; those before 7.0 take their time. */
        if (g->net)
            redis_say(&g->sentinels[i], "SENTINEL DEBUG publish-period 500 "
                                        "info-period 1000");
    }
}

static void urls_write(struct lab_sentinels *g)
{
    snprintf(g->hosts, sizeof g->hosts, "%s:%d,%s:%d,%s:%d", g->sentinels[0].ip,
             g->sentinels[0].port, g->sentinels[1].ip, g->sentinels[1].port,
             g->sentinels[2].ip, g->sentinels[2].port);
    snprintf(g->url, sizeof g->url, "redis-sentinel://%s/" SENTINEL_MASTER,
             g->hosts);
}

void sentinel_begin_with(struct lab_sentinels *g, const char *conf)
{
    g->unasked = 0;
    for (int i = 0; i < SENTINEL_SERVERS; i++)
        g->servers[i].at = g->sentinels[i].at =
            g->net ? &g->net->hosts[i] : NULL;
    rig_begin_on("memory:");
    servers_start(g);
    sentinels_start(g, conf);
    urls_write(g);
}

void sentinel_until_ready(struct lab_sentinels *g)
{
    if (!rig_until(sentinels_know, g))
        TEST_FAIL("the Sentinels do not know each other");
}

void sentinel_begin(struct lab_sentinels *g)
{
    sentinel_begin_with(g, "");
    sentinel_until_ready(g);
}

/* ---- who is the primary ------------------------------------------------- */

/* "<ip>\n<port>\n" */
static struct lab_server *server_at(struct lab_sentinels *g,
                                    const char *address)
{
    char own[40];
    for (int i = 0; i < SENTINEL_SERVERS; i++) {
        snprintf(own, sizeof own, "%s\n%d\n", g->servers[i].ip,
                 g->servers[i].port);
        if (!strcmp(own, address)) return &g->servers[i];
    }
    return NULL;
}

struct lab_server *sentinel_primary(struct lab_sentinels *g)
{
    for (int i = 0; i < SENTINEL_SERVERS; i++) {
        if (g->sentinels[i].pid == 0 || g->unasked & 1u << i) continue;
        struct lab_server *r = server_at(
            g, redis_say(&g->sentinels[i],
                         "SENTINEL GET-MASTER-ADDR-BY-NAME " SENTINEL_MASTER));
        if (r) return r;
    }
    return NULL;
}

struct waited {
    struct lab_sentinels *g;
    struct lab_server *old, *found;
};

static int is_other(void *arg)
{
    struct waited *w = arg;
    struct lab_server *r = sentinel_primary(w->g);
    if (!r || r == w->old) return 0;
    w->found = r;
    return !strncmp(redis_say(r, "ROLE"), "master", 6);
}

struct lab_server *sentinel_until_other(struct lab_sentinels *g,
                                        struct lab_server *old)
{
    struct waited w = {g, old, NULL};
    if (!rig_until(is_other, &w)) TEST_FAIL("no other primary was promoted");
    return w.found;
}
