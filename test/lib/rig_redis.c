/*
 * rig_redis.c: starting, stopping and asking real Redis servers.  One rule: a
 * server is ready when it answers PING, not when some time has passed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"
#include "sys/random.h"

#define ARGS_MAX 40
#define SAY_MS 10000

/* ---- processes ---------------------------------------------------------- */

/* Below those that the kernel gives to connections: from when it is found free
 * until a server has it, and while that is down, any of them could be taken. */
#define PORT_FIRST 10000
#define PORT_LAST 32767

/* A socket with a port of its own, that nobody else can have. */
static int port_bind(int *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    uint64_t random = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), tries = 1000;
    CHECK(fd >= 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    do {
        CHECK(tries-- > 0);
        CHECK_INT(hf__random_bytes(&random, sizeof random), 0);
        *port = (int)(PORT_FIRST + random % (PORT_LAST - PORT_FIRST + 1));
        a.sin_port = htons((uint16_t)*port);
    } while (bind(fd, (struct sockaddr *)&a, sizeof a) != 0);
    return fd;
}

int redis_free_port(void)
{
    int port;
    close(port_bind(&port));
    return port;
}

int redis_dead_port(void)
{
    int port;
    (void)port_bind(&port); /* bound, and nobody listens, to the end */
    return port;
}

static _Noreturn void server_exec(const struct redis *r)
{
    char port[16];
    const char *argv[ARGS_MAX] = {"redis-server",
                                  "--port",
                                  port,
                                  "--bind",
                                  r->ip,
                                  "--save",
                                  "",
                                  "--dir",
                                  r->dir,
                                  "--daemonize",
                                  "no",
                                  "--logfile",
                                  "log",
                                  "--appendonly",
                                  "no",
                                  "--repl-diskless-sync-delay",
                                  "0",
                                  "--protected-mode",
                                  "no"};
    int n = 19;
    snprintf(port, sizeof port, "%d", r->port);
    for (int i = 0; r->args && r->args[i] && n < ARGS_MAX - 1; i++)
        argv[n++] = r->args[i];
    for (int i = 0; r->env && r->env[i]; i++) putenv((char *)r->env[i]);
    if (r->is_sentinel) {
        argv[1] = "conf";
        argv[2] = "--sentinel";
        argv[3] = NULL;
        if (chdir(r->dir) != 0) _exit(127);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execvp("redis-server", (char *const *)argv);
    _exit(127);
}

static int is_answering(void *arg)
{
    struct redis *r = arg;
    const char *reply = redis_say(r, "PING");
    return !strcmp(reply, "PONG") || strstr(reply, "NOAUTH") != NULL;
}

static int is_listening(void *arg)
{
    return strncmp(redis_say(arg, "PING"), "(no", 3) != 0;
}

static void server_fork(struct redis *r)
{
    fflush(NULL);
    int back = net_enter(r->at);
    r->pid = fork();
    CHECK(r->pid >= 0);
    if (r->pid == 0) server_exec(r);
    net_leave(back);
}

void redis_start(struct redis *r)
{
    server_fork(r);
    if (!rig_until(is_answering, r)) TEST_FAIL("redis-server does not start");
}

void redis_start_loading(struct redis *r)
{
    server_fork(r);
    if (!rig_until(is_listening, r)) TEST_FAIL("redis-server does not start");
}

static void server_reap(struct redis *r)
{
    if (r->pid <= 0) return;
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) continue;
    r->pid = 0;
}

void redis_shutdown(struct redis *r, int with_data)
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

void redis_pause(struct redis *r)
{
    CHECK(r->pid > 0);
    kill(r->pid, SIGSTOP);
}

void redis_resume(struct redis *r)
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

void redis_forget(struct redis *r)
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

