/*
 * lab_test.c: what the lab returns when something cannot be started or broken,
 * and that it leaves nothing behind.  One rule: each failure is a sentence that
 * names what failed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/ask.h"
#include "lab/clock.h"
#include "lab/folder.h"
#include "lab/port.h"
#include "lab/proc.h"
#include "lab/proxy.h"
#include "lab/server.h"
#include "lab/wait.h"
#include "lib/lab_check.h"

#define WAIT_MS 30000

static struct lab_server s;

static void all_stop(void *arg)
{
    (void)arg;
    lab_stop_all();
}

static void begin(void)
{
    memset(&s, 0, sizeof s);
    test_cleanup(all_stop, NULL);
}

static int error_has(const char *text)
{
    if (strstr(lab_error(), text)) return 1;
    printf("    \"%s\" has no \"%s\"\n", lab_error(), text);
    return 0;
}

static int nothing_is_left(void)
{
    return s.pid == 0 && s.dir[0] == 0 && s.port_fd == 0;
}

/* ---- what cannot be started --------------------------------------------- */

TEST(lab, a_program_that_is_not_there_is_named)
{
    begin();
    s.program = "no-such-server";
    CHECK_INT(lab_server_start(&s, NULL), LAB_ABSENT);
    CHECK(error_has("no-such-server: is not installed"));
    CHECK(nothing_is_left());
}

TEST(lab, a_program_that_ends_at_once_is_told_with_its_port)
{
    begin();
    s.program = "false";
    CHECK_INT(lab_server_start(&s, NULL), LAB_FAILED);
    CHECK(error_has("false on port "));
    CHECK(error_has("has ended"));
    CHECK(nothing_is_left());
}

TEST(lab, a_port_that_is_taken_is_told_by_the_server_log)
{
    static char port_text[16];
    static const char *const args[] = {"--port", port_text, NULL};
    int port;
    begin();
    LAB_CHECK(lab_port_dead(&port));
    snprintf(port_text, sizeof port_text, "%d", port);
    int status = lab_server_start(&s, args);
    if (status == LAB_ABSENT) test_skip("%s", lab_error());
    CHECK_INT(status, LAB_FAILED);
    CHECK(error_has("Address already in use"));
    CHECK(nothing_is_left());
}

TEST(lab, a_reserved_port_is_refused_to_another_program)
{
    int port;
    int fd = lab_port_reserve(&port);
    LAB_CHECK(fd);
    CHECK_INT(lab_port_take(port), LAB_FAILED);
    CHECK(error_has(": cannot be reserved: another program has it"));
    close(fd);
}

TEST(lab, a_clock_without_its_library_is_not_started)
{
    static struct lab_clock c;
    CHECK_INT(lab_clock_start(&c, "/nowhere/shim.so"), LAB_ABSENT);
    CHECK(error_has("/nowhere/shim.so: is not there"));
}

TEST(lab, a_proxy_to_a_closed_port_hangs_up)
{
    static struct lab_proxy p;
    char reply[64];
    int port;
    begin();
    LAB_CHECK(lab_port_dead(&port));
    LAB_CHECK(lab_proxy_start(&p, port));
    int fd = lab_ask_connect(NULL, p.port);
    LAB_CHECK(fd);
    CHECK_STR(lab_ask_say(fd, "PING", reply, sizeof reply), "(no answer)");
    close(fd);
    lab_proxy_stop(&p);
    CHECK_INT(lab_ask_connect(NULL, p.port), LAB_FAILED);
    CHECK(error_has("cannot be connected to: Connection refused"));
}

/* ---- what cannot be broken ---------------------------------------------- */

TEST(lab, a_server_that_is_down_is_not_paused_and_one_that_runs_not_started)
{
    begin();
    LAB_CHECK(lab_server_start(&s, NULL));
    CHECK_INT(lab_server_restart(&s), LAB_FAILED);
    CHECK(error_has("it runs already"));
    CHECK_INT(lab_server_forget(&s), LAB_FAILED);
    CHECK(error_has("cannot be deleted: it runs"));
    LAB_CHECK(lab_server_shutdown(&s, 0));
    CHECK_INT(lab_server_pause(&s), LAB_FAILED);
    CHECK(error_has("does not run"));
    CHECK_STR(lab_server_say(&s, "PING"), "(no connection)");
    LAB_CHECK(lab_server_restart(&s));
    CHECK_STR(lab_server_say(&s, "PING"), "PONG");
}

TEST(lab, a_command_that_is_refused_is_told_with_the_answer)
{
    begin();
    LAB_CHECK(lab_server_start(&s, NULL));
    LAB_CHECK(lab_server_do(&s, "SET a word"));
    CHECK_INT(lab_server_do(&s, "INCR a"), LAB_FAILED);
    CHECK(error_has("INCR a: -ERR value is not an integer"));
}

/* ---- the end ------------------------------------------------------------ */

TEST(lab, stop_all_leaves_no_server_and_no_directory)
{
    char dir[sizeof s.dir];
    begin();
    LAB_CHECK(lab_server_start(&s, NULL));
    snprintf(dir, sizeof dir, "%s", s.dir);
    lab_stop_all();
    CHECK(nothing_is_left());
    CHECK(access(dir, F_OK) != 0);
}

/* It says where its server is, and exits or waits to be killed. */
static int owner_run(struct lab_proc *self, const void *is_to_exit)
{
    static struct lab_server own;
    if (lab_server_start(&own, NULL) < 0) return 1;
    lab_proc_say(self, "%d %s", own.port, own.dir);
    if (*(const int *)is_to_exit) exit(0); /* not _exit(): what is kept runs */
    pause();
    return 1;
}

static int port_refuses(void *port)
{
    int fd = lab_ask_connect(NULL, *(int *)port);
    if (fd >= 0) close(fd);
    return fd < 0;
}

/* Start the owner, and learn where its server is. */
static void owner_start(struct lab_proc *p, const int *is_to_exit, int *port,
                        char dir[LAB_PROC_LINE_MAX])
{
    char line[LAB_PROC_LINE_MAX];
    begin();
    LAB_CHECK(lab_server_start(&s, NULL)); /* skips where there is none */
    LAB_CHECK(lab_proc_start(p, owner_run, is_to_exit));
    CHECK(lab_proc_hear(p, line, WAIT_MS));
    CHECK_INT(sscanf(line, "%d %255s", port, dir), 2);
}

TEST(lab, a_process_that_exits_takes_its_own_along_and_no_other)
{
    static struct lab_proc p;
    static const int is_to_exit = 1;
    char dir[LAB_PROC_LINE_MAX];
    int port;
    owner_start(&p, &is_to_exit, &port, dir);
    CHECK_INT(lab_proc_wait(&p, WAIT_MS), 0);
    CHECK(port_refuses(&port));
    CHECK(access(dir, F_OK) != 0);
    CHECK_STR(lab_server_say(&s, "PING"), "PONG");
}

TEST(lab, a_process_that_is_killed_takes_its_server_along)
{
    static struct lab_proc p;
    static const int is_to_exit = 0;
    char dir[LAB_PROC_LINE_MAX];
    int port;
    owner_start(&p, &is_to_exit, &port, dir);
    lab_proc_signal(&p, SIGKILL);
    CHECK_INT(lab_proc_wait(&p, WAIT_MS), -SIGKILL);
    CHECK(lab_until(port_refuses, &port));
    lab_folder_remove(dir);
}
