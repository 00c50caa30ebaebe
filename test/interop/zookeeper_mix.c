/*
 * zookeeper_mix.c: hundreds of acquisitions by Curator, go-zookeeper and us at
 * once.  One rule: only the lock keeps the counter right (turns.h).
 */
#include "turns.h"
#include "zookeeper_beside.h"

#define ROUNDS 150 /* of each thread */
#define THREADS 2  /* of each program */

static struct zookeeper_beside beside;
static struct peer java, go;

TEST(zookeeper_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct turns ours[THREADS];
    static struct turns_process conf;
    static struct lab_proc process;
    zookeeper_beside_serve(&beside, "session=4m");
    turns_files(beside.server.dir);
    zookeeper_beside_start(&beside, &java, "curator");
    zookeeper_beside_start(&beside, &go, "gozk");
    conf = (struct turns_process){rig_url(), ROUNDS, 0};
    turns_process_start(&process, &conf);
    hf_client *c = rig_client(NULL);
    peer_say(&java, "mix a %d %d 7 %s", THREADS, ROUNDS, turns_counter);
    peer_say(&go, "mix a %d %d 7 %s", THREADS, ROUNDS, turns_counter);
    proc_say(&process, "go");
    for (int i = 0; i < THREADS; i++) turns_start(&ours[i], c, ROUNDS);
    rig_join();
    for (int i = 0; i < THREADS; i++) CHECK_STR(ours[i].wrong, "");
    CHECK(proc_hears(&process, "exact", TURNS_MS));
    CHECK_STR(peer_hear(&java, TURNS_MS), "exact");
    CHECK_STR(peer_hear(&go, TURNS_MS), "exact");
    CHECK_INT(turns_counted(), (3 * THREADS + 1) * ROUNDS);
}
