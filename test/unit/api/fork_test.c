/*
 * fork_test.c: a client after fork().  One rule: the child's copy is refused
 * and does no harm to the parent's locks.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/proc.h"
#include "lib/rig.h"

static int on_row(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

/* Everything the child may try on its copy; the number of the first call that
 * was not refused, 0 if all were. */
static int refused_all(hf_client *c, hf_lock *l, hf_hold *hold)
{
    struct hf_info info = HF_INFO_INIT;
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, 0);
    hf_lock *made = NULL;
    hf_cancel *cancel = NULL;
    int out = 0;
    if (hf_lock_try(l, NULL, NULL) != HF_FORKED) return 1;
    if (hf_lock_acquire(l, &o, NULL, NULL) != HF_FORKED) return 2;
    if (hf_lock_release(l, NULL, NULL) != HF_FORKED) return 3;
    if (hf_hold_extend(hold, 0, NULL) != HF_FORKED) return 4;
    if (hf_lock_inspect(l, &info, NULL) != HF_FORKED) return 5;
    if (hf_lock_break(l, &out, NULL) != HF_FORKED) return 6;
    if (hf_lock_is_locked(l, &out, NULL) != HF_FORKED) return 7;
    if (hf_lock_open(c, "b", &made, NULL) != HF_FORKED) return 8;
    if (hf_cancel_open(c, &cancel) != HF_FORKED) return 9;
    if (hf_client_caps(c) != 0) return 10;
    if (hf_client_list(c, NULL, on_row, NULL, NULL) != HF_FORKED) return 11;
    return 0;
}

static void on_state(hf_hold *hold, const struct hf_event *ev, void *user)
{
    (void)hold;
    (void)ev;
    (void)user;
}

/* The same, on its copy of the handle. */
static int refused_hold(hf_hold *hold)
{
    char ticket[HF_TICKET_MAX];
    int fd = -1;
    if (hf_hold_state(hold) != HF_STATE_NONE) return 30;
    if (hf_hold_valid_ms(hold) != 0) return 31;
    if (hf_hold_fence(hold) != 0) return 32;
    if (hf_hold_feed(hold) != HF_FORKED) return 33;
    if (hf_hold_on_state(hold, on_state, NULL, NULL) != HF_FORKED) return 34;
    if (hf_hold_ticket(hold, ticket, sizeof ticket, NULL) != HF_FORKED)
        return 35;
    if (hf_hold_inherit(hold, &fd, NULL) != HF_FORKED) return 36;
    if (hf_hold_release_start(hold, NULL, NULL, NULL) != HF_FORKED) return 37;
    if (hf_hold_release(hold, NULL) != HF_FORKED) return 38;
    return 0;
}

/* A client of its own works, and finds the parent's lock taken. */
static int own_client_works(const char *url, int is_shared)
{
    hf_client *c = NULL;
    hf_lock *l = NULL;
    if (hf_client_open(url, NULL, &c, NULL) != HF_OK) return 20;
    if (hf_lock_open(c, "a", &l, NULL) != HF_OK) return 21;
    int status = hf_lock_try(l, NULL, NULL);
    hf_lock_close(l);
    hf_client_close(c);
    return is_shared && status != HF_TAKEN ? 22 : 0;
}

static int child_of(hf_client *c, hf_lock *l, hf_hold *hold, int is_shared)
{
    alarm(60); /* not inherited; a hanging child must not hang the test */
    int result = refused_all(c, l, hold);
    if (result == 0) result = refused_hold(hold);
    if (result == 0) result = own_client_works(rig_url(), is_shared);
    hf_lock_close(l);
    hf_client_close(c); /* frees memory, sends nothing */
    return result;
}

static void fork_leaves_the_parent_alone(const char *kind, int is_shared)
{
    rig_begin_on(kind);
    hf_client *c = rig_client(NULL);
    hf_lock *l = rig_lock(c, "a"), *other = rig_lock(rig_client(NULL), "a");
    hf_hold *hold = NULL;
    int status = 0, held = 0;
    CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) _exit(child_of(c, l, hold, is_shared));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK_INT(hf_lock_is_mine(l, &held, NULL), HF_OK);
    CHECK_INT(held, 1);
    CHECK_INT(hf_hold_state(hold), HF_STATE_HELD);
    CHECK_INT(rig_probe(other), HF_TAKEN);
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    CHECK_INT(rig_probe(other), HF_OK);
}

TEST(fork, leaves_a_lock_in_memory_alone)
{
    fork_leaves_the_parent_alone("memory:", 0);
}

TEST(fork, leaves_a_lock_in_a_file_alone)
{
    fork_leaves_the_parent_alone("file:", 1);
}

TEST(fork, leaves_a_lock_of_a_quorum_alone)
{
    fork_leaves_the_parent_alone("quorum:", 0);
}

TEST(fork, leaves_a_lock_on_redis_alone)
{
    fork_leaves_the_parent_alone("redis", 1);
}

/* The connections of the parent come and go on other threads meanwhile: a child
 * that saw one half made would crash. */
TEST(fork, is_survived_while_clients_look_for_their_primary)
{
    enum { CLIENTS = 16, FORKS = 400 };
    rig_begin_on("memory:");
    for (int i = 0; i < CLIENTS; i++)
        rig_client_at("redis-sentinel://127.0.0.1:1,127.0.0.1:2/name", NULL);
    for (int i = 0; i < FORKS; i++) {
        int status = 0;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) _exit(0);
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK_INT(status, 0);
    }
}

/* The kernel keeps a lock for as long as any copy of its descriptor is open:
 * the child must not keep the parent's. */
TEST(fork, child_does_not_keep_a_file_lock_alive)
{
    rig_begin_on("file:");
    hf_lock *l = rig_lock(rig_client(NULL), "a");
    hf_lock *other = rig_lock(rig_client(NULL), "a");
    hf_hold *hold = NULL;
    int status = 0;
    CHECK_INT(hf_lock_try(l, &hold, NULL), HF_OK);
    pid_t pid = proc_fork();
    if (pid == 0) {
        hf_hold_state(hold); /* touch it, then live on */
        alarm(60);
        pause();
        _exit(0);
    }
    CHECK_INT(hf_hold_release(hold, NULL), HF_OK);
    int got = rig_acquire(other, 0, RIG_WAIT_MS, NULL);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(got, HF_OK);
}
