/*
 * fake_env.c: the smallest engine that a backend can live in.  One rule: it
 * does what backend.h promises, and nothing more.
 */
#include "lib/fake_env.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "sys/clock.h"
#include "sys/random.h"
#include "test.h"

static struct fake_env *fake_of(struct backend_env *env)
{
    return (struct fake_env *)env;
}

static void *fake_allocate(size_t size, void *user)
{
    struct fake_env *f = user;
    if (f->fail_allocs) return NULL;
    f->allocs_open++;
    return malloc(size);
}

static void *fake_resize(void *ptr, size_t size, void *user)
{
    struct fake_env *f = user;
    if (f->fail_allocs) return NULL;
    if (!ptr) f->allocs_open++;
    return realloc(ptr, size);
}

static void fake_release(void *ptr, void *user)
{
    struct fake_env *f = user;
    if (ptr) f->allocs_open--;
    free(ptr);
}

static void rows_keep(struct fake_env *f, const struct reply *reply)
{
    for (size_t i = 0; i < reply->rows_len && f->rows_len < FAKE_ROWS_MAX;
         i++) {
        const struct list_row *row = &reply->rows[i];
        memcpy(f->rows[f->rows_len].name, row->name, row->name_len);
        f->rows[f->rows_len].name[row->name_len] = '\0';
        f->rows[f->rows_len++].info = row->info;
    }
}

static void fake_reply(struct backend_env *env, struct request *req,
                       const struct reply *reply)
{
    struct fake_env *f = fake_of(env);
    struct fake_answer *a = req->user;
    f->replies++;
    if (a->is_done) abort(); /* a second answer to one request */
    a->is_done = 1;
    a->reply = *reply;
    if (reply->info) {
        a->info = *reply->info;
        a->reply.info = &a->info;
    }
    if (reply->boot) {
        a->boot = *reply->boot;
        a->reply.boot = &a->boot;
    }
    if (reply->tally) {
        a->tally = *reply->tally;
        a->reply.tally = &a->tally;
    }
    snprintf(a->text, sizeof a->text, "%s", reply->text ? reply->text : "");
    a->reply.text = a->text;
    if (reply->data) {
        size_t len = reply->data_len;
        memcpy(a->data, reply->data, len < FAKE_DATA_MAX ? len : FAKE_DATA_MAX);
        a->reply.data = a->data;
    }
    rows_keep(f, reply);
    a->reply.rows = NULL;
}

static void fake_watch(struct backend_env *env, int fd, unsigned events)
{
    struct fake_env *f = fake_of(env);
    int free_place = -1;
    for (int i = 0; i < FAKE_FDS_MAX; i++) {
        if (f->fds[i].events && f->fds[i].fd == fd) {
            f->fds[i].events = events;
            return;
        }
        if (!f->fds[i].events) free_place = i;
    }
    if (events == 0) return;
    if (free_place < 0) abort(); /* more fds than any backend needs */
    f->fds[free_place].fd = fd;
    f->fds[free_place].events = events;
}

static void fake_timer(struct backend_env *env, int64_t due_us)
{
    fake_of(env)->timer_us = due_us;
}

static void fake_handed(struct backend_env *env, const struct handoff *h)
{
    struct fake_env *f = fake_of(env);
    f->handed++;
    f->handed_attempt = h->attempt;
    f->handed_fence = h->fence;
    snprintf(f->handed_owner, sizeof f->handed_owner, "%s", h->owner);
}

static void fake_wake(struct backend_env *env, const char *name,
                      size_t name_len)
{
    struct fake_env *f = fake_of(env);
    f->wakes++;
    memcpy(f->woken, name, name_len);
    f->woken[name_len] = '\0';
}

static void fake_link(struct backend_env *env, int up, int64_t node_us,
                      const struct hf_error *err)
{
    struct fake_env *f = fake_of(env);
    f->is_up = up != LINK_IS_DOWN;
    f->is_other = up == LINK_IS_OTHER;
    f->link_node_us = node_us;
    if (err) f->link_err = *err;
}

static int64_t fake_now(struct backend_env *env)
{
    (void)env;
    return hf__clock_us();
}

static uint64_t fake_random(struct backend_env *env)
{
    static uint64_t state = 1;
    (void)env;
    return hf__random_next(&state);
}

