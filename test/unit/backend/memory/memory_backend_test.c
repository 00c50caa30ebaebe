/*
 * memory_backend_test.c: the memory backend as the engine sees it, through its
 * vtable.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fake_env.h"
#include "sys/clock.h"
#include "test.h"

static void rig_stop(void *arg)
{
    struct fake_env *f = arg;
    f->fail_allocs = 0;
    fake_close(f);
}

static void rig_start(struct fake_env *f, const char *url)
{
    struct hf_error err = {0};
    fake_init(f, &hf__backend_memory);
    test_cleanup(rig_stop, f);
    if (fake_open(f, url, &err) != HF_OK) TEST_FAIL("%s", err.text);
}

/* The clock, but never the same number twice: that would be stale. */
static int64_t ballot_next(void)
{
    static int64_t last;
    int64_t now_us = hf__clock_wall_us();
    last = now_us > last ? now_us : last + 1;
    return last;
}

static struct request request_of(enum verb op, const char *owner,
                                 uint64_t attempt)
{
    struct request req = {.verb = op,
                          .flags = REQ_SERVER_FENCE,
                          .name = "job",
                          .name_len = 3,
                          .attempt = attempt,
                          .ballot = ballot_next(),
                          .count = 1,
                          .lease_us = 60 * US_PER_S,
                          .window_us = BALLOT_WINDOW_US,
                          .info = "1 host label"};
    snprintf(req.owner, sizeof req.owner, "%s", owner);
    return req;
}

static struct fake_answer ask(struct fake_env *f, enum verb op,
                              const char *owner, uint64_t attempt)
{
    struct fake_answer a;
    struct request req = request_of(op, owner, attempt);
    fake_call(f, &req, &a);
    return a;
}

static enum verdict verdict_of(struct fake_env *f, enum verb op,
                               const char *owner)
{
    return ask(f, op, owner, 1).reply.verdict;
}

/* ---- spaces ----------------------------------------------------------- */

TEST(memory, clients_of_one_space_exclude_each_other)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:one");
    rig_start(&b, "memory:one");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_BUSY);
    CHECK(verdict_of(&a, VERB_RELEASE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_GRANTED);
}

TEST(memory, spaces_of_other_names_are_others)
{
    static struct fake_env a, b, c;
    rig_start(&a, "memory:one");
    rig_start(&b, "memory:two");
    rig_start(&c, "memory:");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_GRANTED);
    CHECK(verdict_of(&c, VERB_PROPOSE, "c:1") == V_GRANTED);
}

TEST(memory, a_space_goes_with_its_last_client)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:gone");
    rig_start(&b, "memory:gone");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    fake_close(&a);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_BUSY);
    fake_close(&b);
    rig_start(&b, "memory:gone");
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_GRANTED);
}

TEST(memory, the_link_is_up_at_once_and_tells_the_clock)
{
    static struct fake_env a;
    int64_t before_us = hf__clock_wall_us();
    rig_start(&a, "memory:");
    CHECK(a.is_up);
    CHECK(a.link_node_us >= before_us);
    CHECK(a.link_node_us <= hf__clock_wall_us());
}

TEST(memory, a_space_may_have_a_clock_that_is_off)
{
    static struct fake_env a;
    rig_start(&a, "memory:?clock_ms=-3600000");
    int64_t now_us = hf__clock_wall_us();
    CHECK(a.link_node_us < now_us - 3599 * US_PER_S);
    CHECK(ask(&a, VERB_INSPECT, "a:1", 1).reply.node_us
          < now_us - 3590 * US_PER_S);
}

