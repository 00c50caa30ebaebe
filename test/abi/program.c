/*
 * program.c: a program of another version than the library: it was compiled
 * with the headers of the first release (-DFIRST), or with headers in which
 * each struct has one more field at its end, hf_later (-DLATER).
 *
 * The rule: it uses every struct that begins with its size, and behind each
 * that is filled there are bytes that stay as they are.  Its one argument is a
 * URL.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/holdfast.h"

#define LONG_MS 30000
#define GUARD 0x5a

static struct hf_error err;
static hf_client *client;
static int failures;

static void fail(int line, const char *what)
{
    fprintf(stderr, "program.c:%d: %s: %s\n", line, what, err.text);
    failures++;
}

#define CHECK(is_so)                                                           \
    do {                                                                       \
        if (!(is_so)) fail(__LINE__, #is_so);                                  \
    } while (0)

/* A struct with guards behind it. */
#define ROOM(type, name, init)                                                 \
    struct {                                                                   \
        struct type s;                                                         \
        unsigned char guards[64];                                              \
    } name = {init, {0}};                                                      \
    memset(name.guards, GUARD, sizeof name.guards)

static int is_whole(const unsigned char *guards)
{
    for (int i = 0; i < 64; i++)
        if (guards[i] != GUARD) return 0;
    return 1;
}

#ifdef LATER
/* What was filled: the field is not there, is zero, and the guards are. */
#define CHECK_FILLED(room, last)                                               \
    CHECK(is_whole((room).guards) && HF_HAS(&(room).s, last)                   \
          && !HF_HAS(&(room).s, hf_later) && (room).s.hf_later == 0)
#define CHECK_SHOWN(ptr, last)                                                 \
    CHECK(HF_HAS((ptr), last) && !HF_HAS((ptr), hf_later))
/* A call with an option that the library does not have. */
#define CHECK_OPTION(options, call)                                            \
    do {                                                                       \
        (options).hf_later = 1;                                                \
        CHECK((call) == HF_INVALID);                                           \
        (options).hf_later = 0;                                                \
    } while (0)
#else
#define CHECK_FILLED(room, last)                                               \
    CHECK(is_whole((room).guards) && HF_HAS(&(room).s, last))
#define CHECK_SHOWN(ptr, last) CHECK(HF_HAS((ptr), last))
#define CHECK_OPTION(options, call)                                            \
    do {                                                                       \
        (void)(options);                                                       \
    } while (0)
#endif

/* A call with a struct that is shorter than it was in the first release. */
#ifdef FIRST
#define CHECK_SHORT(s, call)                                                   \
    do {                                                                       \
        (s).struct_size--;                                                     \
        CHECK((call) == HF_INVALID);                                           \
        (s).struct_size = 0;                                                   \
        CHECK((call) == HF_INVALID);                                           \
        (s).struct_size = sizeof(s);                                           \
    } while (0)
#else
#define CHECK_SHORT(s, call)                                                   \
    do {                                                                       \
        (void)(s);                                                             \
    } while (0)
#endif
#define CHECK_OPTIONS(options, call)                                           \
    CHECK_OPTION(options, call);                                               \
    CHECK_SHORT(options, call)

static int has(unsigned cap)
{
    return (hf_client_caps(client) & cap) != 0;
}

/* ---- clients ------------------------------------------------------------ */

static int states;

static void on_state(const struct hf_event *ev, void *user)
{
    (void)user;
    CHECK_SHOWN(ev, text);
    states++;
}

static void on_node(const struct hf_node *node, void *user)
{
    CHECK_SHOWN(node, link);
    CHECK(node->url[0] != '\0');
    ++*(int *)user;
}

static void client_use(const char *url)
{
    int nodes = 0;
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    ROOM(hf_client_options, now, HF_CLIENT_OPTIONS_INIT);
    o.lease_ms = LONG_MS;
    o.on_state = on_state;
    CHECK_OPTIONS(o, hf_client_open(url, &o, &client, &err));
    if (hf_client_open(url, &o, &client, &err) != HF_OK) {
        fail(__LINE__, "open");
        exit(1);
    }
    CHECK_SHORT(now.s, hf_client_settings(client, &now.s, &err));
    CHECK(hf_client_settings(client, &now.s, &err) == HF_OK);
    CHECK_FILLED(now, password_file);
    CHECK(now.s.lease_ms == LONG_MS && now.s.on_state == on_state);
    CHECK(hf_client_nodes(client, on_node, &nodes) == 1 && nodes == 1);
}

/* ---- locks -------------------------------------------------------------- */

static int on_row(const struct hf_list_row *row, void *user)
{
    CHECK_SHOWN(row, info);
    CHECK_SHOWN(row->info, available);
    *(int *)user += row->info->locked;
    return 0;
}

