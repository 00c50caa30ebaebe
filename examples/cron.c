/*
 * cron.c: start a job unless it still runs, on this host or on any other.
 *
 *     ./cron file: nightly ./report --all                on this host
 *     ./cron redis://127.0.0.1 nightly ./report --all    on all hosts
 *
 * Exits with the job's status, or 75 if the job runs elsewhere.
 */
#include <errno.h>
#include <holdfast/holdfast.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t job; /* outlives the hold, as on_state() needs it */

/* Another host may start the job from now on: end this one. */
static void on_state(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold, (void)user;
    if (ev->state != HF_STATE_HELD) fprintf(stderr, "cron: %s\n", ev->text);
    if (ev->state == HF_STATE_LOST) kill(job, SIGTERM);
}

static int job_run(hf_hold *hold, char **command)
{
    siginfo_t end;
    int error = posix_spawnp(&job, *command, NULL, NULL, command, environ);
    if (error) fprintf(stderr, "cron: %s: %s\n", *command, strerror(error));
    if (error) return 127;
    hf_hold_on_state(hold, on_state, NULL, NULL);
    if (hf_hold_state(hold) == HF_STATE_LOST) kill(job, SIGTERM);
    /* WNOWAIT keeps the pid from being used again before on_state() is over. */
    while (waitid(P_PID, (id_t)job, &end, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    return end.si_status + (end.si_code == CLD_EXITED ? 0 : 128);
}

int main(int argc, char **argv)
{
    int result = argc < 4 ? 64 : 1; /* EX_USAGE */
    struct hf_error err = {.text = "usage: cron URL NAME COMMAND [ARG...]"};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    hf_hold *hold = NULL;
    int status = HF_INVALID;
    if (argc > 3) status = hf_client_open(argv[1], NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, argv[2], &lock, &err);
    if (status == HF_OK) status = hf_lock_try(lock, &hold, &err);
    if (status == HF_TAKEN) result = 75; /* EX_TEMPFAIL */
    if (status == HF_OK) result = job_run(hold, argv + 3);
    if (status == HF_OK) status = hf_hold_release(hold, &err);
    if (status != HF_OK) fprintf(stderr, "cron: %s\n", err.text);
    hf_client_close(client); /* and the lock object with it */
    return result;
}
