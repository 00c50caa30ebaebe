/*
 * rig_redis.c: starting, stopping and asking real Redis servers.  One rule: a
 * server is ready when lab/launch.h says so, not when some time has passed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/lab.h"
#include "lab/launch.h"
#include "lab/port.h"
#include "lib/acl_page.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "lib/server.h"

/* ---- ports -------------------------------------------------------------- */

int redis_free_port(void)
{
    int port;
    CHECK(lab_port_reserve(&port) >= 0); /* to the end of the program */
    return port;
}

int redis_dead_port(void)
{
    int port = redis_free_port();
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0);
    CHECK(bind(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return port; /* bound, and nobody listens, to the end */
}

/* ---- processes ---------------------------------------------------------- */

static void server_start(struct lab_server *r, int loading)
{
    struct lab_launch l = {.ip = r->ip,
                           .port = r->port,
                           .dir = r->dir,
                           .args = r->args,
                           .env = r->env,
                           .is_sentinel = r->is_sentinel};
    server_backend();
    fflush(NULL);
    int back = net_enter(r->at);
    r->pid = fork();
    if (r->pid == 0) lab_launch_exec(&l);
    int status = r->pid > 0 ? lab_launch_await(&l, r->pid, loading) : 0;
    net_leave(back);
    CHECK(r->pid > 0);
    if (status == LAB_ABSENT) test_skip("%s", lab_error());
    if (status != LAB_OK) TEST_FAIL("%s", lab_error());
}

void redis_start(struct lab_server *r)
{
    server_start(r, 0);
}

void redis_start_loading(struct lab_server *r)
{
    server_start(r, 1);
}

static void server_reap(struct lab_server *r)
{
    if (r->pid <= 0) return;
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) continue;
    r->pid = 0;
}

void redis_shutdown(struct lab_server *r, int with_data)
{
    char dump[160];
    CHECK(r->pid > 0);
    if (with_data)
        redis_say(r, "SHUTDOWN SAVE");
    else
        kill(r->pid, SIGKILL);
    server_reap(r);
    snprintf(dump, sizeof dump, "%s/dump.rdb", r->dir);
    if (!with_data) remove(dump); /* of an earlier shutdown */
}

void redis_pause(struct lab_server *r)
{
    CHECK(r->pid > 0);
    kill(r->pid, SIGSTOP);
}

void redis_resume(struct lab_server *r)
{
    CHECK(r->pid > 0);
    kill(r->pid, SIGCONT);
}

static int entry_remove(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void redis_forget(struct lab_server *r)
{
    char path[160];
    CHECK(r->pid == 0);
    snprintf(path, sizeof path, "%s/dump.rdb", r->dir);
    remove(path);
    snprintf(path, sizeof path, "%s/appendonlydir", r->dir);
    nftw(path, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    snprintf(path, sizeof path, "%s/appendonly.aof", r->dir); /* before 7.0 */
    remove(path);
}

void redis_end(struct lab_server *r)
{
    if (r->pid > 0) kill(r->pid, SIGKILL); /* works on a stopped one too */
    server_reap(r);
    if (r->dir[0]) nftw(r->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    r->dir[0] = 0;
    if (r->port_fd > 0) close(r->port_fd);
    r->port_fd = 0;
}

static void redis_make(struct lab_server *r, const char *const *args)
{
    const char *tmp = getenv("TMPDIR");
    r->pid = 0;
    r->args = args;
    r->is_sentinel = 0;
    snprintf(r->dir, sizeof r->dir, "%s/hf-redis-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(r->dir) != NULL);
    r->ip = r->at ? r->at->ip : "127.0.0.1";
    int back = net_enter(r->at);
    r->port_fd = lab_port_reserve(&r->port);
    net_leave(back);
    CHECK(r->port_fd >= 0);
    snprintf(r->url, sizeof r->url, "redis://%s:%d", r->ip, r->port);
}

void redis_open(struct lab_server *r, const char *const *args)
{
    redis_make(r, args);
    redis_start(r);
}

static void redis_cleanup(void *arg)
{
    redis_end(arg);
}

void redis_begin(struct lab_server *r, const char *const *args)
{
    redis_make(r, args);
    test_cleanup(redis_cleanup, r);
    redis_start(r);
}

static void sentinel_start(struct lab_server *r, const char *conf)
{
    char path[160];
    r->is_sentinel = 1;
    snprintf(path, sizeof path, "%s/conf", r->dir);
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    fprintf(out,
            "port %d\nbind %s\nprotected-mode no\ndir %s\n"
            "logfile redis-%d.log\n%s\n",
            r->port, r->ip, r->dir, r->port, conf);
    CHECK_INT(fclose(out), 0);
    redis_start(r);
}

void redis_begin_sentinel(struct lab_server *r, const char *conf)
{
    redis_make(r, NULL);
    test_cleanup(redis_cleanup, r);
    sentinel_start(r, conf);
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

static void shared_make(struct lab_server *r, const char *const *args)
{
    int i = 0;
    while (i < SHARED_MAX && shared_all[i]) i++;
    CHECK(i < SHARED_MAX);
    redis_make(r, args);
    shared_all[i] = r;
    if (i == 0) atexit(shared_end);
}

void redis_begin_shared(struct lab_server *r, const char *const *args)
{
    shared_make(r, args);
    redis_start(r);
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
        shared_make(&sentinel, NULL);
        snprintf(conf, sizeof conf, "sentinel monitor shared 127.0.0.1 %d 1\n",
                 shared.port);
        sentinel_start(&sentinel, conf);
    }
    snprintf(url, size, "redis-sentinel://127.0.0.1:%d/shared", sentinel.port);
}

/* ---- asking ------------------------------------------------------------- */

static const char *redis_ask(struct lab_server *r, const char *line)
{
    int back = net_enter(r->at);
    int fd = lab_ask_connect(r->ip, r->port);
    net_leave(back);
    if (fd < 0) return "(no connection)";
    lab_ask_say(fd, line, r->reply, sizeof r->reply);
    close(fd);
    return r->reply;
}

const char *redis_say(struct lab_server *r, const char *format, ...)
{
    char line[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    return redis_ask(r, line);
}

int64_t redis_number(struct lab_server *r, const char *format, ...)
{
    char line[8192];
    char *end;
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    const char *reply = redis_ask(r, line);
    int64_t n = strtoll(reply, &end, 10);
    if (end == reply || *end) TEST_FAIL("%s: %s", line, reply);
    return n;
}

int64_t redis_info(struct lab_server *r, const char *field)
{
    const char *at = redis_ask(r, "INFO everything");
    size_t len = strlen(field);
    while ((at = strstr(at, field)) != NULL) {
        if (at[len] == ':' && (at == r->reply || at[-1] == '\n'))
            return strtoll(at + len + 1, NULL, 10);
        at++;
    }
    TEST_FAIL("INFO has no %s", field);
}

static int is_following(void *arg)
{
    return strstr(redis_say(arg, "INFO replication"), "master_link_status:up")
           != NULL;
}

void redis_follow(struct lab_server *r, int port)
{
    CHECK_STR(redis_say(r, "REPLICAOF 127.0.0.1 %d", port), "OK");
    CHECK(rig_until(is_following, r));
}
