/*
 * play/scene/pause_file.c: the pause of pause.c, where clients write
 * a file.  The fence is checked there, in one step with the write.
 */
#include "play/play.h"

const struct scene scene_pause_file = {
    .title = "A fence that protects a file",
    .story = "Client A has the lock and has just checked it. It is paused "
             "before it writes a file, for longer than its lease. "
             "Meanwhile client B is granted the lock, and writes.",
    .naive_way = "the file is opened and written",
    .holdfast_way = "hf_guard_file_replace(): a file beside it has the fence",
    .difference = "The fence is kept in a small file beside it, and is "
                  "compared and renamed under one lock of the kernel. A new "
                  "holder shows its fence before it reads.",
    .faults = FAULT_OVERLAP | FAULT_CORRUPT,
    .clients = 2,
    .stores = 1,
    .has_resource = 1,
    .resource = IN_FILE,
    .lease_ms = 900,
    .naive = {"SET lock $me NX PX $lease", "DEL lock"},
    .acts = acts_pause,
};