TEST(memory, an_url_with_a_host_or_a_user_is_refused)
{
    struct url url = {.scheme = "memory", .host = "example"};
    struct hf_error err = {0};
    struct backend_conn *conn = NULL;
    static struct fake_env a;
    fake_init(&a, &hf__backend_memory);
    CHECK_INT(hf__backend_memory.open(&a.env, &url, &conn, &err), HF_INVALID);
    CHECK(strstr(err.text, "no host") != NULL);
    url.host = NULL;
    url.user = "me";
    CHECK_INT(hf__backend_memory.open(&a.env, &url, &conn, &err), HF_INVALID);
    CHECK(conn == NULL);
    CHECK_INT(a.allocs_open, 0);
}

TEST(memory, a_forked_child_starts_with_no_spaces)
{
    static struct fake_env a, b;
    int status = 0;
    rig_start(&a, "memory:forked");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    pid_t pid = fork();
    if (pid == 0) {
        struct hf_error err;
        hf__backend_memory.forked(a.conn);
        fake_init(&b, &hf__backend_memory);
        if (fake_open(&b, "memory:forked", &err) != HF_OK) _exit(2);
        _exit(verdict_of(&b, VERB_PROPOSE, "b:1") == V_GRANTED ? 0 : 3);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    CHECK(verdict_of(&a, VERB_RENEW, "a:1") == V_GRANTED);
}

/* ---- watches ---------------------------------------------------------- */

TEST(memory, a_release_wakes_who_watches_and_counts_them)
{
    static struct fake_env a, b, c;
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    rig_start(&c, "memory:w");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(verdict_of(&c, VERB_WATCH, "c:1") == V_GRANTED);
    CHECK_INT(ask(&a, VERB_INSPECT, "a:1", 1).info.waiters, 2);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 1).reply.waiters, 2);
    fake_wait_wakes(&b, 1);
    fake_wait_wakes(&c, 1);
    CHECK_STR(b.woken, "job");
    fake_pump(&b, 0);
    CHECK_INT(b.wakes, 1);
}

TEST(memory, a_failed_release_wakes_nobody)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(verdict_of(&a, VERB_RELEASE, "x:1") == V_OTHER);
    fake_pump(&b, 0);
    CHECK_INT(b.wakes, 0);
}

TEST(memory, a_break_wakes_and_an_unwatch_ends_it)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(ask(&a, VERB_BREAK, "a:1", 0).info.locked);
    fake_wait_wakes(&b, 1);
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_UNWATCH, "b:1") == V_GRANTED);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 1).reply.waiters, 0);
    fake_pump(&b, 0);
    CHECK_INT(b.wakes, 1);
}

TEST(memory, an_unwatch_takes_back_a_bell_that_rang)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(verdict_of(&a, VERB_RELEASE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_UNWATCH, "b:1") == V_GRANTED);
    fake_pump(&b, 0);
    CHECK_INT(b.wakes, 0);
}

/* The holder says nothing more: only the lease ends. */
TEST(memory, an_ended_lease_wakes_too_even_if_it_was_renewed_between)
{
    static struct fake_env a, b;
    struct fake_answer answer;
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    struct request req = request_of(VERB_PROPOSE, "a:1", 1);
    req.lease_us = 40 * US_PER_MS;
    fake_call(&a, &req, &answer);
    CHECK(answer.reply.verdict == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_BUSY);
    req.verb = VERB_RENEW;
    req.lease_us = 80 * US_PER_MS;
    fake_call(&a, &req, &answer);
    CHECK(answer.reply.verdict == V_GRANTED);
    fake_wait_wakes(&b, 1);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_GRANTED);
    CHECK(verdict_of(&a, VERB_RENEW, "a:1") == V_OTHER);
}

TEST(memory, many_names_ring_one_bell_and_all_arrive)
{
    static struct fake_env a, b;
    static char names[200][16];
    rig_start(&a, "memory:w");
    rig_start(&b, "memory:w");
    for (int i = 0; i < 200; i++) {
        struct fake_answer answer;
        snprintf(names[i], sizeof names[i], "n%d", i);
        struct request req = request_of(VERB_PROPOSE, "a:1", 1);
        req.name = names[i];
        req.name_len = strlen(names[i]);
        fake_call(&a, &req, &answer);
        req.verb = VERB_WATCH;
        fake_call(&b, &req, &answer);
        req.verb = VERB_RELEASE;
        fake_call(&a, &req, &answer);
        CHECK_INT(answer.reply.waiters, 1);
    }
    fake_wait_wakes(&b, 200);
    fake_pump(&b, 0);
    CHECK_INT(b.wakes, 200);
    CHECK_INT(hf__backend_memory.process(b.conn, b.fds[0].fd, AWAIT_READ), 0);
}

