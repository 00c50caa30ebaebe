/*
 * proc.c: see proc.h.
 */
#include "lib/proc.h"

#include "lib/lab_check.h"

static void proc_end(void *arg)
{
    lab_proc_stop(arg);
}

void proc_start(struct lab_proc *p, lab_proc_fn fn, const void *arg)
{
    LAB_CHECK(lab_proc_start(p, fn, arg));
    test_cleanup(proc_end, p);
}

pid_t proc_fork(void)
{
    pid_t pid = lab_proc_fork();
    LAB_CHECK(pid);
    return pid;
}

int proc_hears(struct lab_proc *p, const char *prefix, int64_t timeout_ms)
{
    if (lab_proc_expect(p, prefix, timeout_ms) == LAB_OK) return 1;
    printf("    %s\n", lab_error());
    return 0;
}