static void lock_use(void)
{
    hf_lock *lock;
    hf_hold *hold;
    int rows = 0;
    struct hf_lock_options lo = HF_LOCK_OPTIONS_INIT;
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    ROOM(hf_info, info, HF_INFO_INIT);
    CHECK_OPTIONS(lo, hf_lock_open_as(client, "a", &lo, &lock, &err));
    CHECK(hf_lock_open_as(client, "a", &lo, &lock, &err) == HF_OK);
    ao.wait_ms = LONG_MS;
    CHECK_OPTIONS(ao, hf_lock_acquire(lock, &ao, &hold, &err));
    CHECK(hf_lock_acquire(lock, &ao, &hold, &err) == HF_OK);
    CHECK_SHORT(info.s, hf_lock_inspect(lock, &info.s, &err));
    CHECK(hf_lock_inspect(lock, &info.s, &err) == HF_OK);
    CHECK_FILLED(info, available);
    CHECK(info.s.locked && info.s.mine && info.s.pid > 0);
    CHECK(hf_client_list(client, NULL, on_row, &rows, &err) == HF_OK);
    CHECK(rows == 1);
    CHECK(hf_hold_release(hold, &err) == HF_OK);
    hf_lock_close(lock);
}

/* A hold that lasts no longer than it may is lost, and that is told. */
static void event_use(void)
{
    hf_lock *lock;
    hf_hold *hold;
    struct pollfd fd = {.fd = hf_client_event_fd(client), .events = POLLIN};
    struct hf_acquire_options ao = HF_ACQUIRE_OPTIONS_INIT;
    ROOM(hf_event, ev, HF_EVENT_INIT);
    ao.max_hold_ms = 50;
    CHECK(hf_lock_open(client, "e", &lock, &err) == HF_OK);
    CHECK(hf_lock_acquire(lock, &ao, &hold, &err) == HF_OK);
    do {
        CHECK(poll(&fd, 1, LONG_MS) == 1);
        CHECK_SHORT(ev.s, hf_client_next_event(client, &ev.s));
        CHECK(hf_client_next_event(client, &ev.s) == HF_OK);
        CHECK_FILLED(ev, text);
    } while (!failures && ev.s.state != HF_STATE_LOST);
    CHECK(!strcmp(ev.s.name, "e") && ev.s.name_len == 1);
    (void)hf_hold_release(hold, NULL);
    hf_lock_close(lock);
    for (int i = 0; i < LONG_MS / 10 && !states; i++) (void)poll(NULL, 0, 10);
    CHECK(states > 0);
}

/* ---- what else is acquired ----------------------------------------------- */

static void semaphore_use(void)
{
    hf_semaphore *sem;
    struct hf_semaphore_options so = HF_SEMAPHORE_OPTIONS_INIT;
    ROOM(hf_semaphore_state, state, HF_SEMAPHORE_STATE_INIT);
    so.permits = 3;
    CHECK_OPTIONS(so, hf_semaphore_open(client, "s", &so, &sem, &err));
    CHECK(hf_semaphore_open(client, "s", &so, &sem, &err) == HF_OK);
    CHECK_SHORT(state.s, hf_semaphore_state(sem, &state.s, &err));
    CHECK(hf_semaphore_state(sem, &state.s, &err) == HF_OK);
    CHECK_FILLED(state, taken);
    hf_semaphore_close(sem);
}

static void election_use(void)
{
    hf_election *e;
    struct hf_election_options eo = HF_ELECTION_OPTIONS_INIT;
    struct hf_campaign_options co = HF_CAMPAIGN_OPTIONS_INIT;
    struct hf_await_options ao = HF_AWAIT_OPTIONS_INIT;
    ROOM(hf_leader, leader, HF_LEADER_INIT);
    ROOM(hf_leader, next, HF_LEADER_INIT);
    CHECK_OPTIONS(eo, hf_election_open(client, "l", &eo, &e, &err));
    CHECK(hf_election_open(client, "l", &eo, &e, &err) == HF_OK);
    CHECK_OPTIONS(co, hf_election_campaign(e, &co, NULL, &err));
    CHECK(hf_election_campaign(e, &co, NULL, &err) == HF_OK);
    CHECK_SHORT(leader.s, hf_election_look(e, &leader.s, &err));
    CHECK(hf_election_look(e, &leader.s, &err) == HF_OK);
    CHECK_FILLED(leader, data);
    CHECK(leader.s.is_led && leader.s.is_me);
    CHECK(hf_election_resign(e, &err) == HF_OK);
    CHECK_OPTIONS(ao, hf_election_await(e, &leader.s, &ao, &next.s, &err));
    CHECK(hf_election_await(e, &leader.s, &ao, &next.s, &err) == HF_OK);
    CHECK_FILLED(next, data);
    CHECK(!next.s.is_led);
    hf_leader_free(e, &leader.s);
    hf_leader_free(e, &next.s);
    CHECK(is_whole(leader.guards));
    hf_election_close(e);
}

