/*
 * raw.c: the references, as a runner: what the machine, the server and hiredis
 * allow when nothing but the lock's own commands is done.
 *
 *   raw         blocking, one connection per thread; mode=hold: pipelined
 *   raw-hold    the same as peer=raw mode=hold
 *   raw-pipe64  one thread, 64 locks per flush
 *   raw-blpop   a token passed on by the server
 *   raw-tls     the same as raw, over TLS
 *   flock       flock(2) on an open file
 */
#include <string.h>

#include "lib/raw_redis.h"
#include "lib/tool.h"

static const struct lock_peer *const lock_peers[] = {
    &raw_peer,
    &raw_blpop_peer,
    &raw_flock_peer,
#if HF_WITH_TLS
    &raw_tls_peer,
#endif
};

int main(int argc, char **argv)
{
    struct options o;

    options_parse(&o, argc, argv);
    int hold = strcmp(o.mode, "hold") == 0;
    if (strcmp(o.peer, "raw-hold") == 0
        || (hold && strcmp(o.peer, "raw") == 0)) {
        raw_hold_run(&o);
        return 0;
    }
    if (strcmp(o.peer, "raw-pipe64") == 0 && !hold) {
        raw_pipe_run(&o);
        return 0;
    }
    for (size_t i = 0; i < sizeof(lock_peers) / sizeof(lock_peers[0]); i++) {
        if (strcmp(lock_peers[i]->name, o.peer) != 0) continue;
        runner_run(&o, lock_peers[i]);
        return 0;
    }
    fail("peer=%s mode=%s: not one of raw, raw-hold, raw-pipe64, raw-blpop, "
         "raw-tls, flock",
         o.peer, o.mode);
}
