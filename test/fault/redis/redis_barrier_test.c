/*
 * redis_barrier_test.c: barriers on a real server: what is stored, and what
 * goes wrong.  One rule: no party passes because of a party that is gone.
 */
#include <string.h>

#include "lib/ear.h"
#include "lib/proxy.h"
#include "lib/rig_gate.h"
#include "lib/rig_redis.h"

static struct lab_server r;
static struct gate_wait w[4];

static void begin(void)
{
    redis_begin(&r, NULL);
    rig_begin_at(r.url);
}

static hf_client *client_by(const char *url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.timeout_ms = 500;
    o.patience_ms = 15000;
    return rig_client_at(url, &o);
}

/* Of all keys, the longest time to live. */
static int64_t longest_ms(void)
{
    char keys[4096], *at = keys;
    int64_t longest = 0;
    snprintf(keys, sizeof keys, "%s", redis_say(&r, "KEYS *"));
    while (*at) {
        size_t len = strcspn(at, "\n");
        char *next = at + len + (at[len] == '\n');
        at[len] = '\0';
        int64_t ttl_ms = redis_number(&r, "PTTL '%s'", at);
        CHECK(ttl_ms > 0);
        if (ttl_ms > longest) longest = ttl_ms;
        at = next;
    }
    return longest;
}

TEST(redis_barrier, every_key_ends_by_itself)
{
    begin();
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK(longest_ms() <= 60000);
    CHECK_INT(rig_barrier_wait(b, RIG_WAIT_MS, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w[0]), HF_OK);
    CHECK_INT(rig_barrier_wait(b, 50, NULL, NULL), HF_TIMEOUT);
    CHECK(rig_until_waiting(b, 0));
    CHECK(longest_ms() <= 60000);
}