static void once_use(void)
{
    hf_once *once = NULL;
    struct hf_once_options oo = HF_ONCE_OPTIONS_INIT;
    ROOM(hf_once_result, r, HF_ONCE_RESULT_INIT);
    if (!has(HF_CAP_VALUE)) return;
    CHECK_OPTIONS(oo, hf_once_begin(client, "o", &oo, &once, &r.s, &err));
    CHECK_SHORT(r.s, hf_once_begin(client, "o", &oo, &once, &r.s, &err));
    CHECK(hf_once_begin(client, "o", &oo, &once, &r.s, &err) == HF_OK);
    CHECK_FILLED(r, data);
    CHECK(r.s.outcome == HF_ONCE_MINE);
    CHECK(hf_once_end(once, 0, "done", 4, &err) == HF_OK);
    CHECK(hf_once_look(client, "o", &oo, &r.s, &err) == HF_OK);
    CHECK_FILLED(r, data);
    CHECK(r.s.outcome == HF_ONCE_DONE && !strcmp(r.s.data, "done"));
    hf_once_result_free(client, &r.s);
    CHECK(is_whole(r.guards));
}

static void barrier_use(void)
{
    hf_barrier *b;
    struct hf_wait_options wo = HF_WAIT_OPTIONS_INIT;
    ROOM(hf_passed, passed, HF_PASSED_INIT);
    if (!has(HF_CAP_TALLY)) return;
    CHECK(hf_barrier_open(client, "b", 1, &b, &err) == HF_OK);
    CHECK_OPTIONS(wo, hf_barrier_wait(b, &wo, &passed.s, &err));
    CHECK_SHORT(passed.s, hf_barrier_wait(b, &wo, &passed.s, &err));
    CHECK(hf_barrier_wait(b, &wo, &passed.s, &err) == HF_OK);
    CHECK_FILLED(passed, index);
    hf_barrier_close(b);
}

/* ---- values -------------------------------------------------------------- */

static int next_make(const struct hf_value *now, struct hf_value_next *next,
                     void *user)
{
    (void)user;
    CHECK_SHOWN(now, data);
    CHECK_SHOWN(next, ttl_ms);
    next->data = "on";
    next->len = 2;
    return 0;
}

static void value_use(void)
{
    struct hf_update_options uo = HF_UPDATE_OPTIONS_INIT;
    ROOM(hf_value, value, HF_VALUE_INIT);
    if (!has(HF_CAP_VALUE)) return;
    CHECK_OPTIONS(
        uo, hf_value_update(client, "v", next_make, NULL, &uo, NULL, &err));
    CHECK(hf_value_update(client, "v", next_make, NULL, &uo, NULL, &err)
          == HF_OK);
    CHECK_SHORT(value.s, hf_value_read(client, "v", &value.s, &err));
    CHECK(hf_value_read(client, "v", &value.s, &err) == HF_OK);
    CHECK_FILLED(value, data);
    CHECK(value.s.len == 2 && !memcmp(value.s.data, "on", 2));
    hf_value_free(client, &value.s);
    CHECK(is_whole(value.guards));
}

/* ---- tools --------------------------------------------------------------- */

static void on_member(const struct hf_quorum_node *node, void *user)
{
    CHECK_SHOWN(node, text);
    *(int *)user += node->status == HF_OK;
}

static void quorum_use(void)
{
    static const char url[] = "quorum:memory:q1|memory:q2|memory:q3";
    int members = 0;
    struct hf_quorum_options qo = HF_QUORUM_OPTIONS_INIT;
    CHECK_OPTIONS(qo, hf_quorum_init(url, &qo, on_member, &members, &err));
    CHECK(hf_quorum_init(url, &qo, on_member, &members, &err) == HF_OK);
    CHECK(members == 3);
}

static void probe_use(const char *url)
{
    hf_probe *probe = NULL;
    char engine[32];
    struct hf_probe_options po = HF_PROBE_OPTIONS_INIT;
    CHECK_OPTIONS(po, hf_probe_open(url, &po, &probe, &err));
    CHECK(hf_probe_open(url, &po, &probe, &err) == HF_OK);
    if (!probe) return;
    CHECK(hf_probe_len(probe) == 1 && !hf_probe_node(probe, 1));
    CHECK_SHOWN(hf_probe_node(probe, 0), facts);
    CHECK(hf_probe_fact(hf_probe_node(probe, 0), "engine", engine,
                        sizeof engine));
    hf_probe_close(probe);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    client_use(argv[1]);
    lock_use();
    event_use();
    semaphore_use();
    election_use();
    once_use();
    barrier_use();
    value_use();
    quorum_use();
    probe_use(argv[1]);
    hf_client_close(client);
    return failures != 0;
}
