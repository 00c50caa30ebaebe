/* ballot_test.c: the numbers a client proposes. */
#include "core/ballot.h"
#include "test.h"

TEST(ballot, follows_the_nodes_clock)
{
    struct ballot b = {0, 0};
    CHECK_INT(hf__ballot_next(&b, 1000), 1000);
}

TEST(ballot, is_never_proposed_twice)
{
    struct ballot b = {0, 0};
    int64_t last = 0;
    for (int i = 0; i < 100; i++) {
        int64_t next = hf__ballot_next(&b, 1000 + i / 10);
        CHECK(next > last);
        last = next;
    }
}

TEST(ballot, goes_above_what_a_node_has_seen)
{
    struct ballot b = {0, 0};
    hf__ballot_saw(&b, 5000);
    hf__ballot_saw(&b, 20);
    CHECK_INT(hf__ballot_next(&b, 1000), 5001);
}

TEST(ballot, does_not_fall_when_the_clock_does)
{
    struct ballot b = {0, 0};
    CHECK_INT(hf__ballot_next(&b, 9000), 9000);
    CHECK_INT(hf__ballot_next(&b, 10), 9001);
}
