/*
 * masters.c: see masters.h.  One rule: what is done to one server touches no
 * other; nothing is shared between them but the machine.
 */
#include "lab/masters.h"

#include <stdio.h>
#include <stdlib.h>

#include "lab/own.h"

static const char *const durable[] = {"--appendonly", "yes", "--appendfsync",
                                      "always", NULL};

/* ---- life --------------------------------------------------------------- */

void lab_masters_stop(struct lab_masters *f)
{
    for (int i = f->len - 1; i >= 0; i--) lab_proxy_stop(&f->nodes[i].proxy);
    for (int i = f->len - 1; i >= 0; i--) {
        lab_server_stop(&f->nodes[i].redis);
        lab_clock_stop(&f->nodes[i].clock);
    }
}

static int server_start(struct lab_master *m, const char *shim)
{
    int status = lab_clock_start(&m->clock, shim);
    if (status != LAB_OK) return status;
    m->redis.env = m->clock.env;
    return lab_server_start(&m->redis, durable);
}

static int proxy_start(struct lab_master *m)
{
    int status = lab_proxy_start(&m->proxy, m->redis.port);
    if (status != LAB_OK) return status;
    snprintf(m->url, sizeof m->url, "redis://127.0.0.1:%d", m->proxy.port);
    return LAB_OK;
}

static void hosts_write(struct lab_masters *f)
{
    size_t used = 0;
    for (int i = 0; i < f->len; i++)
        used += (size_t)snprintf(f->hosts + used, sizeof f->hosts - used,
                                 "%s127.0.0.1:%d", i ? "," : "",
                                 f->nodes[i].proxy.port);
}

/* All servers first: a proxy is a thread, and a server a fork. */
int lab_masters_start(struct lab_masters *f, int len, const char *shim)
{
    int status = LAB_OK;
    if (len < 1 || len > LAB_MASTERS_MAX)
        return lab__fail("masters: %d servers: 1 to %d", len, LAB_MASTERS_MAX);
    f->len = len;
    for (int i = 0; i < len && status == LAB_OK; i++)
        status = server_start(&f->nodes[i], shim);
    for (int i = 0; i < len && status == LAB_OK; i++)
        status = proxy_start(&f->nodes[i]);
    if (status == LAB_OK)
        hosts_write(f);
    else
        lab_masters_stop(f);
    return status;
}

/* ---- faults ------------------------------------------------------------- */

/* NULL if there is no such server. */
static struct lab_master *node_of(struct lab_masters *f, int node)
{
    if (node >= 0 && node < f->len) return &f->nodes[node];
    lab__fail("masters: no server %d: there are %d", node, f->len);
    return NULL;
}

int lab_masters_kill(struct lab_masters *f, int node)
{
    struct lab_master *m = node_of(f, node);
    return m ? lab_server_shutdown(&m->redis, 0) : LAB_FAILED;
}

int lab_masters_restart(struct lab_masters *f, int node)
{
    struct lab_master *m = node_of(f, node);
    return m ? lab_server_restart(&m->redis) : LAB_FAILED;
}

int lab_masters_restart_empty(struct lab_masters *f, int node)
{
    struct lab_master *m = node_of(f, node);
    int status = m ? lab_server_forget(&m->redis) : LAB_FAILED;
    return status == LAB_OK ? lab_server_restart(&m->redis) : status;
}

int lab_masters_pause(struct lab_masters *f, int node)
{
    struct lab_master *m = node_of(f, node);
    return m ? lab_server_pause(&m->redis) : LAB_FAILED;
}

int lab_masters_resume(struct lab_masters *f, int node)
{
    struct lab_master *m = node_of(f, node);
    return m ? lab_server_resume(&m->redis) : LAB_FAILED;
}

int lab_masters_delay(struct lab_masters *f, int node, long ms)
{
    struct lab_master *m = node_of(f, node);
    if (!m) return LAB_FAILED;
    lab_proxy_delay(&m->proxy, LAB_UP, ms);
    lab_proxy_delay(&m->proxy, LAB_DOWN, ms);
    return LAB_OK;
}

int lab_masters_sever(struct lab_masters *f, int node, int is_severed)
{
    struct lab_master *m = node_of(f, node);
    if (m) lab_proxy_sever(&m->proxy, is_severed);
    return m ? LAB_OK : LAB_FAILED;
}

int lab_masters_jump(struct lab_masters *f, int node, int64_t ms)
{
    struct lab_master *m = node_of(f, node);
    if (m) lab_clock_jump(&m->clock, ms);
    return m ? LAB_OK : LAB_FAILED;
}

int lab_masters_time_ms(struct lab_masters *f, int node, int64_t *out)
{
    char *us;
    struct lab_master *m = node_of(f, node);
    if (!m) return LAB_FAILED;
    const char *reply = lab_server_say(&m->redis, "TIME");
    int64_t s = strtoll(reply, &us, 10);
    if (us == reply) return lab__fail("%s: TIME: %.200s", m->redis.url, reply);
    *out = s * 1000 + strtoll(us, NULL, 10) / 1000;
    return LAB_OK;
}
