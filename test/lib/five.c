/*
 * five.c: see five.h.  One rule: what is done to one server touches no other;
 * nothing is shared between them but the machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/five.h"
#include "lib/rig.h"

static const char *const durable[] = {"--appendonly", "yes", "--appendfsync",
                                      "always", NULL};

static void clock_end(void *arg)
{
    struct lab_master *n = arg;
    munmap((void *)n->offset_ns, sizeof *n->offset_ns);
    unlink(n->clock_path);
}

/* A file with its offset, and the words that make a server look at it. */
static void clock_begin(struct lab_master *n)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(n->clock_path, sizeof n->clock_path, "%s/hf-clock-XXXXXX",
             tmp ? tmp : "/tmp");
    int fd = mkostemp(n->clock_path, O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(ftruncate(fd, sizeof *n->offset_ns) == 0);
    void *at = mmap(NULL, sizeof *n->offset_ns, PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
    close(fd);
    CHECK(at != MAP_FAILED);
    n->offset_ns = at;
    test_cleanup(clock_end, n);
    snprintf(n->clock_env, sizeof n->clock_env, "HF_CLOCK_FILE=%s",
             n->clock_path);
    snprintf(n->preload_env, sizeof n->preload_env, "LD_PRELOAD=%s",
             TEST_CLOCK_SHIM);
    n->env[0] = n->clock_env;
    n->env[1] = n->preload_env;
    n->env[2] = NULL;
}

void five_begin(struct lab_masters *f, int len)
{
    size_t used = 0;
    CHECK(len >= 1 && len <= FIVE_MAX);
    f->len = len;
    for (int i = 0; i < len; i++) {
        struct lab_master *n = &f->nodes[i];
        clock_begin(n);
        n->redis.env = n->env;
        redis_begin(&n->redis, durable);
    }
    rig_begin_at("");
    for (int i = 0; i < len; i++) {
        struct lab_master *n = &f->nodes[i];
        proxy_begin(&n->proxy, n->redis.port);
        snprintf(n->url, sizeof n->url, "redis://127.0.0.1:%d", n->proxy.port);
        used += (size_t)snprintf(f->hosts + used, sizeof f->hosts - used,
                                 "%s127.0.0.1:%d", i ? "," : "", n->proxy.port);
    }
}

static struct lab_master *node_of(struct lab_masters *f, int node)
{
    CHECK(node >= 0 && node < f->len);
    return &f->nodes[node];
}

void five_kill(struct lab_masters *f, int node)
{
    redis_shutdown(&node_of(f, node)->redis, 0);
}

void five_restart(struct lab_masters *f, int node)
{
    redis_start(&node_of(f, node)->redis);
}

void five_restart_empty(struct lab_masters *f, int node)
{
    redis_forget(&node_of(f, node)->redis);
    redis_start(&node_of(f, node)->redis);
}

void five_stop(struct lab_masters *f, int node)
{
    redis_pause(&node_of(f, node)->redis);
}

void five_cont(struct lab_masters *f, int node)
{
    redis_resume(&node_of(f, node)->redis);
}

void five_delay(struct lab_masters *f, int node, long ms)
{
    proxy_delay(&node_of(f, node)->proxy, PROXY_UP, ms);
    proxy_delay(&node_of(f, node)->proxy, PROXY_DOWN, ms);
}

void five_sever(struct lab_masters *f, int node, int is_severed)
{
    proxy_sever(&node_of(f, node)->proxy, is_severed);
}

void five_jump(struct lab_masters *f, int node, int64_t ms)
{
    atomic_fetch_add(node_of(f, node)->offset_ns, ms * 1000000);
}

int64_t five_time_ms(struct lab_masters *f, int node)
{
    char *us;
    const char *reply = redis_say(&node_of(f, node)->redis, "TIME");
    int64_t s = strtoll(reply, &us, 10);
    if (us == reply) TEST_FAIL("TIME: %s", reply);
    return s * 1000 + strtoll(us, NULL, 10) / 1000;
}
