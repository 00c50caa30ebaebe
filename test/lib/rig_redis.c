/*
 * rig_redis.c: see rig_redis.h.  One rule: the lab does it, and what fails
 * there fails the test.
 */
#include "lib/rig_redis.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lab/port.h"
#include "lib/acl_page.h"
#include "lib/lab_check.h"
#include "lib/rig.h"
#include "lib/server.h"

/* ---- ports -------------------------------------------------------------- */

int redis_free_port(void)
{
    int port;
    LAB_CHECK(lab_port_reserve(&port)); /* to the end of the program */
    return port;
}

int redis_dead_port(void)
{
    int port;
    LAB_CHECK(lab_port_dead(&port)); /* to the end, too */
    return port;
}

/* ---- processes ---------------------------------------------------------- */

void redis_start(struct lab_server *r)
{
    server_backend(); /* skips a test that this build has no backend for */
    LAB_CHECK(lab_server_restart(r));
}

void redis_start_loading(struct lab_server *r)
{
    server_backend();
    LAB_CHECK(lab_server_restart_loading(r));
}

void redis_shutdown(struct lab_server *r, int with_data)
{
    LAB_CHECK(lab_server_shutdown(r, with_data));
}

void redis_pause(struct lab_server *r)
{
    LAB_CHECK(lab_server_pause(r));
}

void redis_resume(struct lab_server *r)
{
    LAB_CHECK(lab_server_resume(r));
}

void redis_forget(struct lab_server *r)
{
    LAB_CHECK(lab_server_forget(r));
}

void redis_end(struct lab_server *r)
{
    lab_server_stop(r);
}

void redis_open(struct lab_server *r, const char *const *args)
{
    server_backend();
    LAB_CHECK(lab_server_start(r, args));
}

static void redis_cleanup(void *arg)
{
    redis_end(arg);
}

void redis_begin(struct lab_server *r, const char *const *args)
{
    redis_open(r, args);
    test_cleanup(redis_cleanup, r);
}

void redis_begin_sentinel(struct lab_server *r, const char *conf)
{
    server_backend();
    LAB_CHECK(lab_server_start_sentinel(r, conf));
    test_cleanup(redis_cleanup, r);
}

#define SHARED_MAX 4
static struct lab_server *shared_all[SHARED_MAX];

/* used=FILE: add the names of all commands that the server was given. */
static void used_note(struct lab_server *r)
{
    const char *path = test_arg("used");
    FILE *file = path && r->pid > 0 ? fopen(path, "a") : NULL;
    if (!file) return;
    for (const char *at = redis_say(r, "INFO commandstats"); at;) {
        char name[64];
        long long calls = 0;
        if (sscanf(at, "cmdstat_%63[^:]:calls=%lld", name, &calls) == 2
            && calls > 0)
            fprintf(file, "%s\n", name);
        at = strchr(at, '\n');
        if (at) at++;
    }
    fclose(file);
}

static void shared_end(void)
{
    for (int i = 0; i < SHARED_MAX; i++)
        if (shared_all[i]) used_note(shared_all[i]);
    for (int i = 0; i < SHARED_MAX; i++)
        if (shared_all[i]) redis_end(shared_all[i]);
}

/* Ended with the program, once its commands were noted. */
static void shared_keep(struct lab_server *r)
{
    int i = 0;
    while (i < SHARED_MAX && shared_all[i]) i++;
    CHECK(i < SHARED_MAX);
    shared_all[i] = r;
    if (i == 0) atexit(shared_end);
}

void redis_begin_shared(struct lab_server *r, const char *const *args)
{
    redis_open(r, args);
    shared_keep(r);
}

static struct lab_server shared;

void rig_redis_fresh(char *url, size_t size)
{
    if (shared.pid == 0) redis_begin_shared(&shared, NULL);
    redis_say(&shared, "FLUSHALL");
    redis_say(&shared, "SCRIPT FLUSH");
    snprintf(url, size, "%s", shared.url);
}

void rig_acl_fresh(char *url, size_t size)
{
    const char *uses = test_arg("acl");
    rig_redis_fresh(url, size);
    acl_user_make(&shared, ACL_USER, uses ? uses : "lock", ACL_EVERY);
    snprintf(url, size, "redis://" ACL_USER ":" ACL_PASSWORD "@127.0.0.1:%d%s",
             shared.port,
             uses && !strcmp(uses, "string") ? "?format=string" : "");
}

void rig_look_fresh(char *url, size_t size, const char *uses)
{
    acl_user_make(&shared, ACL_LOOKER, uses, ACL_EVERY);
    snprintf(url, size, "redis://" ACL_LOOKER ":" ACL_PASSWORD "@127.0.0.1:%d",
             shared.port);
}

void rig_redlock_acl_fresh(char *url, size_t size)
{
    static struct lab_server members[RIG_MEMBERS];
    const char *uses = test_arg("acl");
    size_t len =
        (size_t)snprintf(url, size, "redlock://" ACL_USER ":" ACL_PASSWORD "@");
    for (int i = 0; i < RIG_MEMBERS; i++) {
        struct lab_server *r = &members[i];
        if (r->pid == 0) redis_begin_shared(r, NULL);
        redis_say(r, "FLUSHALL");
        redis_say(r, "SCRIPT FLUSH");
        acl_user_make(r, ACL_USER, uses ? uses : "lock,quorum", ACL_EVERY);
        len += (size_t)snprintf(url + len, size - len, "%s127.0.0.1:%d",
                                i ? "," : "", r->port);
    }
}

void rig_sentinel_fresh(char *url, size_t size)
{
    static struct lab_server sentinel;
    char conf[128];
    rig_redis_fresh(url, size);
    if (sentinel.pid == 0) {
        snprintf(conf, sizeof conf, "sentinel monitor shared 127.0.0.1 %d 1\n",
                 shared.port);
        server_backend();
        LAB_CHECK(lab_server_start_sentinel(&sentinel, conf));
        shared_keep(&sentinel);
    }
    snprintf(url, size, "redis-sentinel://127.0.0.1:%d/shared", sentinel.port);
}

/* ---- asking ------------------------------------------------------------- */

int64_t redis_number(struct lab_server *r, const char *format, ...)
{
    char line[8192];
    char *end;
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    const char *reply = lab_server_ask(r, line);
    int64_t n = strtoll(reply, &end, 10);
    if (end == reply || *end) TEST_FAIL("%s: %s", line, reply);
    return n;
}

int64_t redis_info(struct lab_server *r, const char *field)
{
    int64_t n;
    LAB_CHECK(lab_server_info(r, field, &n));
    return n;
}

void redis_follow(struct lab_server *r, int port)
{
    LAB_CHECK(lab_server_follow(r, "127.0.0.1", port));
}
