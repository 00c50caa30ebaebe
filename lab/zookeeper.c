/*
 * zookeeper.c: see zookeeper.h.  One rule: a server is there when it says on
 * its own port that it serves; the port was reserved before.
 */
#include "lab/zookeeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/dbuser.h"
#include "lab/folder.h"
#include "lab/own.h"
#include "lab/port.h"

#define JAR "/usr/share/java/zookeeper.jar"
/* The jar names what it needs, but not all that TLS needs. */
#define CLASSES                                                                \
    JAR ":/usr/share/java/slf4j-simple.jar:/usr/share/java/netty-codec.jar"    \
        ":/usr/share/java/netty-resolver.jar"                                  \
        ":/usr/share/java/netty-transport-native-unix-common.jar"
#define TICK_MS 50
#define ANSWER_MS 5000
#define EXIT_MISSING 127

/* ---- life --------------------------------------------------------------- */

static void server_stop(void *arg)
{
    lab_zookeeper_stop(arg);
}

int lab_zookeeper_kill(struct lab_zookeeper *z)
{
    if (z->pid > 0) kill(z->pid, SIGKILL);
    lab_dbuser_reap(&z->pid);
    return LAB_OK;
}

void lab_zookeeper_stop(struct lab_zookeeper *z)
{
    lab__life_end(server_stop, z);
    lab_zookeeper_kill(z);
    lab_folder_remove(z->dir);
    if (z->port_fd > 0) close(z->port_fd);
    z->port_fd = 0;
}

static void output_to_log(const char *dir)
{
    char path[LAB_DBUSER_PATH_MAX];
    snprintf(path, sizeof path, "%s/server.log", dir);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (null >= 0) dup2(null, 0);
    if (log >= 0) dup2(log, 1);
    if (log >= 0) dup2(log, 2);
}

static _Noreturn void server_exec(const struct lab_zookeeper *z)
{
    const char *argv[] = {"java",
                          "-Xmx96m",
                          "-XX:TieredStopAtLevel=1",
                          "-XX:+UseSerialGC",
                          "-Xshare:auto",
                          "-Dzookeeper.forceSync=no",
                          "-Dzookeeper.jmx.log4j.disable=true",
                          "-Dzookeeper.admin.enableServer=false",
                          "-Dzookeeper.extendedTypesEnabled=true",
                          "-Dznode.container.checkIntervalMs=1000",
                          "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                          "-cp",
                          CLASSES,
                          "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                          "zoo.cfg",
                          NULL};
    if (chdir(z->dir) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    output_to_log(z->dir);
    execvp(argv[0], (char *const *)argv);
    _exit(EXIT_MISSING);
}

static int is_ready(void *server)
{
    return strstr(lab_zookeeper_say(server, "srvr"), "Mode: ") != NULL;
}

int lab_zookeeper_restart(struct lab_zookeeper *z, int waits)
{
    if (z->pid > 0)
        return lab__fail("%s: cannot be started: it runs already", z->url);
    fflush(NULL);
    z->pid = fork();
    if (z->pid == 0) server_exec(z);
    if (z->pid > 0)
        return waits ? lab_dbuser_await("zookeeper", z->port, z->dir, &z->pid,
                                        is_ready, z)
                     : LAB_OK;
    z->pid = 0;
    return lab__fail("zookeeper: cannot be forked: %s", strerror(errno));
}

/* ---- its directory ------------------------------------------------------ */

static int file_write(const struct lab_zookeeper *z, const char *name,
                      const char *text)
{
    char path[LAB_DBUSER_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", z->dir, name);
    FILE *out = fopen(path, "we");
    if (!out) return lab__fail("%s: %s", path, strerror(errno));
    fputs(text, out);
    if (fclose(out) == 0) return LAB_OK;
    return lab__fail("%s: %s", path, strerror(errno));
}

/* `all`: the ensemble that it is of; NULL: none. */
static int conf_write(const struct lab_zookeeper *z,
                      const struct lab_zookeeper *all)
{
    char text[2048];
    int len =
        snprintf(text, sizeof text,
                 "tickTime=%d\ndataDir=%s/data\nclientPort=%d\n"
                 "clientPortAddress=127.0.0.1\nminSessionTimeout=100\n"
                 "maxSessionTimeout=2147483647\nadmin.enableServer=false\n"
                 "4lw.commands.whitelist=*\nmaxClientCnxns=0\ninitLimit=40\n"
                 "syncLimit=10\npreAllocSize=64\n",
                 z->tick_ms ? z->tick_ms : TICK_MS, z->dir, z->port);
    for (int i = 0; all && i < LAB_ZOOKEEPER_SERVERS; i++)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "server.%d=127.0.0.1:%d:%d\n", i + 1, all[i].port + 1,
                        all[i].port + LAB_PORT_BUS);
    if (z->tls)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "secureClientPort=%d\n", z->tls_port);
    snprintf(text + len, sizeof text - (size_t)len, "%s",
             z->conf ? z->conf : "");
    return file_write(z, "zoo.cfg", text);
}

