/*
 * watch.c: waiting without polling.  One rule: a waiter is woken too often
 * rather than too seldom, and never depends on a message alone.
 *
 * What wakes a waiter: notify.c, and a tick for releases that notify no waiter.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/file/error.h"
#include "backend/file/lock.h"
#include "backend/file/notify.h"
#include "backend/file/request.h"
#include "backend/file/table.h"
#include "backend/file/watch.h"
#include "sys/clock.h"

#define TICK_BLIND_US (20 * US_PER_MS) /* where no release notifies */

static void waiter_open(struct backend_conn *c, struct file_lock *l)
{
    if (l->waiter_fd >= 0) close(l->waiter_fd);
    l->waiter_fd = openat(c->dir_fd, l->file,
                          O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static int fd_is(int fd, const struct file_id *id)
{
    struct stat st;
    return fd >= 0 && !fstat(fd, &st) && st.st_dev == id->dev
           && st.st_ino == id->ino;
}

void hf__file_watch_again(struct backend_conn *c, struct file_lock *l)
{
    l->watch_id = l->id;
    hf__file_notify_remove(c, &l->wd);
    hf__file_notify_remove(c, &l->path_wd);
    if (!fd_is(l->waiter_fd, l->is_path ? &l->record_id : &l->id))
        waiter_open(c, l);
    hf__file_notify_mark(l->waiter_fd, F_RDLCK);
    hf__file_notify_add(c, l);
}

static void tick_set(struct backend_conn *c, int64_t now_us)
{
    int is_blind = 0;
    c->tick_us = TIME_NEVER;
    for (struct file_lock *l = c->watched; l && !is_blind; l = l->next_watched)
        is_blind = l->wd < 0 || (l->is_path && l->path_wd < 0);
    if (c->watched) c->tick_us = now_us + (is_blind ? TICK_BLIND_US : TICK_US);
}

int hf__file_watch_start(struct backend_conn *c, struct request *req,
                         struct reply *reply)
{
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    int status = hf__file_lock_open(c, l, FILE_MAKE);
    if (status != HF_OK) return hf__file_refuse(c, reply, status);
    int is_watched = l->watched != 0;
    l->watched |= 1 << req->kind;
    if (!is_watched) {
        hf__file_notify_listen(c);
        hf__file_table_pin(c, l);
        l->next_watched = c->watched;
        c->watched = l;
        hf__file_watch_again(c, l);
        tick_set(c, hf__clock_us());
    }
    reply->verdict = V_GRANTED;
    return ANSWER_DONE;
}

int hf__file_watch_stop(struct backend_conn *c, struct request *req,
                        struct reply *reply)
{
    struct file_lock *l = hf__file_request_lock(c, req, reply);
    if (!l) return ANSWER_DONE;
    reply->verdict = V_GRANTED;
    if (!l->watched) return ANSWER_DONE;
    l->watched &= ~(1 << req->kind);
    if (l->watched) return ANSWER_DONE; /* as another kind */
    struct file_lock **at = &c->watched;
    while (*at != l) at = &(*at)->next_watched;
    *at = l->next_watched;
    l->is_woken = 0;
    l->echo_us = TIME_NEVER;
    hf__file_notify_remove(c, &l->wd);
    hf__file_notify_remove(c, &l->path_wd);
    hf__file_notify_mark(l->waiter_fd, F_UNLCK);
    if (!c->watched) c->tick_us = TIME_NEVER;
    hf__file_table_unpin(c, l);
    return ANSWER_DONE;
}

void hf__file_watch_wake(struct backend_conn *c, struct file_lock *l)
{
    if (l->watched) l->is_woken = c->any_woken = 1;
}

void hf__file_watch_wake_all(struct backend_conn *c)
{
    while (c->any_woken) {
        c->any_woken = 0;
        for (struct file_lock *l = c->watched; l; l = l->next_watched) {
            if (!l->is_woken) continue;
            l->is_woken = 0;
            c->env->wake(c->env, l->name, l->name_len);
        }
    }
}

/* ---- by the clock ------------------------------------------------------ */

static void echo_due(struct backend_conn *c, int64_t now_us)
{
    c->echo_us = TIME_NEVER;
    for (struct file_lock *l = c->watched; l; l = l->next_watched) {
        if (l->echo_us <= now_us) {
            l->is_woken = c->any_woken = 1;
            l->echo_us = TIME_NEVER;
        } else if (l->echo_us < c->echo_us) {
            c->echo_us = l->echo_us;
        }
    }
}

static void tick_due(struct backend_conn *c, int64_t now_us)
{
    for (struct file_lock *l = c->watched; l; l = l->next_watched)
        l->is_woken = c->any_woken = 1;
    tick_set(c, now_us);
}

int hf__file_watch_due(struct backend_conn *c, int64_t now_us)
{
    int is_echo = c->echo_us <= now_us, is_tick = c->tick_us <= now_us;
    if (is_echo) echo_due(c, now_us);
    if (is_tick) tick_due(c, now_us);
    return is_echo || is_tick;
}
