/*
 * run_supervise_test.c: when the supervisor of `holdfast run` ends its command,
 * on virtual time.  One rule: KILL has been sent before the lease can end; and
 * as long as time is left, a renewal is tried before TERM.
 *
 * The file under test is part of the command, which is no library: it is
 * included, and what it calls is played here.
 */
#include "run/supervise.c"

#include <unistd.h>

#include "test.h"

#define T0 INT64_C(1000000)
#define LEASE_MS 9000
#define GRACE_MS 3000

/* ---- what it calls ------------------------------------------------------ */

static int64_t valid_at_ms; /* the library says: valid until then */
static int64_t time_ms;
static int term_sent, kill_sent, risk_said;
static _Atomic int64_t guarded_at_ms; /* the guardian kills then */

int hold_state(const struct run *r)
{
    (void)r;
    return valid_at_ms > time_ms ? HF_STATE_HELD : HF_STATE_LOST;
}

int64_t hold_valid_ms(const struct run *r)
{
    (void)r;
    return valid_at_ms - time_ms;
}

void hold_why(const struct run *r, char text[HF_ERROR_TEXT_MAX])
{
    (void)r;
    text[0] = '\0';
}

void ctl_order(const struct run *r, enum ctl_kind kind, int value)
{
    (void)r;
    (void)value;
    term_sent += kind == CTL_TERM_TREE;
    kill_sent += kind == CTL_KILL_TREE;
}

void status_line(const struct run *r, const char *line)
{
    (void)r;
    risk_said += strcmp(line, "at-risk") == 0;
}

void event_held(const struct run *r, int64_t valid_ms)
{
    (void)r;
    (void)valid_ms;
}

void event_number(const struct run *r, const char *event, const char *key,
                  int64_t value)
{
    (void)r;
    (void)event;
    (void)key;
    (void)value;
}

void event_simple(const struct run *r, const char *event)
{
    (void)r;
    (void)event;
}

void hook_start(struct run *r)
{
    (void)r;
}

int hook_is_over(struct run *r)
{
    (void)r;
    return 1;
}

int64_t keep_every_ms(const struct run *r)
{
    return r->lease_ms / 3;
}

void say_warn(const char *format, ...)
{
    (void)format;
}

void say_note(const char *format, ...)
{
    (void)format;
}

void session_warn(const struct session *s, const char *what, const char *text)
{
    (void)s;
    (void)what;
    (void)text;
}

const char *duration_text(int64_t ms, char *out, size_t size)
{
    snprintf(out, size, "%lld", (long long)ms);
    return out;
}

const char *text_escape(const char *text, char *out, size_t size)
{
    snprintf(out, size, "%s", text);
    return out;
}

/* ---- the supervisor's loop ---------------------------------------------- */

static struct run run_begin(enum on_lost on_lost)
{
    static struct options o;
    struct run r = {.o = &o, .on_lost = on_lost};
    r.lease_ms = LEASE_MS;
    r.grace_ms = GRACE_MS;
    r.acquired_at_ms = time_ms = T0;
    r.held.valid_ms = LEASE_MS;
    r.guardian = getpid(); /* it is sent SIGCONT */
    valid_at_ms = T0 + LEASE_MS;
    term_sent = kill_sent = risk_said = 0;
    r.guarded_ms = &guarded_at_ms;
    supervise_prepare(&r);
    supervise_begin(&r, T0);
    return r;
}

/* Sleep as the loop does; `library_ms`: when the library has to do something,
 * from now on; then be held up until `at_ms`, or not at all. */
static void sleep_until(struct run *r, int64_t library_ms, int64_t at_ms)
{
    int64_t timeout_ms = supervise_timeout_ms(r, time_ms);
    if (library_ms < timeout_ms) timeout_ms = library_ms;
    supervise_sleep(r, time_ms, timeout_ms);
    time_ms = at_ms > time_ms + timeout_ms ? at_ms : time_ms + timeout_ms;
    supervise_step(r, time_ms);
}