static int data_make(const struct lab_zookeeper *z)
{
    char path[LAB_DBUSER_PATH_MAX], id[16];
    snprintf(path, sizeof path, "%s/data", z->dir);
    if (mkdir(path, 0755) != 0)
        return lab__fail("%s: %s", path, strerror(errno));
    snprintf(id, sizeof id, "%d\n", z->id);
    return z->id ? file_write(z, "data/myid", id) : LAB_OK;
}

int lab_zookeeper_forget(struct lab_zookeeper *z)
{
    char path[LAB_DBUSER_PATH_MAX];
    if (z->pid > 0) return lab__fail("%s: still runs", z->url);
    snprintf(path, sizeof path, "%s/data", z->dir);
    lab_folder_remove(path);
    return data_make(z);
}

static int server_prepare(struct lab_zookeeper *z)
{
    z->pid = 0;
    z->port_fd = 0;
    if (access(JAR, R_OK) != 0)
        return lab__lack("zookeeper: is not installed: no such file: %s", JAR);
    int status = lab_folder_make(z->dir, sizeof z->dir, "zookeeper");
    if (status == LAB_OK) status = lab__life_begin(server_stop, z);
    if (status == LAB_OK) status = data_make(z);
    if (status != LAB_OK) return status;
    z->port_fd = lab_port_reserve(&z->port);
    if (z->port_fd < 0) {
        z->port_fd = 0;
        return LAB_FAILED;
    }
    z->tls_port = z->port + 1;
    snprintf(z->url, sizeof z->url, "zookeeper://127.0.0.1:%d", z->port);
    return LAB_OK;
}

int lab_zookeeper_start(struct lab_zookeeper *z)
{
    z->id = 0;
    int status = server_prepare(z);
    if (status == LAB_OK) status = conf_write(z, NULL);
    if (status == LAB_OK) status = lab_zookeeper_restart(z, 1);
    if (status != LAB_OK) lab_zookeeper_stop(z);
    return status;
}

int lab_zookeeper_start_all(struct lab_zookeeper *all)
{
    int status = LAB_OK, n = LAB_ZOOKEEPER_SERVERS;
    for (int i = 0; i < n && status == LAB_OK; i++) {
        all[i].id = i + 1;
        status = server_prepare(&all[i]);
    }
    for (int i = 0; i < n && status == LAB_OK; i++) {
        status = conf_write(&all[i], all);
        if (status == LAB_OK) status = lab_zookeeper_restart(&all[i], 0);
    }
    for (int i = 0; i < n && status == LAB_OK; i++)
        status = lab_dbuser_await("zookeeper", all[i].port, all[i].dir,
                                  &all[i].pid, is_ready, &all[i]);
    for (int i = 0; i < n && status != LAB_OK; i++) lab_zookeeper_stop(&all[i]);
    return status;
}

/* ---- faults and questions ----------------------------------------------- */

static int server_signal(const struct lab_zookeeper *z, int number)
{
    if (z->pid <= 0)
        return lab__fail("%s: does not run: it was stopped or never started",
                         z->url);
    kill(z->pid, number);
    return LAB_OK;
}

int lab_zookeeper_pause(struct lab_zookeeper *z)
{
    return server_signal(z, SIGSTOP);
}

int lab_zookeeper_resume(struct lab_zookeeper *z)
{
    return server_signal(z, SIGCONT);
}

const char *lab_zookeeper_say(struct lab_zookeeper *z, const char *word)
{
    size_t len = 0;
    int fd = lab_ask_connect(NULL, z->port);
    snprintf(z->reply, sizeof z->reply, "(no connection)");
    if (fd < 0) return z->reply;
    if (write(fd, word, strlen(word)) == (ssize_t)strlen(word)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n = 1;
        while (n > 0 && len < sizeof z->reply - 1
               && poll(&p, 1, ANSWER_MS) == 1) {
            n = read(fd, z->reply + len, sizeof z->reply - 1 - len);
            if (n > 0) len += (size_t)n;
        }
        z->reply[len] = '\0';
    }
    close(fd);
    return z->reply;
}

struct lab_zookeeper *lab_zookeeper_leader(struct lab_zookeeper *all)
{
    for (int i = 0; i < LAB_ZOOKEEPER_SERVERS; i++)
        if (all[i].pid > 0
            && strstr(lab_zookeeper_say(&all[i], "srvr"), "Mode: leader"))
            return &all[i];
    return NULL;
}