/* ---- lists ------------------------------------------------------------ */

TEST(memory, a_list_is_a_copy_and_matches)
{
    static struct fake_env a;
    struct fake_answer answer;
    struct request list = {.verb = VERB_LIST, .name = "j*"};
    rig_start(&a, "memory:l");
    fake_call(&a, &list, &answer);
    CHECK_INT(a.rows_len, 0);
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    fake_call(&a, &list, &answer);
    CHECK_INT(a.rows_len, 1);
    CHECK_STR(a.rows[0].name, "job");
    CHECK_STR(a.rows[0].info.owner, "a:1");
    CHECK_INT((int64_t)answer.reply.cursor, 0);
}

/* ---- faults ----------------------------------------------------------- */

TEST(memory, down_answers_unsent_and_says_why)
{
    static struct fake_env a;
    rig_start(&a, "memory:d?down=1");
    CHECK(!a.is_up);
    CHECK_INT(a.link_err.status, HF_UNAVAILABLE);
    struct fake_answer answer = ask(&a, VERB_PROPOSE, "a:1", 1);
    CHECK(answer.reply.verdict == V_UNSENT);
    CHECK_INT(answer.reply.status, HF_UNAVAILABLE);
    CHECK(strstr(answer.text, "memory:d: down") == answer.text);
}

TEST(memory, error_refuses_and_changes_nothing)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:e?error=100");
    rig_start(&b, "memory:e");
    struct fake_answer answer = ask(&a, VERB_PROPOSE, "a:1", 1);
    CHECK(answer.reply.verdict == V_ERROR);
    CHECK_INT(answer.reply.status, HF_UNAVAILABLE);
    CHECK(answer.text[0] != '\0');
    CHECK(!ask(&b, VERB_INSPECT, "b:1", 1).info.locked);
}

TEST(memory, a_delayed_answer_comes_later_but_the_lock_is_taken_at_once)
{
    static struct fake_env a, b;
    struct fake_answer answer;
    rig_start(&a, "memory:s?delay_ms=50");
    rig_start(&b, "memory:s");
    int64_t start_us = hf__clock_us();
    struct request req = request_of(VERB_PROPOSE, "a:1", 1);
    fake_submit(&a, &req, &answer);
    hf__backend_memory.flush(a.conn);
    CHECK(!answer.is_done);
    CHECK(verdict_of(&b, VERB_PROPOSE, "b:1") == V_BUSY);
    fake_wait(&a, &answer);
    CHECK(answer.reply.verdict == V_GRANTED);
    CHECK(hf__clock_us() - start_us >= 50 * US_PER_MS);
    CHECK_STR(ask(&a, VERB_INSPECT, "a:1", 1).info.owner, "a:1");
    struct request list = {.verb = VERB_LIST};
    fake_call(&a, &list, &answer);
    CHECK_INT(a.rows_len, 1);
}

TEST(memory, an_answer_later_than_the_deadline_is_unknown_at_the_deadline)
{
    static struct fake_env a;
    struct fake_answer answer;
    rig_start(&a, "memory:s?delay_ms=60000");
    struct request req = request_of(VERB_PROPOSE, "a:1", 1);
    req.deadline_us = hf__clock_us() + 30 * US_PER_MS;
    fake_call(&a, &req, &answer);
    CHECK(answer.reply.verdict == V_UNKNOWN);
    CHECK(hf__clock_us() >= req.deadline_us);
}

