/*
 * play/scene/pause_sqlite.c: the pause of pause.c, where clients write
 * a row of SQLite.  The fence is checked there, in one step with the write.
 */
#include "play/play.h"

const struct scene scene_pause_sqlite = {
    .title = "A fence that protects a row of SQLite",
    .story = "Client A has the lock and has just checked it. It is paused "
             "before it writes a row of SQLite, for longer than its lease. "
             "Meanwhile client B is granted the lock, and writes.",
    .naive_way = "UPDATE account SET writer = 'A', unchecked",
    .holdfast_way = "the statement CHECK, then UPDATE, in one transaction",
    .difference = "CHECK keeps the highest fence in a table. A lower one "
                  "breaks a constraint, so the statement fails, and with it "
                  "the transaction.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .resource = IN_SQLITE,
    .lease_ms = 900,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts_pause,
};
