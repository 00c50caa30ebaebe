/*
 * launch_test.c: how tests start their servers.  One rule: only the process
 * that was started counts, whatever else answers on its port.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/lab.h"
#include "lab/launch.h"
#include "lab/port.h"
#include "lib/rig.h"
#include "lib/rig_redis.h"

static struct lab_server r;
static pid_t second;

static void second_end(void *arg)
{
    (void)arg;
    if (second > 0) kill(second, SIGKILL);
    if (second > 0) waitpid(second, NULL, 0);
    second = 0;
}

/* Start another one where the first one is. */
static struct lab_launch second_begin(void)
{
    struct lab_launch l = {.ip = r.ip, .port = r.port, .dir = r.dir};
    second = fork();
    CHECK(second >= 0);
    if (second == 0) lab_launch_exec(&l);
    test_cleanup(second_end, NULL);
    return l;
}

TEST(launch, is_told_by_the_process_that_was_started)
{
    redis_begin(&r, NULL);
    CHECK_INT(redis_info(&r, "process_id"), r.pid);
    redis_shutdown(&r, 0);
    redis_start(&r);
    CHECK_INT(redis_info(&r, "process_id"), r.pid);
}

TEST(launch, does_not_take_another_server_for_its_own)
{
    redis_begin(&r, NULL);
    struct lab_launch l = second_begin();
    CHECK_INT(lab_launch_await(&l, second, 0), LAB_FAILED);
    CHECK(strstr(lab_error(), "has ended") != NULL);
    CHECK(strstr(lab_error(), "Address already in use") != NULL);
}

TEST(launch, does_not_take_one_that_wants_a_password_either)
{
    static const char *const args[] = {"--requirepass", "secret", NULL};
    redis_begin(&r, args);
    struct lab_launch l = second_begin();
    CHECK_INT(lab_launch_await(&l, second, 0), LAB_FAILED);
    CHECK(strstr(lab_error(), "has ended") != NULL);
}

/* Is it free to be reserved? */
static int port_can_be_taken(int port)
{
    int fd = lab_port_take(port);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

TEST(port, is_reserved_for_one_process_and_its_children)
{
    int first, other;
    int fd = lab_port_reserve(&first);
    CHECK(fd >= 0);
    int other_fd = lab_port_reserve(&other);
    CHECK(other_fd >= 0);
    CHECK(first != other);
    CHECK(!port_can_be_taken(first));
    pid_t child = fork(); /* has both, too */
    CHECK(child >= 0);
    if (child == 0) pause();
    close(fd);
    close(other_fd);
    int taken = port_can_be_taken(first) + port_can_be_taken(other);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    CHECK_INT(taken, 0);
    /* Another test may have drawn one of them since. */
    CHECK(port_can_be_taken(first) || port_can_be_taken(other));
}