static void renew(struct run *r)
{
    valid_at_ms = time_ms + LEASE_MS;
    supervise_step(r, time_ms);
}

/* ---- claims ------------------------------------------------------------- */

TEST(run_supervise, a_lock_that_is_not_renewed_ends_the_command_in_time)
{
    struct run r = run_begin(ON_LOST_TERM);
    while (!term_sent) sleep_until(&r, 500, 0);
    CHECK_INT(time_ms, T0 + LEASE_MS - GRACE_MS);
    while (!kill_sent) sleep_until(&r, 500, 0);
    CHECK_INT(time_ms, T0 + LEASE_MS - r.margin_ms);
}

TEST(run_supervise, after_a_pause_a_renewal_is_tried_before_term)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + 6500);
    CHECK_INT(term_sent + kill_sent + risk_said, 0);
    CHECK(supervise_timeout_ms(&r, time_ms) > 0); /* and it does not spin */
    time_ms += 40;
    renew(&r);
    CHECK_INT(term_sent + kill_sent, 0);
    CHECK(ending_begins_ms(&r) == time_ms + LEASE_MS - GRACE_MS);
}

TEST(run_supervise, after_a_pause_that_ends_before_term_the_round_trip_is_left)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + LEASE_MS - GRACE_MS - 10);
    sleep_until(&r, 20, 0);
    sleep_until(&r, 20, 0);
    CHECK_INT(term_sent, 0);
    renew(&r);
    CHECK_INT(term_sent, 0);
}

TEST(run_supervise, after_a_pause_with_no_answer_term_comes_and_kill_in_time)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + 6500);
    while (!term_sent) sleep_until(&r, 5000, 0);
    CHECK_INT(time_ms, T0 + 6500 + TRY_MS);
    CHECK_INT(risk_said, 1);
    while (!kill_sent) sleep_until(&r, 5000, 0);
    CHECK_INT(time_ms, T0 + LEASE_MS - r.margin_ms);
}

TEST(run_supervise, half_of_the_time_that_is_left_is_the_commands)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + LEASE_MS - r.margin_ms - 100);
    CHECK_INT(term_sent + kill_sent, 0);
    while (!term_sent) sleep_until(&r, 5000, 0);
    CHECK_INT(time_ms, T0 + LEASE_MS - r.margin_ms - 50);
}

TEST(run_supervise, after_a_pause_that_leaves_no_time_it_is_killed_at_once)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + LEASE_MS - r.margin_ms);
    CHECK_INT(kill_sent, 1);
    r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + LEASE_MS + 1);
    CHECK_INT(kill_sent, 1);
}

TEST(run_supervise, one_pause_after_the_other_does_not_put_term_off_for_ever)
{
    struct run r = run_begin(ON_LOST_TERM);
    sleep_until(&r, 3000, T0 + 6200);
    for (int i = 0; i < 3; i++) sleep_until(&r, 5, time_ms + 400);
    CHECK_INT(term_sent, 1);
    CHECK_INT(kill_sent, 0);
}

TEST(run_supervise, renewals_in_small_steps_are_told_to_the_guardian)
{
    struct run r = run_begin(ON_LOST_TERM);
    for (int i = 0; i < 2 * LEASE_MS / 15; i++) {
        sleep_until(&r, 15, 0);
        renew(&r);
        CHECK(guarded_at_ms > time_ms + LEASE_MS - r.margin_ms - 100);
    }
    CHECK_INT(term_sent + kill_sent, 0);
}

TEST(run_supervise, a_late_look_does_not_change_when_kill_comes)
{
    struct run r = run_begin(ON_LOST_KILL);
    sleep_until(&r, 3000, T0 + 8000);
    CHECK_INT(kill_sent, 0);
    while (!kill_sent) sleep_until(&r, 5000, 0);
    CHECK_INT(time_ms, T0 + LEASE_MS - r.margin_ms);
}
