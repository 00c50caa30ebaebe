/*
 * crowd.c: see crowd.h.
 */
#include "lib/crowd.h"

struct member {
    struct crowd *crowd;
    int index;
};

static void round_run(struct crowd *c, hf_lock *l)
{
    if (hf_lock_acquire(l, &c->how, NULL, NULL) != HF_OK) {
        atomic_fetch_add(&c->errors, 1);
        return;
    }
    if (atomic_fetch_add(&c->inside, 1) != 0) atomic_fetch_add(&c->overlap, 1);
    rig_pause_ms(c->hold_ms);
    atomic_fetch_sub(&c->inside, 1);
    if (hf_lock_release(l, NULL, NULL) == HF_OK)
        atomic_fetch_add(&c->grants, 1);
    else
        atomic_fetch_add(&c->errors, 1);
}

static void member_run(void *arg)
{
    struct member *m = arg;
    for (int i = 0; i < m->crowd->rounds; i++) {
        round_run(m->crowd, m->crowd->locks[m->index]);
        atomic_fetch_add(&m->crowd->done[m->index], 1);
    }
}

void crowd_start(struct crowd *c)
{
    static struct member members[CROWD_MAX];
    CHECK(c->members <= CROWD_MAX);
    atomic_store(&c->grants, 0);
    atomic_store(&c->errors, 0);
    atomic_store(&c->inside, 0);
    atomic_store(&c->overlap, 0);
    for (int i = 0; i < c->members; i++) {
        atomic_store(&c->done[i], 0);
        members[i] = (struct member){c, i};
        rig_spawn(member_run, &members[i]);
    }
}

int crowd_is_over(struct crowd *c)
{
    return atomic_load(&c->grants) + atomic_load(&c->errors)
           == c->members * c->rounds;
}

void crowd_finish(struct crowd *c)
{
    rig_join();
    CHECK_INT(atomic_load(&c->errors), 0);
    CHECK_INT(atomic_load(&c->overlap), 0);
    CHECK_INT(atomic_load(&c->grants), c->members * c->rounds);
}

void crowd_run(struct crowd *c)
{
    crowd_start(c);
    crowd_finish(c);
}
