/*
 * rw_order_contract.c: read/write locks whose waiters queue in the store.  One
 * rule: a waiter is known to queue (the store says so) before the next one
 * comes, so that their order is the test's.
 */
#include <string.h>

#include "lib/rig_rw.h"

static struct rw a, b;

static int begin(int order)
{
    if (!rig_begin_with(HF_CAP_RW | HF_CAP_QUEUE)) return 0;
    rw_open(&a, rig_client(NULL), "a", order);
    rw_open(&b, rig_client(NULL), "a", order);
    return 1;
}

/* Let them go as they come, and wait for the end of all. */
static void serve(struct rw_actor *actors, int len)
{
    for (int i = 0; i < len; i++) {
        CHECK(rw_actor_until_in(&actors[i]));
        rw_actor_go(&actors[i]);
    }
    rig_join();
    for (int i = 0; i < len; i++) CHECK_INT(actors[i].released, HF_OK);
}

TEST(rw_order, fair_writers_come_in_as_they_came)
{
    static struct rw_actor w[4];
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    for (int i = 0; i < 4; i++)
        rw_actor_queue(&w[i], i % 2 ? a.write : b.write, i + 1);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    serve(w, 4);
    for (int i = 1; i < 4; i++) CHECK_INT(w[i].order, w[0].order + i);
}

TEST(rw_order, a_fair_reader_waits_for_the_writer_before_him)
{
    static struct rw_actor q[2];
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    rw_actor_queue(&q[0], b.write, 1);
    rw_actor_queue(&q[1], b.read, 2);
    CHECK_INT(rig_probe(a.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    serve(q, 2);
    CHECK(q[0].order < q[1].order);
}

TEST(rw_order, a_fair_writer_waits_for_the_readers_before_him)
{
    static struct rw_actor q[3];
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    rw_actor_queue(&q[0], b.read, 1);
    rw_actor_queue(&q[1], a.read, 2);
    rw_actor_queue(&q[2], b.write, 3);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK(rw_actor_until_in(&q[0]) && rw_actor_until_in(&q[1]));
    CHECK_INT(atomic_load(&q[2].is_in), 0);
    serve(q, 3);
}

TEST(rw_order, with_writers_first_a_late_writer_comes_before_readers)
{
    static struct rw_actor reader, writer;
    if (!begin(HF_ORDER_WRITERS)) return;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    rw_actor_queue(&writer, b.write, 1);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    rw_actor_start(&reader, b.read, RIG_WAIT_MS);
    rig_pause_ms(200);
    CHECK_INT(atomic_load(&reader.is_in), 0);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK(rw_actor_until_in(&writer));
    CHECK_INT(atomic_load(&reader.is_in), 0);
    rw_actor_go(&writer);
    CHECK(rw_actor_until_in(&reader));
    rw_actor_go(&reader);
    rig_join();
}

TEST(rw_order, who_came_in_no_order_stays_behind_the_queue)
{
    static struct rw_actor writer;
    if (!begin(HF_ORDER_FAIR)) return;
    struct rw any;
    rw_open(&any, rig_client(NULL), "a", HF_ORDER_ANY);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    rw_actor_queue(&writer, b.write, 1);
    CHECK_INT(rig_probe(any.read), HF_TAKEN);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    CHECK(rw_actor_until_in(&writer));
    rw_actor_go(&writer);
    rig_join();
    CHECK_INT(rig_probe(any.read), HF_OK);
}

TEST(rw_order, a_writer_who_gives_up_lets_the_readers_behind_him_in)
{
    static struct rw_actor writer, reader;
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    rw_actor_start(&writer, b.write, 2000);
    rig_pause_ms(300);
    rw_actor_start(&reader, b.read, RIG_WAIT_MS);
    rig_pause_ms(100);
    CHECK(rw_actor_until_in(&reader));
    rw_actor_go(&reader);
    rig_join();
    CHECK_INT(writer.status, HF_TIMEOUT);
    CHECK_INT(reader.released, HF_OK);
}

static int is_unqueued(void *arg)
{
    struct hf_info info = HF_INFO_INIT;
    return hf_lock_inspect(arg, &info, NULL) == HF_OK && info.queued == 0;
}

/* The end of a wait does not wait for the store's answer. */
TEST(rw_order, a_queue_that_was_left_is_empty)
{
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_acquire(b.write, 0, 1000, NULL), HF_TIMEOUT);
    CHECK_INT(rig_acquire(b.read, 0, 1000, NULL), HF_TIMEOUT);
    CHECK(rig_until(is_unqueued, a.write));
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK(rig_until_free(b.write));
}

TEST(rw_order, a_try_keeps_no_place)
{
    struct hf_info info = HF_INFO_INIT;
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(b.write), HF_TAKEN);
    CHECK_INT(rig_probe(b.read), HF_TAKEN);
    CHECK_INT(hf_lock_inspect(a.write, &info, NULL), HF_OK);
    CHECK_INT(info.queued, 0);
}

