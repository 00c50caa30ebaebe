/* bell_test.c: it can be polled while it rings, and only then. */
#include "sys/bell.h"

#include <poll.h>

#include "test.h"

static int rings(const struct bell *b)
{
    struct pollfd p = {.fd = b->read_fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

TEST(bell, rings_until_it_is_hushed)
{
    struct bell b;
    CHECK(hf__bell_open(&b) == 0);
    CHECK(!rings(&b));
    for (int i = 0; i < 1000; i++) hf__bell_ring(&b);
    CHECK(rings(&b));
    hf__bell_hush(&b);
    CHECK(!rings(&b));
    hf__bell_ring(&b);
    CHECK(rings(&b));
    hf__bell_close(&b);
}
