/*
 * stats.c: what a client has done, in numbers.
 *
 * The rule: the numbers are of one moment, between two steps of the engine.
 */
#include "api/client/client.h"
#include "api/client/sized.h"
#include "base/error.h"

int hf_client_stats(hf_client *client, struct hf_stats *out,
                    struct hf_error *err)
{
    const struct engine *e = &client->pump.engine;
    int status = hf__result_check(out, err);
    if (status == HF_OK) status = hf__client_check(client, err);
    if (status != HF_OK) return status;
    hf__pump_lock(&client->pump);
    struct hf_stats found = e->stats;
    for (int i = 0; i < e->conf.nodes; i++) found.nodes_up += e->nodes[i].up;
    hf__pump_unlock(&client->pump);
    hf__result_fill(out, &found);
    return HF_OK;
}
