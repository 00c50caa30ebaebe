/* spin_test.c: the faster way is found, kept, and found anew. */
#include "engine/spin.h"

#include <unistd.h>

#include "test.h"

/* How many of `n` waits spin, if a wait takes `spin_us` when it spins and
 * `sleep_us` when it sleeps. */
static int spins_of(struct spin *s, int n, int64_t spin_us, int64_t sleep_us)
{
    int spins = 0;
    for (int i = 0; i < n; i++) {
        int now = hf__spin_begin(s);
        spins += now;
        hf__spin_end(s, now ? spin_us : sleep_us);
    }
    return spins;
}

static int has_cores(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN) > 1;
}

TEST(spin, never_without_a_limit_or_a_second_core)
{
    struct spin s;
    hf__spin_init(&s, 0);
    CHECK_INT(spins_of(&s, 10000, 1, 100), 0);
    hf__spin_init(&s, -1);
    CHECK_INT(spins_of(&s, 10000, 1, 100), 0);
}

TEST(spin, is_kept_where_it_is_faster)
{
    struct spin s;
    hf__spin_init(&s, 50);
    int spins = spins_of(&s, 10000, 20, 50);
    CHECK(has_cores() ? spins > 9000 : spins == 0);
}

TEST(spin, is_rare_where_it_is_slower_or_just_the_same)
{
    struct spin s;
    hf__spin_init(&s, 50);
    CHECK(spins_of(&s, 10000, 50, 20) < 500);
    hf__spin_init(&s, 50);
    CHECK(spins_of(&s, 10000, 20, 20) < 500);
}

TEST(spin, follows_the_machine_when_it_changes)
{
    struct spin s;
    hf__spin_init(&s, 50);
    spins_of(&s, 10000, 50, 20);
    int spins = spins_of(&s, 20000, 20, 50);
    CHECK(has_cores() ? spins > 10000 : spins == 0);
}

TEST(spin, one_long_wait_does_not_decide)
{
    struct spin s;
    hf__spin_init(&s, 50);
    hf__spin_end(&s, 1000000);
    int spins = spins_of(&s, 3000, 10, 200);
    CHECK(has_cores() ? spins > 2000 : spins == 0);
}