void redis_end(struct redis *r)
{
    if (r->pid > 0) kill(r->pid, SIGKILL); /* works on a stopped one too */
    server_reap(r);
    if (r->dir[0]) nftw(r->dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
    r->dir[0] = 0;
}

static void redis_make(struct redis *r, const char *const *args)
{
    const char *tmp = getenv("TMPDIR");
    r->pid = 0;
    r->args = args;
    r->is_sentinel = 0;
    snprintf(r->dir, sizeof r->dir, "%s/hf-redis-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(r->dir) != NULL);
    r->ip = r->at ? r->at->ip : "127.0.0.1";
    int back = net_enter(r->at);
    r->port = redis_free_port();
    net_leave(back);
    snprintf(r->url, sizeof r->url, "redis://%s:%d", r->ip, r->port);
}

void redis_open(struct redis *r, const char *const *args)
{
    redis_make(r, args);
    redis_start(r);
}

static void redis_cleanup(void *arg)
{
    redis_end(arg);
}

void redis_begin(struct redis *r, const char *const *args)
{
    redis_make(r, args);
    test_cleanup(redis_cleanup, r);
    redis_start(r);
}

static void sentinel_start(struct redis *r, const char *conf)
{
    char path[160];
    r->is_sentinel = 1;
    snprintf(path, sizeof path, "%s/conf", r->dir);
    FILE *out = fopen(path, "we");
    CHECK(out != NULL);
    fprintf(out,
            "port %d\nbind %s\nprotected-mode no\ndir %s\nlogfile log\n%s\n",
            r->port, r->ip, r->dir, conf);
    CHECK_INT(fclose(out), 0);
    redis_start(r);
}

void redis_begin_sentinel(struct redis *r, const char *conf)
{
    redis_make(r, NULL);
    test_cleanup(redis_cleanup, r);
    sentinel_start(r, conf);
}

#define SHARED_MAX 4
static struct redis *shared_all[SHARED_MAX];

static void shared_end(void)
{
    for (int i = 0; i < SHARED_MAX; i++)
        if (shared_all[i]) redis_end(shared_all[i]);
}

static void shared_make(struct redis *r, const char *const *args)
{
    int i = 0;
    while (i < SHARED_MAX && shared_all[i]) i++;
    CHECK(i < SHARED_MAX);
    redis_make(r, args);
    shared_all[i] = r;
    if (i == 0) atexit(shared_end);
}

void redis_begin_shared(struct redis *r, const char *const *args)
{
    shared_make(r, args);
    redis_start(r);
}

static struct redis shared;

void rig_redis_fresh(char *url, size_t size)
{
    if (shared.pid == 0) redis_begin_shared(&shared, NULL);
    redis_say(&shared, "FLUSHALL");
    redis_say(&shared, "SCRIPT FLUSH");
    snprintf(url, size, "%s", shared.url);
}

void rig_sentinel_fresh(char *url, size_t size)
{
    static struct redis sentinel;
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

struct asking {
    int fd;
    char in[4096];
    size_t at, len;
    char *out;
    size_t used, size;
};

static int asking_byte(struct asking *a)
{
    if (a->at == a->len) {
        ssize_t n;
        if (!rig_until_readable(a->fd, SAY_MS)) return -1;
        n = read(a->fd, a->in, sizeof a->in);
        if (n <= 0) return -1;
        a->at = 0;
        a->len = (size_t)n;
    }
    return (unsigned char)a->in[a->at++];
}

static void asking_put(struct asking *a, char c)
{
    if (a->used + 1 < a->size) a->out[a->used++] = c;
    a->out[a->used] = 0;
}

static int line_read(struct asking *a, char *line, size_t size)
{
    size_t len = 0;
    for (;;) {
        int c = asking_byte(a);
        if (c < 0) return -1;
        if (c == '\r') continue;
        if (c == '\n') break;
        if (len + 1 < size) line[len++] = (char)c;
    }
    line[len] = 0;
    return 0;
}

static void text_put(struct asking *a, const char *text)
{
    while (*text) asking_put(a, *text++);
}

static int reply_read(struct asking *a)
{
    char line[1024];
    if (line_read(a, line, sizeof line) < 0) return -1;
    long n = strtol(line + 1, NULL, 10);
    if (line[0] == '-') text_put(a, line);
    if (line[0] == '+' || line[0] == ':') text_put(a, line + 1);
    if ((line[0] == '$' || line[0] == '*') && n < 0) text_put(a, "(nil)");
    if (line[0] == '$' && n >= 0) {
        for (long i = 0; i < n + 2; i++) {
            int c = asking_byte(a);
            if (c < 0) return -1;
            if (i < n) asking_put(a, (char)c);
        }
    }
    for (long i = 0; line[0] == '*' && i < n; i++) {
        if (reply_read(a) < 0) return -1;
        asking_put(a, '\n');
    }
    return 0;
}

static int server_connect(const struct redis *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)r->port)};
    int back = net_enter(r->at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    net_leave(back);
    inet_pton(AF_INET, r->ip ? r->ip : "127.0.0.1", &to.sin_addr);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (fd >= 0) close(fd);
    return -1;
}

static const char *redis_ask(struct redis *r, const char *line)
{
    struct asking a = {.out = r->reply, .size = sizeof r->reply};
    size_t len = strlen(line);
    r->reply[0] = 0;
    a.fd = server_connect(r);
    if (a.fd < 0) return "(no connection)";
    int is_sent = send(a.fd, line, len, MSG_NOSIGNAL) == (ssize_t)len
                  && send(a.fd, "\r\n", 2, MSG_NOSIGNAL) == 2;
    if (!is_sent || reply_read(&a) < 0) text_put(&a, "(no answer)");
    close(a.fd);
    return r->reply;
}

const char *redis_say(struct redis *r, const char *format, ...)
{
    char line[8192];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    return redis_ask(r, line);
}

int64_t redis_number(struct redis *r, const char *format, ...)
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

int64_t redis_info(struct redis *r, const char *field)
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

void redis_follow(struct redis *r, int port)
{
    CHECK_STR(redis_say(r, "REPLICAOF 127.0.0.1 %d", port), "OK");
    CHECK(rig_until(is_following, r));
}
