/*
 * play/scene/pause_postgres.c: the pause of pause.c, where clients write
 * a row of PostgreSQL.  The fence is checked there, in one step with the write.
 */
#include "play/play.h"

const struct scene scene_pause_postgres = {
    .title = "A fence that protects a row of PostgreSQL",
    .story = "Client A has the lock and has just checked it. It is paused "
             "before it writes a row of PostgreSQL, for longer than its lease. "
             "Meanwhile client B is granted the lock, and writes.",
    .naive_way = "UPDATE account SET writer = 'A', unchecked",
    .holdfast_way = "the statement CHECK, then UPDATE, in one transaction",
    .difference = "CHECK keeps the highest fence in a table, whose row stays "
                  "locked until the transaction ends. A lower fence breaks a "
                  "constraint, and the transaction fails.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .resource = IN_POSTGRES,
    .lease_ms = 900,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts_pause,
};