TEST(memory, a_lost_request_was_carried_out_or_not_and_nobody_knows)
{
    static struct fake_env a, b;
    int carried_out = 0;
    rig_start(&a, "memory:x?loss=100&seed=3");
    rig_start(&b, "memory:x");
    for (int i = 0; i < 40; i++) {
        struct fake_answer answer;
        struct request req = request_of(VERB_PROPOSE, "a:1", (uint64_t)i + 1);
        req.deadline_us = hf__clock_us() + 2 * US_PER_MS;
        fake_call(&a, &req, &answer);
        CHECK(answer.reply.verdict == V_UNKNOWN);
        CHECK_INT(answer.reply.status, HF_UNAVAILABLE);
        carried_out += ask(&b, VERB_INSPECT, "b:1", 1).info.locked;
        CHECK(verdict_of(&b, VERB_BREAK, "b:1") == V_GRANTED);
    }
    CHECK(carried_out > 5 && carried_out < 35);
}

TEST(memory, expire_makes_a_renewal_find_nothing)
{
    static struct fake_env a;
    rig_start(&a, "memory:y?expire=100");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&a, VERB_RENEW, "a:1") == V_ABSENT);
    CHECK(!ask(&a, VERB_INSPECT, "a:1", 1).info.locked);
}

/* ---- the end ---------------------------------------------------------- */

TEST(memory, close_answers_everything_that_is_open)
{
    static struct fake_env a;
    struct fake_answer late, queued;
    rig_start(&a, "memory:c?delay_ms=60000");
    struct request one = request_of(VERB_PROPOSE, "a:1", 1);
    struct request two = request_of(VERB_RELEASE, "a:1", 1);
    fake_submit(&a, &one, &late);
    hf__backend_memory.flush(a.conn);
    fake_submit(&a, &two, &queued);
    fake_close(&a);
    CHECK(late.is_done && late.reply.verdict == V_UNKNOWN);
    CHECK(queued.is_done && queued.reply.verdict == V_UNSENT);
    CHECK_INT(a.allocs_open, 0);
    CHECK_INT(a.timer_us, TIME_NEVER);
}

TEST(memory, without_memory_every_request_is_still_answered)
{
    static struct fake_env a;
    struct hf_error err;
    fake_init(&a, &hf__backend_memory);
    a.fail_allocs = 1;
    CHECK_INT(fake_open(&a, "memory:m", &err), HF_NOMEM);
    rig_start(&a, "memory:m?delay_ms=1");
    a.fail_allocs = 1;
    struct fake_answer answer = ask(&a, VERB_PROPOSE, "a:1", 1);
    CHECK(answer.reply.verdict == V_ERROR);
    CHECK_INT(answer.reply.status, HF_NOMEM);
    a.fail_allocs = 0;
    fake_close(&a);
    CHECK_INT(a.allocs_open, 0);
    rig_start(&a, "memory:m");
    a.fail_allocs = 1;
    CHECK_INT(ask(&a, VERB_WATCH, "a:1", 1).reply.status, HF_NOMEM);
    struct request list = {.verb = VERB_LIST};
    fake_call(&a, &list, &answer);
    CHECK_INT(answer.reply.status, HF_NOMEM);
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
}

TEST(memory, open_watches_go_with_the_connection)
{
    static struct fake_env a, b;
    rig_start(&a, "memory:o");
    rig_start(&b, "memory:o");
    CHECK(verdict_of(&a, VERB_PROPOSE, "a:1") == V_GRANTED);
    CHECK(verdict_of(&b, VERB_WATCH, "b:1") == V_GRANTED);
    fake_close(&b);
    CHECK_INT(b.allocs_open, 0);
    for (int i = 0; i < FAKE_FDS_MAX; i++) CHECK_INT(b.fds[i].events, 0);
    CHECK_INT(ask(&a, VERB_RELEASE, "a:1", 1).reply.waiters, 0);
}
