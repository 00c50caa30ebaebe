/*
 * sentinels.c: see sentinels.h.  One rule: no waiting by the clock, but for
 * what the servers themselves say.
 */
#include "lab/sentinels.h"

#include <stdio.h>
#include <string.h>

#include "lab/own.h"
#include "lab/wait.h"

#define MASTER LAB_SENTINELS_MASTER

/* ---- starting ----------------------------------------------------------- */

static int replicas_follow(void *arg)
{
    struct lab_sentinels *g = arg;
    const char *said = lab_server_say(&g->servers[0], "INFO replication");
    return strstr(said, "slave0:") && strstr(said, "slave1:")
           && !strstr(said, "state=wait_bgsave")
           && !strstr(said, "state=send_bulk");
}

static int servers_start(struct lab_sentinels *g)
{
    struct lab_server *primary = &g->servers[0];
    int status = lab_server_start(primary, NULL);
    for (int i = 1; i < LAB_SENTINELS && status == LAB_OK; i++) {
        status = lab_server_start(&g->servers[i], NULL);
        if (status == LAB_OK)
            status = lab_server_do(&g->servers[i], "REPLICAOF %s %d",
                                   primary->ip, primary->port);
    }
    if (status != LAB_OK || lab_until(replicas_follow, g)) return status;
    return lab__fail("%s: its replicas do not follow", primary->url);
}

static int sentinels_start(struct lab_sentinels *g, const char *more)
{
    char conf[512];
    int status = LAB_OK;
    snprintf(conf, sizeof conf,
             "sentinel monitor " MASTER " %s %d 2\n"
             "sentinel down-after-milliseconds " MASTER " 500\n"
             "sentinel failover-timeout " MASTER " 3000\n"
             "%s",
             g->servers[0].ip, g->servers[0].port, more);
    for (int i = 0; i < LAB_SENTINELS && status == LAB_OK; i++) {
        status = lab_server_start_sentinel(&g->sentinels[i], conf);
        /* They look around more often; those before 7.0 take their time. */
        if (status == LAB_OK && g->net)
            lab_server_say(&g->sentinels[i], "SENTINEL DEBUG publish-period "
                                             "500 info-period 1000");
    }
    return status;
}

static void urls_write(struct lab_sentinels *g)
{
    snprintf(g->hosts, sizeof g->hosts, "%s:%d,%s:%d,%s:%d", g->sentinels[0].ip,
             g->sentinels[0].port, g->sentinels[1].ip, g->sentinels[1].port,
             g->sentinels[2].ip, g->sentinels[2].port);
    snprintf(g->url, sizeof g->url, "redis-sentinel://%s/" MASTER, g->hosts);
}

void lab_sentinels_stop(struct lab_sentinels *g)
{
    for (int i = LAB_SENTINELS - 1; i >= 0; i--)
        lab_server_stop(&g->sentinels[i]);
    for (int i = LAB_SENTINELS - 1; i >= 0; i--)
        lab_server_stop(&g->servers[i]);
}

int lab_sentinels_start(struct lab_sentinels *g, const char *conf)
{
    g->unasked = 0;
    for (int i = 0; i < LAB_SENTINELS; i++)
        g->servers[i].at = g->sentinels[i].at =
            g->net ? &g->net->hosts[i] : NULL;
    int status = servers_start(g);
    if (status == LAB_OK) status = sentinels_start(g, conf);
    if (status == LAB_OK)
        urls_write(g);
    else
        lab_sentinels_stop(g);
    return status;
}

/* Each knows both replicas and both others. */
static int sentinels_know(void *arg)
{
    struct lab_sentinels *g = arg;
    for (int i = 0; i < LAB_SENTINELS; i++) {
        const char *said =
            lab_server_say(&g->sentinels[i], "SENTINEL MASTER " MASTER);
        if (!strstr(said, "num-slaves\n2\n")
            || !strstr(said, "num-other-sentinels\n2\n"))
            return 0;
    }
    return 1;
}

int lab_sentinels_await(struct lab_sentinels *g)
{
    if (lab_until(sentinels_know, g)) return LAB_OK;
    return lab__fail(
        "sentinels: they do not know each other and both replicas");
}

/* ---- which is the primary ----------------------------------------------- */

/* "<ip>\n<port>\n" */
static struct lab_server *server_at(struct lab_sentinels *g,
                                    const char *address)
{
    char own[40];
    for (int i = 0; i < LAB_SENTINELS; i++) {
        snprintf(own, sizeof own, "%s\n%d\n", g->servers[i].ip,
                 g->servers[i].port);
        if (!strcmp(own, address)) return &g->servers[i];
    }
    return NULL;
}

struct lab_server *lab_sentinels_primary(struct lab_sentinels *g)
{
    for (int i = 0; i < LAB_SENTINELS; i++) {
        if (g->sentinels[i].pid == 0 || g->unasked & 1u << i) continue;
        struct lab_server *s = server_at(
            g, lab_server_say(&g->sentinels[i],
                              "SENTINEL GET-MASTER-ADDR-BY-NAME " MASTER));
        if (s) return s;
    }
    lab__fail("sentinels: no primary: none of them names one");
    return NULL;
}

struct waited {
    struct lab_sentinels *g;
    struct lab_server *old, *found;
};

static int is_other(void *arg)
{
    struct waited *w = arg;
    struct lab_server *s = lab_sentinels_primary(w->g);
    if (!s || s == w->old) return 0;
    w->found = s;
    return !strncmp(lab_server_say(s, "ROLE"), "master", 6);
}

struct lab_server *lab_sentinels_await_other(struct lab_sentinels *g,
                                             struct lab_server *old)
{
    struct waited w = {g, old, NULL};
    if (lab_until(is_other, &w)) return w.found;
    lab__fail("sentinels: no other primary was promoted");
    return NULL;
}
