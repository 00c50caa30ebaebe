/*
 * etcd_proof_test.c: which keep-alives count.  One rule: one that no majority
 * has backed since, in the same term and on the same connection, does not.
 */
#include <string.h>

#include "backend/etcd/etcd.h"
#include "test.h"

#define SECOND 1000000

static struct backend_conn conn;
static struct lease lease;

/* A lease of 10 s and 2 s of slack, confirmed at second 100; a keep-alive that
 * was sent at second 105 is answered in term 7, as number 50. */
static void begin(void)
{
    memset(&conn, 0, sizeof conn);
    lease = (struct lease){.state = LEASE_ALIVE,
                           .seconds = 10,
                           .ttl_us = 12 * SECOND,
                           .slack_us = 2 * SECOND,
                           .confirmed_us = 100 * SECOND,
                           .heard_us = 105 * SECOND,
                           .heard_seq = 50,
                           .heard_term = 7,
                           .heard_life = 3};
    conn.link.life = 3;
    conn.leases.first = &lease;
}

static int counts(uint64_t seq, uint64_t term)
{
    Pb__Header header = PB__HEADER__INIT;
    header.raft_term = term;
    hf__etcd_leases_proved(&conn, seq, &header);
    return hf__etcd_lease_covers(&lease, 105 * SECOND);
}

TEST(etcd_proof, is_an_answer_to_what_was_sent_later_in_the_same_term)
{
    begin();
    CHECK(!hf__etcd_lease_covers(&lease, 105 * SECOND));
    CHECK(hf__etcd_lease_may_cover(&conn, &lease, 105 * SECOND));
    CHECK(counts(51, 7));
}

/* It may have been carried out before the keep-alive was. */
TEST(etcd_proof, is_not_an_answer_to_what_was_sent_before)
{
    begin();
    CHECK(!counts(49, 7));
}

/* There is another leader, which may know nothing of it. */
TEST(etcd_proof, is_not_an_answer_of_another_term)
{
    begin();
    CHECK(!counts(51, 8));
}

TEST(etcd_proof, is_not_an_answer_on_another_connection)
{
    begin();
    conn.link.life = 4;
    CHECK(!counts(51, 7));
    CHECK(!hf__etcd_lease_may_cover(&conn, &lease, 105 * SECOND));
}

/* Half of the slack is for clocks that differ. */
TEST(etcd_proof, covers_what_was_sent_within_half_of_the_slack)
{
    begin();
    CHECK(hf__etcd_lease_covers(&lease, 101 * SECOND));
    CHECK(!hf__etcd_lease_covers(&lease, 101 * SECOND + 1));
}