/* Its process is gone, or its line: the store hears no more of it. */
TEST(redis_barrier, who_is_cut_off_is_taken_off_within_its_lease)
{
    static struct lab_proxy p;
    char url[64];
    begin();
    proxy_begin(&p, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p.port);
    hf_client *c = rig_client(NULL);
    hf_barrier *b = rig_barrier(c, "a", 2);
    gate_wait_barrier(&w[0], rig_barrier(client_by(url), "a", 2),
                      RIG_PATIENCE_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    proxy_sever(&p, 1);
    CHECK(rig_until_waiting(b, 0));
    gate_wait_barrier(&w[1], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK_INT(atomic_load(&w[1].ended), 0);
    /* It was alive all the time, and comes back. */
    proxy_sever(&p, 0);
    CHECK_INT(gate_ended(&w[1]), HF_OK);
    CHECK_INT(gate_ended(&w[0]), HF_OK);
    CHECK(w[0].passed.generation == w[1].passed.generation);
}

TEST(redis_barrier, tells_its_generation)
{
    char message[64], number[32];
    begin();
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    ear_open(&r, "holdfast_barrier__channel:{a}");
    CHECK_INT(rig_barrier_wait(b, RIG_WAIT_MS, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w[0]), HF_OK);
    int len = snprintf(number, sizeof number, "%llu",
                       (unsigned long long)w[0].passed.generation);
    snprintf(message, sizeof message, "$%d\r\n%s\r\n", len, number);
    CHECK(ear_hears(message));
}

TEST(redis_barrier, that_was_passed_without_a_message_is_noticed)
{
    begin();
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK_STR(redis_say(&r, "ACL SETUSER default resetchannels"), "OK");
    CHECK_INT(rig_barrier_wait(rig_barrier(rig_client(NULL), "a", 2),
                               RIG_WAIT_MS, NULL, NULL),
              HF_OK);
    CHECK_INT(gate_ended(&w[0]), HF_OK);
}

TEST(redis_barrier, is_passed_once_when_answers_are_lost)
{
    static struct lab_proxy p;
    char url[64];
    begin();
    proxy_begin(&p, r.port);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", p.port);
    hf_barrier *near = rig_barrier(rig_client(NULL), "a", 2);
    hf_barrier *far = rig_barrier(client_by(url), "a", 2);
    for (int i = 0; i < 6; i++) {
        gate_wait_barrier(&w[0], near, RIG_WAIT_MS, NULL);
        CHECK(rig_until_waiting(near, 1));
        proxy_arm(&p, PROXY_DOWN, i * 3, i % 2);
        CHECK_INT(rig_barrier_wait(far, RIG_WAIT_MS, &w[1].passed, NULL),
                  HF_OK);
        CHECK_INT(gate_ended(&w[0]), HF_OK);
        CHECK(w[0].passed.generation == w[1].passed.generation);
        CHECK(w[0].passed.index != w[1].passed.index);
        int64_t waiting = -1;
        CHECK_INT(hf_barrier_waiting(near, &waiting, NULL), HF_OK);
        CHECK_INT(waiting, 0);
    }
    CHECK(atomic_load(&p.cuts) > 0);
}

TEST(redis_barrier, that_the_server_forgot_is_told_to_who_waits)
{
    begin();
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 2);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    redis_say(&r, "FLUSHALL");
    CHECK_INT(gate_ended(&w[0]), HF_LOST);
    CHECK(strstr(w[0].err.text, "it was forgotten while it was waited for"));
}

static void conflicts(const char *make)
{
    struct hf_error err = {0};
    redis_say(&r, "FLUSHALL");
    redis_say(&r, "%s", make);
    hf_client *c = rig_client(NULL);
    hf_barrier *b = rig_barrier(c, "a", 2);
    CHECK_INT(rig_barrier_wait(b, RIG_NO_LIMIT, NULL, &err), HF_CONFLICT);
    if (!strstr(err.text, "something that is no barrier is stored there"))
        TEST_FAIL("%s: %s", make, err.text);
    rig_close(c); /* what was to be taken off has been asked for by then */
    CHECK_INT(redis_number(&r, "DBSIZE"), 1);
}

TEST(redis_barrier, something_else_under_the_name_is_a_conflict_and_stays)
{
    begin();
    conflicts("SET a 3");
    conflicts("RPUSH a x");
    conflicts("HSET a name Ann");
    conflicts("HSET a barrier nonsense");
}

/* A barrier of many parties is not stored as one large hash: a lock of its name
 * finds out at once what it is. */
TEST(redis_barrier, of_many_is_no_lock)
{
    static struct gate_wait many[200];
    begin();
    hf_client *c = rig_client(NULL);
    hf_barrier *b = rig_barrier(c, "a", 201);
    for (int i = 0; i < 200; i++)
        gate_start_barrier(&many[i], b, RIG_PATIENCE_MS, NULL);
    CHECK(rig_until_waiting(b, 200));
    CHECK_INT(hf_lock_try(rig_lock(c, "a"), NULL, NULL), HF_CONFLICT);
    CHECK_INT(rig_barrier_wait(b, RIG_WAIT_MS, &w[0].passed, NULL), HF_OK);
    CHECK_INT(w[0].passed.index, 200);
    for (int i = 0; i < 200; i++) {
        CHECK_INT(gate_ended(&many[i]), HF_OK);
        CHECK(many[i].passed.generation == w[0].passed.generation);
    }
}

#define TURNS 2000

static struct turns {
    atomic_int ended;
    atomic_uint_least64_t highest;
} turns;

static void turn_passed(hf_barrier *barrier, int status,
                        const struct hf_passed *p, const struct hf_error *err,
                        void *user)
{
    (void)barrier;
    (void)err;
    (void)user;
    if (status == HF_OK && p->generation > atomic_load(&turns.highest))
        atomic_store(&turns.highest, p->generation);
    atomic_fetch_add(&turns.ended, 1);
}

/* Turns one after the other, as fast as the server goes: several within a
 * millisecond of its clock. */
TEST(redis_barrier, generations_rise_after_many_fast_turns_and_a_loss_of_data)
{
    struct hf_passed p = HF_PASSED_INIT;
    begin();
    memset(&turns, 0, sizeof turns);
    hf_barrier *b = rig_barrier(rig_client(NULL), "a", 1);
    CHECK_INT(rig_barrier_wait(b, RIG_WAIT_MS, &p, NULL), HF_OK);
    uint64_t first = p.generation;
    for (int i = 0; i < TURNS; i++)
        CHECK_INT(hf_barrier_wait_start(b, NULL, turn_passed, NULL, NULL),
                  HF_OK);
    CHECK(rig_until_equal(&turns.ended, TURNS));
    uint64_t highest = atomic_load(&turns.highest);
    CHECK(highest > first);
    redis_say(&r, "FLUSHALL");
    CHECK_INT(rig_barrier_wait(b, RIG_WAIT_MS, &p, NULL), HF_OK);
    CHECK(p.generation > highest);
}

TEST(redis_barrier, of_a_full_server_can_still_be_passed)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct hf_error err = {0};
    o.patience_ms = 2500;
    begin();
    hf_client *c = rig_client(NULL), *hasty = rig_client(&o);
    hf_barrier *b = rig_barrier(c, "a", 2);
    gate_wait_barrier(&w[0], b, RIG_WAIT_MS, NULL);
    CHECK(rig_until_waiting(b, 1));
    CHECK_STR(redis_say(&r, "CONFIG SET maxmemory 1"), "OK");
    CHECK_INT(
        rig_barrier_wait(rig_barrier(hasty, "b", 2), RIG_WAIT_MS, NULL, &err),
        HF_UNAVAILABLE);
    CHECK(strstr(err.text, "the server's memory is full"));
    CHECK_INT(rig_barrier_wait(b, RIG_TRY, NULL, NULL), HF_OK);
    CHECK_INT(gate_ended(&w[0]), HF_OK);
}
