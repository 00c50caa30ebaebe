/*
 * slow_server_test.c: the server stops answering (SIGSTOP) and goes on later.
 * One rule: every call ends by its own deadline, and when the server is back
 * nothing is left behind.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/rig.h"
#include "lib/rig_redis.h"

#define SOON_MS 15000 /* deadlines here are 2 s; a busy machine is slow */

static hf_client *impatient_client(int64_t lease_ms)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.lease_ms = lease_ms;
    o.timeout_ms = 1000;
    o.patience_ms = 2000;
    return rig_client(&o);
}

static int on_row(const struct hf_list_row *row, void *user)
{
    (void)row;
    (void)user;
    return 0;
}

/* Nobody has the lock, and it can be had: at once, or when a lease that may
 * have been granted unseen is over. */
static void is_free_again(struct lab_server *r, hf_lock *l)
{
    int status = HF_UNAVAILABLE;
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    while (status == HF_UNAVAILABLE && rig_now_ms() < end_ms)
        status = rig_acquire(l, 0, RIG_WAIT_MS, NULL);
    CHECK_INT(status, HF_OK);
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(redis_number(r, "EXISTS a"), 0);
}

TEST(slow_server, every_call_ends_by_its_deadline)
{
    static struct lab_server r;
    struct hf_info info = HF_INFO_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = impatient_client(2000);
    hf_lock *l = rig_lock(c, "a");
    hf_lock *held = rig_lock(c, "held");
    CHECK_INT(rig_probe(l), HF_OK);
    struct hf_acquire_options o = rig_options(0, 60000, HF_ACQUIRE_FIXED);
    hf_hold *g = NULL;
    CHECK_INT(hf_lock_acquire(held, &o, &g, NULL), HF_OK);
    redis_pause(&r);

    int64_t began_ms = rig_now_ms();
    int status = hf_lock_try(l, NULL, NULL);
    CHECK_INT(status, HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    began_ms = rig_now_ms();
    status = rig_acquire(l, 0, 300, NULL);
    CHECK(status == HF_TIMEOUT || status == HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    began_ms = rig_now_ms();
    CHECK_INT(rig_acquire(l, 0, 600000, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    began_ms = rig_now_ms();
    CHECK_INT(hf_lock_inspect(l, &info, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_lock_break(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_client_list(c, NULL, on_row, NULL, NULL), HF_UNAVAILABLE);
    CHECK_INT(hf_hold_extend(g, 0, NULL), HF_UNAVAILABLE);
    CHECK(hf_hold_valid_ms(g) > 0); /* by the local clock it stays */
    CHECK_INT(hf_hold_release(g, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < 4 * SOON_MS);
    CHECK_INT(hf_lock_release(held, NULL, NULL), HF_NOT_OWNER);

    redis_resume(&r);
    is_free_again(&r, l);
    /* The release of `held` is repeated until it got through; its lease would
     * have lasted a minute. */
    CHECK_INT(rig_acquire(held, 0, RIG_WAIT_MS, NULL), HF_OK);
}

struct ear {
    atomic_int at_risk, lost;
    atomic_int wrong_order;
};

static void on_state(const struct hf_event *ev, void *user)
{
    struct ear *e = user;
    if (ev->state == HF_STATE_AT_RISK) atomic_fetch_add(&e->at_risk, 1);
    if (ev->state != HF_STATE_LOST) return;
    if (atomic_load(&e->at_risk) == 0) atomic_store(&e->wrong_order, 1);
    atomic_fetch_add(&e->lost, 1);
}

TEST(slow_server, the_holder_is_told_before_and_when_its_lease_ends)
{
    hf_hold *g = NULL;
    static struct lab_server r;
    static struct ear e;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    memset(&e, 0, sizeof e);
    o.lease_ms = 1500;
    o.timeout_ms = 400;
    o.on_state = on_state;
    o.state_user = &e;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(hf_lock_try(l, &g, NULL), HF_OK);
    redis_pause(&r);
    int64_t began_ms = rig_now_ms();
    CHECK(rig_until_equal(&e.lost, 1));
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    CHECK_INT(atomic_load(&e.at_risk), 1);
    CHECK_INT(atomic_load(&e.wrong_order), 0);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST);
    redis_resume(&r);
    rig_pause_ms(500);
    CHECK_INT(hf_hold_state(g), HF_STATE_LOST); /* it never comes back */
    CHECK_INT(atomic_load(&e.lost), 1);
    hf_hold_release(g, NULL);
    is_free_again(&r, l);
}

TEST(slow_server, a_short_stop_costs_nothing_but_time)
{
    hf_hold *g = NULL;
    static struct lab_server r;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    struct hf_acquire_options a = rig_options(RIG_TRY, 60000, 0);
    a.renew_ms = 1000;
    o.timeout_ms = 500;
    hf_lock *l = rig_lock(rig_client(&o), "a");
    CHECK_INT(hf_lock_acquire(l, &a, &g, NULL), HF_OK);
    for (int i = 0; i < 3; i++) {
        redis_pause(&r);
        rig_pause_ms(1500); /* a renewal goes unanswered in here */
        redis_resume(&r);
        CHECK(rig_until_renewed(l, 0, 2));
        CHECK_INT(hf_hold_state(g), HF_STATE_HELD);
    }
    CHECK_INT(redis_number(&r, "EXISTS a"), 1);
    CHECK_INT(hf_hold_release(g, NULL), HF_OK);
    CHECK_INT(redis_number(&r, "EXISTS a"), 0);
}

TEST(slow_server, close_does_not_wait_for_it)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    hf_client *c = impatient_client(2000);
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_OK);
    redis_pause(&r);
    int64_t began_ms = rig_now_ms();
    rig_close(c);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    redis_resume(&r);
    is_free_again(&r, rig_lock(impatient_client(2000), "a"));
}

TEST(slow_server, opening_does_not_wait_for_it)
{
    static struct lab_server r;
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
    redis_pause(&r);
    int64_t began_ms = rig_now_ms();
    hf_lock *l = rig_lock(impatient_client(2000), "a");
    CHECK_INT(hf_lock_try(l, NULL, NULL), HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began_ms < SOON_MS);
    redis_resume(&r);
    is_free_again(&r, l);
}

/* ---- refused at first, and then no answer ---- */

struct look {
    hf_lock *lock;
    int status;
};

static void look_run(void *arg)
{
    struct look *w = arg;
    struct hf_info info = HF_INFO_INIT;
    w->status = hf_lock_inspect(w->lock, &info, NULL);
}

static void fd_close(void *arg)
{
    close(*(int *)arg);
}

/* A request that is repeated has the deadline of its operation, not one of its
 * own. */
TEST(slow_server, a_repeated_call_ends_by_the_deadline_of_the_first)
{
    static struct look w;
    static int fd;
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    char url[80];
    rig_begin_at("memory:");
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    test_cleanup(fd_close, &fd);
    CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d?timeout=40s&patience=5s",
             ntohs(a.sin_port));
    w = (struct look){rig_lock(rig_client_at(url, NULL), "a"), HF_OK};
    int64_t began = rig_now_ms();
    rig_spawn(look_run, &w);
    rig_pause_ms(500);
    CHECK_INT(listen(fd, 8), 0); /* it is connected to from now on */
    rig_join();
    CHECK_INT(w.status, HF_UNAVAILABLE);
    CHECK(rig_now_ms() - began < 30000);
}