static void fake_log(struct backend_env *env, int level, const char *line)
{
    (void)line;
    if (level <= HF_LOG_WARN) fake_of(env)->warnings++;
}

void fake_init(struct fake_env *f, const struct backend *backend)
{
    memset(f, 0, sizeof *f);
    f->backend = backend;
    f->timer_us = TIME_NEVER;
    f->alloc.fn =
        (struct hf_allocator){fake_allocate, fake_resize, fake_release, f};
    f->conf =
        (struct backend_conf){.timeout_us = TIMEOUT_MS_DEFAULT * US_PER_MS,
                              .uuid = "01234567-89ab-4def-8123-456789abcdef"};
    f->env = (struct backend_env){.alloc = &f->alloc,
                                  .conf = &f->conf,
                                  .reply = fake_reply,
                                  .await_fd = fake_watch,
                                  .timer = fake_timer,
                                  .wake = fake_wake,
                                  .handed = fake_handed,
                                  .link = fake_link,
                                  .now = fake_now,
                                  .random = fake_random,
                                  .log = fake_log};
}

int fake_open(struct fake_env *f, const char *url, struct hf_error *err)
{
    struct url parsed;
    int status = hf__url_parse(&parsed, url, err);
    if (status != HF_OK) return status;
    return f->backend->open(&f->env, &parsed, &f->conn, err);
}

void fake_close(struct fake_env *f)
{
    if (f->conn) f->backend->close(f->conn);
    f->conn = NULL;
}

void fake_submit(struct fake_env *f, struct request *req,
                 struct fake_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    req->user = answer;
    if (req->deadline_us == 0)
        req->deadline_us = hf__clock_us() + f->conf.timeout_us;
    f->backend->submit(f->conn, req);
    CHECK(!answer->is_done); /* never from inside submit() */
}

static int pump_timeout_ms(const struct fake_env *f, int wait_ms)
{
    if (f->timer_us == TIME_NEVER) return wait_ms;
    int64_t left_us = f->timer_us - hf__clock_us();
    if (left_us <= 0) return 0;
    int64_t left_ms = (left_us + US_PER_MS - 1) / US_PER_MS;
    return left_ms < wait_ms ? (int)left_ms : wait_ms;
}

void fake_pump(struct fake_env *f, int wait_ms)
{
    struct pollfd fds[FAKE_FDS_MAX];
    for (int i = 0; i < FAKE_FDS_MAX; i++) {
        unsigned events = f->fds[i].events;
        int wanted = (events & AWAIT_READ ? POLLIN : 0)
                     | (events & AWAIT_WRITE ? POLLOUT : 0);
        fds[i] = (struct pollfd){events ? f->fds[i].fd : -1, (short)wanted, 0};
    }
    if (poll(fds, FAKE_FDS_MAX, pump_timeout_ms(f, wait_ms)) < 0
        && errno != EINTR)
        TEST_FAIL("poll: %s", strerror(errno));
    for (int i = 0; i < FAKE_FDS_MAX; i++) {
        short got = fds[i].revents;
        if (fds[i].fd < 0 || !got || !f->fds[i].events) continue;
        unsigned ready = (got & (POLLIN | POLLHUP | POLLERR) ? AWAIT_READ : 0)
                         | (got & (POLLOUT | POLLERR) ? AWAIT_WRITE : 0);
        f->backend->process(f->conn, fds[i].fd, ready);
    }
    if (f->timer_us <= hf__clock_us()) {
        f->timer_us = TIME_NEVER;
        f->backend->process(f->conn, -1, 0);
    }
    f->backend->flush(f->conn);
}

void fake_wait(struct fake_env *f, const struct fake_answer *answer)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (!answer->is_done) {
        CHECK(hf__clock_us() < end_us);
        fake_pump(f, 100);
    }
}

void fake_wait_wakes(struct fake_env *f, int wakes)
{
    int64_t end_us = hf__clock_us() + FAKE_WAIT_MS * US_PER_MS;
    while (f->wakes < wakes) {
        CHECK(hf__clock_us() < end_us);
        fake_pump(f, 100);
    }
}

void fake_call(struct fake_env *f, struct request *req,
               struct fake_answer *answer)
{
    fake_submit(f, req, answer);
    f->backend->flush(f->conn);
    fake_wait(f, answer);
}
