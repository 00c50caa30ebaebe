/*
 * etcd_mix.c: hundreds of acquisitions by Go, etcdctl and us at once.  One
 * rule: only the lock keeps the counter right (turns.h).
 */
#include "etcd_beside.h"
#include "turns.h"

#define ROUNDS 150 /* of each thread */
#define GO_THREADS 2
#define CTL_THREADS 1
#define CTL_ROUNDS 25 /* each starts a program */
#define OUR_THREADS 2 /* in the test's process; one more in another */

static struct lab_etcd server;
static struct peer go, ctl;

TEST(etcd_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct turns ours[OUR_THREADS];
    static struct turns_process conf;
    static struct lab_proc process;
    etcd_beside_serve(&server);
    turns_files(server.dir);
    etcd_beside_start(&go, &server, "etcd-go");
    etcd_beside_start(&ctl, &server, "etcdctl");
    conf = (struct turns_process){rig_url(), ROUNDS, 0};
    turns_process_start(&process, &conf);
    hf_client *c = rig_client(NULL);
    peer_say(&go, "mix a %d %d 7 %s", GO_THREADS, ROUNDS, turns_counter);
    peer_say(&ctl, "mix a %d %d 7 %s", CTL_THREADS, CTL_ROUNDS, turns_counter);
    proc_say(&process, "go");
    for (int i = 0; i < OUR_THREADS; i++) turns_start(&ours[i], c, ROUNDS);
    rig_join();
    for (int i = 0; i < OUR_THREADS; i++) CHECK_STR(ours[i].wrong, "");
    CHECK(proc_hears(&process, "exact", TURNS_MS));
    CHECK_STR(peer_hear(&go, TURNS_MS), "exact");
    CHECK_STR(peer_hear(&ctl, TURNS_MS), "exact");
    CHECK_INT(turns_counted(), (GO_THREADS + OUR_THREADS + 1) * ROUNDS
                                   + CTL_THREADS * CTL_ROUNDS);
}
