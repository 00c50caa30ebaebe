/*
 * rig_started.c: waiting for callbacks in both modes; see rig_started.h.
 */
#include "lib/rig_started.h"

#include <poll.h>

hf_client *rig_client_in(enum rig_mode mode)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    if (mode == RIG_OWN_LOOP) o.flags = HF_CLIENT_OWN_LOOP;
    return rig_client(&o);
}

void rig_turn(hf_client *client, int timeout_ms)
{
    struct pollfd p = {hf_client_fd(client), POLLIN, 0};
    if (p.fd < 0) return;
    poll(&p, 1, timeout_ms);
    CHECK_INT(hf_client_process(client), HF_OK);
}

int rig_until_told(hf_client *client, atomic_int *calls, int wanted)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    if (hf_client_fd(client) < 0) return rig_until_equal(calls, wanted);
    while (atomic_load(calls) != wanted && rig_now_ms() < end_ms)
        rig_turn(client, (int)(end_ms - rig_now_ms()));
    return atomic_load(calls) == wanted;
}
