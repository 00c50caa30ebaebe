/*
 * redisson_mix.c: thousands of random acquisitions, Java and us.  One rule: the
 * counter is read and written in two steps, so that only the lock can keep it
 * right (mixer.c, Mix.java).
 */
#include "mixer.h"

#define ROUNDS 800 /* of each thread */
#define JAVA_THREADS 2
#define OUR_THREADS 2 /* in the test's process; one more in another */

static struct lab_server server;
static struct peer java;

TEST(redisson_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct mixer mixers[OUR_THREADS];
    static struct lab_proc process;
    static struct mixer_process conf;
    peer_begin(&java, &server, 30000);
    conf = (struct mixer_process){&server, rig_url(), 3, ROUNDS, 1};
    mixer_process_start(&process, &conf);
    hf_client *c = rig_client(NULL);
    peer_say(&java, "mix a %d %d 7", JAVA_THREADS, ROUNDS);
    proc_say(&process, "go");
    for (uint32_t i = 0; i < OUR_THREADS; i++)
        mixer_start(&mixers[i], &server, c, i + 1, ROUNDS);
    rig_join();
    for (int i = 0; i < OUR_THREADS; i++) CHECK_STR(mixers[i].wrong, "");
    CHECK(proc_hears(&process, "exact", MIXER_MS));
    CHECK_STR(peer_hear(&java, MIXER_MS), "exact");
    CHECK_INT(redis_number(&server, "GET counter"),
              (JAVA_THREADS + OUR_THREADS + 1) * ROUNDS);
    CHECK_INT(redis_number(&server, "EXISTS a"), 0);
}
