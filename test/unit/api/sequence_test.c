/*
 * sequence_test.c: runs of steps, driven by a caller that waits and by
 * callbacks.  One rule: the same steps come to the same end in both forms.
 */
#include "api/client/sequence.h"

#include <string.h>

#include "lib/rig_started.h"

#define OPS 5

/* A sequence whose steps are some operations each, on one or two clients. */
struct naps {
    struct sequence seq; /* first */
    struct op ops[OPS];
    hf_client *clients[2];
    int len;           /* operations in each step */
    int64_t us;        /* of each */
    int steps;         /* still to take */
    int ended[20];     /* operations by their status, negated */
    atomic_int inside; /* a step; to be 1 at most */
    int is_shared;     /* two were inside at once */
    atomic_int calls;  /* of over() */
};

static void naps_step(struct sequence *s)
{
    struct naps *n = (struct naps *)s;
    int is_closed = 0;
    if (atomic_fetch_add(&n->inside, 1) != 0) n->is_shared = 1;
    for (int i = 0; n->ops[0].wait_us && i < n->len; i++) {
        n->ended[-n->ops[i].status]++;
        is_closed |= n->ops[i].status == HF_CLOSED;
    }
    if (is_closed)
        hf__sequence_fail(s, HF_CLOSED, "%s", hf_status_text(HF_CLOSED));
    else if (n->steps-- > 0)
        for (int i = 0; i < n->len; i++)
            hf__sequence_nap(s, n->clients[i % 2], &n->ops[i], n->us, NULL);
    else
        n->steps = 0;
    atomic_fetch_sub(&n->inside, 1);
}

static void naps_over(struct sequence *s)
{
    atomic_fetch_add(&((struct naps *)s)->calls, 1);
}

static struct naps *naps_new(hf_client *c, hf_client *d, int steps, int64_t us)
{
    static struct naps pool[8];
    static int used;
    struct naps *n = &pool[used++ % 8];
    memset(n, 0, sizeof *n);
    n->seq.step = naps_step;
    n->seq.over = naps_over;
    n->clients[0] = c;
    n->clients[1] = d;
    n->len = OPS;
    n->steps = steps;
    n->us = us;
    return n;
}

TEST(sequence, is_run_to_its_end_by_the_caller)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    struct naps *n = naps_new(c, d, 4, 1000);
    CHECK_INT(hf__sequence_run(&n->seq, NULL), HF_OK);
    CHECK_INT(n->ended[-HF_TIMEOUT], 4 * OPS);
    CHECK_INT(atomic_load(&n->calls), 0); /* that is for callbacks */
}

TEST(sequence, takes_one_step_at_a_time_behind_operations_of_two_clients)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL), *d = rig_client(NULL);
    struct naps *n = naps_new(c, d, 50, 1);
    CHECK_INT(hf__sequence_start(&n->seq, c, NULL), HF_OK);
    CHECK(rig_until_equal(&n->calls, 1));
    CHECK_INT(n->seq.status, HF_OK);
    CHECK_INT(n->ended[-HF_TIMEOUT], 50 * OPS);
    CHECK_INT(n->is_shared, 0);
}

TEST(sequence, is_driven_by_a_loop_of_the_programs_own)
{
    rig_begin_on("memory:");
    hf_client *c = rig_client_in(RIG_OWN_LOOP);
    struct naps *n = naps_new(c, c, 4, 1000);
    CHECK_INT(hf__sequence_start(&n->seq, c, NULL), HF_OK);
    CHECK_INT(atomic_load(&n->calls), 0);
    CHECK_INT(n->steps, 3);
    CHECK(rig_until_told(c, &n->calls, 1));
    CHECK_INT(n->ended[-HF_TIMEOUT], 4 * OPS);
}

/* A call that needs no answer has no callback that could tell its end. */
TEST(sequence, that_asks_for_nothing_at_first_is_not_started)
{
    struct hf_error err = {0};
    rig_begin_on("memory:");
    hf_client *c = rig_client(NULL);
    struct naps *n = naps_new(c, c, 1, 1);
    n->ops[0].wait_us = 1; /* as if it were the second step */
    n->ops[0].status = HF_CLOSED;
    CHECK_INT(hf__sequence_start(&n->seq, c, &err), HF_CLOSED);
    CHECK_INT(err.status, HF_CLOSED);
    CHECK_INT(atomic_load(&n->calls), 0);
}

TEST(sequence, ends_when_its_client_is_closed)
{
    rig_begin_on("memory:");
    for (int mode = 0; mode < RIG_MODES; mode++) {
        hf_client *c = rig_client_in((enum rig_mode)mode);
        struct naps *n = naps_new(c, c, 100, 60 * US_PER_S);
        CHECK_INT(hf__sequence_start(&n->seq, c, NULL), HF_OK);
        rig_close(c);
        CHECK_INT(atomic_load(&n->calls), 1);
        CHECK_INT(n->seq.status, HF_CLOSED);
        CHECK_INT(n->ended[-HF_CLOSED], OPS);
    }
}

TEST(sequence, ends_once_whenever_its_client_is_closed)
{
    rig_begin_on("memory:");
    for (int i = 0; i < 50; i++) {
        hf_client *c = rig_client(NULL);
        struct naps *n = naps_new(c, c, 1000000, 1);
        CHECK_INT(hf__sequence_start(&n->seq, c, NULL), HF_OK);
        if (i % 2) rig_pause_ms(i / 10);
        rig_close(c);
        CHECK_INT(atomic_load(&n->calls), 1);
        CHECK_INT(n->seq.status, HF_CLOSED);
    }
}