TEST(rw_order, inspect_tells_the_place_of_who_asks)
{
    static struct rw_actor q[3];
    struct hf_info info = HF_INFO_INIT;
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    rw_actor_queue(&q[0], b.read, 1);
    rw_actor_queue(&q[1], b.write, 2);
    rw_actor_queue(&q[2], b.read, 3);
    for (int i = 0; i < 3; i++) {
        hf_lock *side = i == 1 ? b.write : b.read;
        CHECK_INT(rig_inspect_as(side, q[i].holder, &info), HF_OK);
        CHECK_INT(info.queued, 3);
        CHECK_INT(info.position, i + 1);
    }
    CHECK_INT(hf_lock_inspect(a.write, &info, NULL), HF_OK);
    CHECK_INT(info.position, 0);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    serve(q, 3);
}

TEST(rw_order, who_writes_reads_without_queueing)
{
    static struct rw_actor writer;
    if (!begin(HF_ORDER_FAIR)) return;
    CHECK_INT(hf_lock_try(a.write, NULL, NULL), HF_OK);
    rw_actor_queue(&writer, b.write, 1);
    CHECK_INT(hf_lock_acquire(a.read, NULL, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    serve(&writer, 1);
}

TEST(rw_order, an_upgrade_waits_for_no_queue)
{
    static struct rw_actor writer;
    if (!begin(HF_ORDER_FAIR)) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 0, HF_ACQUIRE_UPGRADE);
    CHECK_INT(hf_lock_try(a.read, NULL, NULL), HF_OK);
    rw_actor_queue(&writer, b.write, 1);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    CHECK_INT(hf_lock_release(a.read, NULL, NULL), HF_OK);
    serve(&writer, 1);
}

/* A store whose waiters must ask again to keep their places is asked. */
TEST(rw_order, a_long_wait_keeps_its_place)
{
    static struct rw_actor q[2];
    struct hf_info info = HF_INFO_INIT;
    if (!begin(HF_ORDER_FAIR)) return;
    struct hf_acquire_options o = rig_options(RIG_TRY, 60000, HF_ACQUIRE_FIXED);
    CHECK_INT(hf_lock_acquire(a.write, &o, NULL, NULL), HF_OK);
    rw_actor_queue(&q[0], b.write, 1);
    rw_actor_queue(&q[1], b.read, 2);
    rig_pause_ms(4500);
    CHECK_INT(rig_inspect_as(b.write, q[0].holder, &info), HF_OK);
    CHECK_INT(info.position, 1);
    CHECK_INT(hf_lock_release(a.write, NULL, NULL), HF_OK);
    serve(q, 2);
    CHECK(q[0].order < q[1].order);
}

TEST(rw_order, stores_without_a_queue_say_so)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    hf_lock *lock = NULL;
    if (!rig_begin_with(HF_CAP_RW)) return;
    hf_client *c = rig_client(NULL);
    if (rig_has(HF_CAP_QUEUE)) return;
    o.kind = HF_KIND_WRITE;
    o.order = HF_ORDER_FAIR;
    CHECK_INT(hf_lock_open_as(c, "a", &o, &lock, &err), HF_UNSUPPORTED);
    CHECK(strstr(err.text, "keeps no queue") != NULL);
}
