/*
 * trio.c: see trio.h.
 */
#include "lib/nodes.h"
#include "lib/trio.h"

static hf_client *kept[TRIO_NODES];

static void kept_close(void *arg)
{
    (void)arg;
    for (int i = 0; i < TRIO_NODES; i++) {
        hf_client_close(kept[i]);
        kept[i] = NULL;
    }
}

static void node_open(int i)
{
    char url[] = "memory:la";
    url[sizeof url - 2] = (char)('a' + i);
    CHECK_INT(hf_client_open(url, NULL, &kept[i], NULL), HF_OK);
}

void trio_begin(int64_t max_lease_ms)
{
    struct hf_quorum_node nodes[TRIO_NODES];
    struct hf_quorum_options o = HF_QUORUM_OPTIONS_INIT;
    int len = 0;
    rig_begin_at(TRIO_URL);
    test_cleanup(kept_close, NULL);
    for (int i = 0; i < TRIO_NODES; i++) node_open(i);
    if (max_lease_ms == TRIO_BLANK) return;
    o.max_lease_ms = max_lease_ms;
    CHECK_INT(nodes_init(TRIO_URL, &o, nodes, TRIO_NODES, &len, NULL), HF_OK);
}

void trio_wipe(int i)
{
    hf_client_close(kept[i]);
    kept[i] = NULL;
    node_open(i);
}

hf_client *trio_client(const char *url)
{
    hf_client *c = NULL;
    CHECK_INT(hf_client_open(url, NULL, &c, NULL), HF_OK);
    return c;
}
