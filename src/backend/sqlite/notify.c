/*
 * notify.c: how waiters learn of what others have committed.
 *
 * A commit writes the -wal file, which inotify tells as IN_MODIFY.  It is told
 * a moment before the commit can be read: the index of the log is changed last,
 * and with sync=full after a sync.  So each event is followed by some more
 * looks, at growing distances.  One rule: a look that finds nothing costs one
 * statement, and waiters are woken by news of their own name only.
 */
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include "backend/sqlite/notify.h"
#include "backend/sqlite/query.h"
#include "sys/clock.h"

#define READS_MAX 16                  /* reads of events in one call */
#define TICK_US US_PER_S              /* for what no event told */
#define TICK_BLIND_US (5 * US_PER_MS) /* without inotify */

static const int64_t echoes_us[] = {200, 1000, 4000, 16000, 64000};

#define ECHOES_LEN (sizeof echoes_us / sizeof *echoes_us)

#ifdef __linux__
static void wal_add(struct backend_conn *c)
{
    if (c->inotify_fd < 0 || c->wd >= 0 || !c->is_ready) return;
    c->wd = inotify_add_watch(c->inotify_fd, c->wal,
                              IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF);
}

void hf__sqlite_notify_listen(struct backend_conn *c)
{
    if (c->inotify_fd < 0) {
        c->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (c->inotify_fd >= 0)
            c->env->await_fd(c->env, c->inotify_fd, AWAIT_READ);
    }
    wal_add(c);
}

void hf__sqlite_notify_stop(struct backend_conn *c)
{
    if (c->wd >= 0) inotify_rm_watch(c->inotify_fd, c->wd);
    c->wd = -1;
}

/* Is it about the file that is watched?  The last event of a watch comes when
 * it has been taken away, and tells of nothing: to answer it with a new watch,
 * while no name is watched, would go on for ever. */
static int event_note(struct backend_conn *c, const struct inotify_event *ev)
{
    if (ev->wd != c->wd) return 0;
    if (ev->mask & IN_MODIFY) return 1;
    if (ev->mask & IN_MOVE_SELF) hf__sqlite_notify_stop(c);
    c->wd = -1; /* it is deleted: watch the next one */
    return 1;
}

int hf__sqlite_notify_read(struct backend_conn *c)
{
    _Alignas(struct inotify_event) char buf[4096];
    int done = 0;
    for (int i = 0; i < READS_MAX; i++) {
        ssize_t n = read(c->inotify_fd, buf, sizeof buf);
        if (n <= 0) break;
        for (ssize_t at = 0; at < n;) {
            struct inotify_event ev;
            memcpy(&ev, buf + at, sizeof ev);
            done |= event_note(c, &ev);
            at += (ssize_t)(sizeof ev + ev.len);
        }
    }
    if (!done) return 0;
    wal_add(c);
    c->echo_len = 0;
    c->echo_us = hf__clock_us(); /* look now, and then again */
    return 1;
}
#else
void hf__sqlite_notify_listen(struct backend_conn *c)
{
    (void)c;
}

void hf__sqlite_notify_stop(struct backend_conn *c)
{
    c->wd = -1;
}

int hf__sqlite_notify_read(struct backend_conn *c)
{
    (void)c;
    return 0;
}
#endif

/* Waking may change the list of watches: begin again behind each. */
static int news_tell(struct backend_conn *c)
{
    struct sql_watch *w = hf__sql_watch_first(c->core);
    for (; w && c->is_ready; w = w->next) {
        struct sql_row row;
        if (!w->is_on
            || hf__sqlite_query_row(c, w->name, w->name_len, &row) != SQLITE_OK)
            continue;
        hf__sqlite_query_mark(c, w, row.waits_us);
        if (row.news == w->news) continue;
        w->news = row.news;
        hf__sql_watch_news(c->core, w, &row.plain, hf__clock_wall_us());
        return 1;
    }
    return 0;
}

void hf__sqlite_notify_look(struct backend_conn *c)
{
    if (!c->is_ready || !hf__sql_watch_first(c->core)) {
        c->has_news = 0;
        return;
    }
    int64_t version = hf__sqlite_query_version(c);
    if (version == c->seen && !c->has_news) return;
    c->has_news = 0;
    while (news_tell(c)) continue;
    c->seen = version;
}

/* What no event tells of: the first watch, a file that was replaced. */
static int64_t tick_us(const struct backend_conn *c)
{
    if (!hf__sql_watch_first(c->core)) return TIME_NEVER;
    return c->wd >= 0 ? TICK_US : TICK_BLIND_US;
}

int hf__sqlite_notify_due(struct backend_conn *c, int64_t now_us)
{
    if (c->echo_us > now_us) {
        if (c->echo_us == TIME_NEVER && tick_us(c) != TIME_NEVER)
            c->echo_us = now_us + tick_us(c);
        return 0;
    }
    hf__sqlite_notify_look(c);
    int64_t wait_us = c->echo_len < ECHOES_LEN && c->wd >= 0
                          ? echoes_us[c->echo_len++]
                          : tick_us(c);
    c->echo_us = wait_us == TIME_NEVER ? TIME_NEVER : now_us + wait_us;
    return 1;
}
