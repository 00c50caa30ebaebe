/*
 * string_mix.c: thousands of random acquisitions, all the string libraries and
 * us.  One rule: the counter is read and written in two steps, so that only the
 * lock can keep it right (mixer.c, and `mix` of each peer).
 */
#include "library.h"
#include "mixer.h"

#define ROUNDS 400 /* of each thread */
#define PEER_THREADS 2
#define OUR_THREADS 2 /* in the test's process; one more, bare, in another */

static const char *const languages[] = {"go", "redislock", "py", "node"};
#define PEERS_LEN (sizeof languages / sizeof languages[0])

static struct lab_server server;
static struct peer peers[PEERS_LEN];

static void peers_begin(void)
{
    library_serve(&server);
    for (size_t i = 0; i < PEERS_LEN; i++) {
        peers[i].language = languages[i];
        peer_start(&peers[i], &server, 0);
    }
}

TEST(string_mix, a_counter_that_only_the_lock_guards_comes_out_exact)
{
    static struct mixer mixers[OUR_THREADS];
    static struct lab_proc process;
    static struct mixer_process conf;
    static char bare[128];
    peers_begin();
    snprintf(bare, sizeof bare, "%.100s&fence=off", rig_url());
    conf = (struct mixer_process){&server, bare, 3, ROUNDS, 0};
    mixer_process_start(&process, &conf);
    hf_client *c = rig_client(NULL);
    for (size_t i = 0; i < PEERS_LEN; i++)
        peer_say(&peers[i], "mix a %d %d 7", PEER_THREADS, ROUNDS);
    proc_say(&process, "go");
    for (uint32_t i = 0; i < OUR_THREADS; i++)
        mixer_start(&mixers[i], &server, c, i + 1, ROUNDS);
    rig_join();
    for (int i = 0; i < OUR_THREADS; i++) CHECK_STR(mixers[i].wrong, "");
    CHECK(proc_hears(&process, "exact", MIXER_MS));
    for (size_t i = 0; i < PEERS_LEN; i++)
        CHECK_STR(peer_hear(&peers[i], MIXER_MS), "exact");
    CHECK_INT(redis_number(&server, "GET counter"),
              ((int)PEERS_LEN * PEER_THREADS + OUR_THREADS + 1) * ROUNDS);
    CHECK_INT(redis_number(&server, "EXISTS a"), 0);
}
