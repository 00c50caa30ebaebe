/*
 * fork_table_test.c: a fork before anything was ever acquired.  One rule: what
 * a thread of the parent does with handles at that moment does not affect the
 * child.  In a file of its own, for the first acquire of a process changes it.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "lib/rig.h"

#define FORKS 300

static atomic_int is_over;

static void ask_on(void *arg)
{
    (void)arg;
    while (!atomic_load(&is_over)) hf_hold_state(NULL);
}

TEST(fork_table, is_open_in_a_child_of_a_program_that_acquired_nothing)
{
    int bad = 0;
    rig_begin_on("memory:");
    atomic_store(&is_over, 0);
    rig_spawn(ask_on, NULL);
    for (int i = 0; i < FORKS && !bad; i++) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            alarm(20); /* not inherited; of a child that hangs */
            _exit(hf_hold_state(NULL));
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        bad = !WIFEXITED(status) || WEXITSTATUS(status) != HF_STATE_NONE;
    }
    atomic_store(&is_over, 1);
    rig_join();
    CHECK_INT(bad, 0);
}
