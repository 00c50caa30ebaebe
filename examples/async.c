/*
 * async.c: a program with a loop of its own: one poll(2), no thread.  The lock
 * is asked for, kept by the watchdog for two seconds, and given back, while the
 * loop stays free for anything else.
 *
 *     ./async [URL]
 */
#include <holdfast/holdfast.h>
#include <poll.h>
#include <stdio.h>

struct program {
    int is_running;
    int exit_status;
    hf_hold *hold; /* NULL until the lock is ours */
    int ticks;     /* of a tenth of a second, while we hold it */
};

static void program_end(struct program *p, int status,
                        const struct hf_error *err)
{
    if (status != HF_OK)
        fprintf(stderr, "async: %s\n", err ? err->text : "failed");
    p->exit_status = status == HF_OK ? 0 : 1;
    p->is_running = 0;
}

static void on_released(hf_hold *hold, int status, const struct hf_error *err,
                        void *user)
{
    (void)hold; /* gone by now */
    printf("released: %s\n", hf_status_text(status));
    program_end(user, status, err);
}

static void on_acquired(hf_lock *lock, int status, hf_hold *hold,
                        const struct hf_error *err, void *user)
{
    struct program *p = user;
    (void)lock;
    if (status != HF_OK) {
        program_end(p, status, err);
        return;
    }
    p->hold = hold;
    printf("held, fence %llu\n", (unsigned long long)hf_hold_fence(hold));
}

static void on_state(const struct hf_event *ev, void *user)
{
    struct program *p = user;
    fprintf(stderr, "async: %s\n", ev->text);
    if (ev->state == HF_STATE_LOST) p->is_running = 0; /* stop working now */
}

static void loop_run(hf_client *client, struct program *p)
{
    struct hf_error err = {0};
    while (p->is_running) {
        struct pollfd fds[] = {{hf_client_fd(client), POLLIN, 0}};
        int ready = poll(fds, 1, 100);
        hf_client_process(client);
        if (ready != 0 || !p->hold || ++p->ticks != 20) continue;
        int status = hf_hold_release_start(p->hold, on_released, p, &err);
        if (status != HF_OK) program_end(p, status, &err);
    }
}

int main(int argc, char **argv)
{
    struct program p = {1, 1, NULL, 0};
    struct hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    options.flags = HF_CLIENT_OWN_LOOP;
    options.on_state = on_state;
    options.state_user = &p;

    int status =
        hf_client_open(argc > 1 ? argv[1] : NULL, &options, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "async", &lock, &err);
    if (status == HF_OK)
        status = hf_lock_acquire_start(lock, NULL, on_acquired, &p, &err);
    if (status == HF_OK)
        loop_run(client, &p);
    else
        fprintf(stderr, "async: %s\n", err.text);
    hf_lock_close(lock);
    hf_client_close(client);
    return p.exit_status;
}
