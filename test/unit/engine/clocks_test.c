/*
 * clocks_test.c: what the replies of a quorum's node tell of its clock.  One
 * rule: a step forward is seen in the first reply that can show it, and slow
 * replies or a thread that was held up are no step.
 */
#include <string.h>

#include "engine/clocks.h"
#include "engine/engine.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "engine/voter.h"
#include "test.h"

#define MS US_PER_MS
#define NODE_US INT64_C(1700000000000000)

static struct engine e;
static int64_t late_us; /* what the clock says when it is read again */

static int64_t clock_read(void)
{
    return late_us;
}

/* A node that may vote, of three, heard at 1000 ms of our time. */
static struct node *rig_begin_clock(void)
{
    memset(&e, 0, sizeof e);
    e.conf.nodes = 3;
    e.conf.quorum = 2;
    e.conf.drift_ppm = DRIFT_PPM_DEFAULT;
    e.nodes[0].engine = &e;
    e.nodes[0].stand = STAND_SETTLED;
    return &e.nodes[0];
}

/* A reply to what was sent at `sent_ms`, heard at `heard_ms`, that shows the
 * node's clock at `node_ms` after the start. */
static void hear(struct node *n, int64_t sent_ms, int64_t heard_ms,
                 int64_t node_ms)
{
    struct request r = {.verb = VERB_PROPOSE, .sent_us = sent_ms * MS};
    struct reply rep = {.verdict = V_GRANTED,
                        .node_us = NODE_US + node_ms * MS};
    e.now_us = heard_ms * MS;
    hf__clocks_heard(&e, n, &r, &rep);
}

TEST(clocks, step_forward_takes_the_vote_with_the_first_reply)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    CHECK(n->stand == STAND_SETTLED);
    hear(n, 2000, 2001, 2800);
    CHECK_INT(n->suspect, 1);
    CHECK(n->stand == STAND_UNKNOWN);
    CHECK_INT(e.conf.unsettled & 1, 1);
}

TEST(clocks, slow_reply_is_no_step)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    hear(n, 2000, 4000, 2999);
    CHECK_INT(n->suspect, 0);
    CHECK(n->stand == STAND_SETTLED);
}

/* The engine's time is that of its step; the thread slept before it read what
 * had come meanwhile. */
TEST(clocks, thread_that_was_held_up_takes_no_vote)
{
    struct node *n = rig_begin_clock();
    e.clock = clock_read;
    hear(n, 1000, 1001, 0);
    late_us = 3500 * MS;
    hear(n, 2000, 2001, 2400);
    CHECK_INT(n->suspect, 0);
    CHECK(n->stand == STAND_SETTLED);
}

static int lines;

static void log_count(struct engine *of, int level, const char *line)
{
    (void)of;
    (void)level;
    (void)line;
    lines++;
}

/* The same with the reply before: the node had read its clock late. */
TEST(clocks, thread_that_was_held_up_makes_no_step_back)
{
    struct node *n = rig_begin_clock();
    lines = 0;
    e.log = log_count;
    e.clock = clock_read;
    late_us = 1500 * MS;
    hear(n, 1000, 1001, 400);
    late_us = 1503 * MS;
    hear(n, 1502, 1503, 410);
    CHECK_INT(lines, 0);
    late_us = 1603 * MS;
    hear(n, 1602, 1603, 310);
    CHECK_INT(lines, 1);
}

TEST(clocks, step_is_seen_by_the_clock_that_was_read_again_too)
{
    struct node *n = rig_begin_clock();
    e.clock = clock_read;
    hear(n, 1000, 1001, 0);
    late_us = 2002 * MS;
    hear(n, 2000, 2001, 2800);
    CHECK_INT(n->suspect, 1);
}

/* The reply took long enough that the clock may be right or wrong. */
TEST(clocks, slow_reply_does_not_clear_a_suspect)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    hear(n, 2000, 2001, 1100); /* 100 ms ahead */
    hear(n, 2002, 2302, 1103);
    CHECK_INT(n->suspect, 2);
    CHECK(n->stand == STAND_UNKNOWN);
}

TEST(clocks, reply_that_contradicts_clears_a_suspect)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    hear(n, 2000, 2001, 1100);
    hear(n, 2002, 2003, 1003);
    CHECK_INT(n->suspect, 0);
    CHECK_INT(n->boot_flags & REQ_BOOT_LOOK, 0);
}

TEST(clocks, five_replies_make_it_certain)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    for (int i = 0; i < 5; i++) {
        CHECK(!(n->boot_flags & REQ_BOOT_STEP));
        hear(n, 2000 + 2 * i, 2001 + 2 * i, 2800 + 2 * i);
    }
    CHECK(n->boot_flags & REQ_BOOT_STEP);
    CHECK_INT(n->suspect, 0);
}

/* A new connection does not clear the suspicion. */
TEST(clocks, suspect_stays_one_when_its_connection_is_lost)
{
    struct node *n = rig_begin_clock();
    hear(n, 1000, 1001, 0);
    hear(n, 2000, 2001, 2800);
    hf__voter_link(&e, n, LINK_IS_DOWN);
    CHECK_INT(n->suspect, 1);
}

/* A hold of this host, as if its only node, which is no member, granted it. */
static struct seat *host_hold(struct host *host)
{
    e.alloc = &hf__alloc_default;
    e.host = host;
    host->conf.nodes = host->conf.quorum = 1;
    CHECK_INT(hf__engine_open(&e, US_PER_S), HF_OK);
    struct lock_entry *entry = hf__entry_get(&e, KIND_PLAIN, "n", 1);
    struct lock_entry *there = entry ? hf__entry_get_host(&e, entry) : NULL;
    struct seat *s = there ? hf__seat_new(&e, there, 1) : NULL;
    if (!s) return NULL;
    s->hold.state = HOLD_HELD;
    s->hold.count = 1;
    s->hold.granted = s->hold.confirmed = s->hold.backing = 1;
    s->hold.valid_us = s->hold.cap_us = s->hold.renew_at_us = TIME_NEVER;
    return s;
}

TEST(clocks, step_of_a_member_leaves_the_hold_of_this_host_alone)
{
    struct host host = {.caps = 0};
    struct node *n = rig_begin_clock();
    struct seat *s = host_hold(&host);
    CHECK(s != NULL);
    if (!s) return;
    hear(n, 1000, 1001, 0);
    for (int i = 0; i < 5; i++)
        hear(n, 2000 + 2 * i, 2001 + 2 * i, 2800 + 2 * i);
    CHECK(n->boot_flags & REQ_BOOT_STEP);
    CHECK(!s->hold.shaken);
    CHECK_INT(s->notices, 0);
    hf__engine_close(&e);
}
