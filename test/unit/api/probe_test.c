/*
 * probe_test.c: hf_probe_open() on stores of this process and this host;
 * test/cli/doctor.sh asks real servers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/holdfast.h"
#include "test.h"
#include "lib/nodes.h"

#define ABC "quorum:drift=2%|memory:pa|memory:pb|memory:pc"

static hf_probe *p;
static struct hf_error err;
static hf_client *kept[3];
static char dir[128];

static void kept_close(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        hf_client_close(kept[i]);
        kept[i] = NULL;
    }
    hf_probe_close(p);
    p = NULL;
}

/* A space lives as long as somebody has it open. */
static void begin(void)
{
    static const char *const urls[] = {"memory:pa", "memory:pb", "memory:pc"};
    test_cleanup(kept_close, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_INT(hf_client_open(urls[i], NULL, &kept[i], &err), HF_OK);
    memset(&err, 0, sizeof err);
}

static int probe(const char *url)
{
    struct hf_probe_options o = HF_PROBE_OPTIONS_INIT;
    o.timeout_ms = 1500;
    hf_probe_close(p);
    p = NULL;
    return hf_probe_open(url, &o, &p, &err);
}

static void dir_remove(void *arg)
{
    (void)arg;
    rmdir(dir);
}

TEST(probe, one_store_answers_and_is_no_member)
{
    begin();
    CHECK_INT(probe("memory:pa"), HF_OK);
    CHECK_INT(hf_probe_len(p), 1);
    CHECK_INT(hf_probe_quorum(p), 0);
    CHECK_INT(hf_probe_drift_ppm(p), 10000);
    CHECK(hf_probe_node(p, 0)->answers && hf_probe_node(p, 0)->status == HF_OK);
    CHECK_INT(hf_probe_node(p, 0)->member, HF_PROBE_ALONE);
    CHECK_INT(hf_probe_node(p, 0)->samples, 1);
}

TEST(probe, new_members_have_no_marker_and_get_none)
{
    begin();
    for (int i = 0; i < 2; i++) {
        CHECK_INT(probe(ABC), HF_OK);
        CHECK_INT(hf_probe_len(p), 3);
        CHECK_INT(hf_probe_quorum(p), 2);
        CHECK_INT(hf_probe_drift_ppm(p), 20000);
        CHECK_INT(hf_probe_node(p, 2)->member, HF_PROBE_UNMARKED);
        CHECK(hf_probe_node(p, 2)->votes_in_ms > 0);
    }
}

TEST(probe, members_are_ours_or_of_others)
{
    struct hf_quorum_node nodes[3];
    int len;
    begin();
    CHECK_INT(nodes_init(ABC, NULL, nodes, 3, &len, &err), HF_OK);
    CHECK_INT(probe(ABC), HF_OK);
    CHECK_INT(hf_probe_node(p, 0)->member, HF_PROBE_OURS);
    CHECK_INT(hf_probe_node(p, 0)->votes_in_ms, 0);
    CHECK_INT(hf_probe_node(p, 0)->max_lease_ms, 30000);
    CHECK(hf_probe_node(p, 0)->identity[0] != '\0');
    CHECK_INT(probe("quorum:memory:pa|memory:pb"), HF_OK);
    CHECK_INT(hf_probe_node(p, 1)->member, HF_PROBE_OTHERS);
}

TEST(probe, a_node_that_is_away_says_so_itself)
{
    begin();
    CHECK_INT(probe("quorum:memory:pa|memory:pb?down=1|memory:pc"), HF_OK);
    CHECK(hf_probe_node(p, 0)->answers && hf_probe_node(p, 2)->answers);
    CHECK(!hf_probe_node(p, 1)->answers);
    CHECK_INT(hf_probe_node(p, 1)->status, HF_UNAVAILABLE);
    CHECK(hf_probe_node(p, 1)->text[0] != '\0');
}

TEST(probe, an_unknown_option_of_a_quorum_is_refused)
{
    begin();
    CHECK_INT(probe("quorum:nonsense=1|memory:pa|memory:pb|memory:pc"),
              HF_INVALID);
    CHECK(strstr(err.text, "nonsense") != NULL);
}

TEST(probe, a_directory_tells_its_file_system)
{
    char url[160], fact[64];
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%.80s/hf-probe-XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    test_cleanup(dir_remove, NULL);
    snprintf(url, sizeof url, "file:%s", dir);
    CHECK_INT(probe(url), HF_OK);
    CHECK(hf_probe_fact(hf_probe_node(p, 0), "engine", fact, sizeof fact));
    CHECK_STR(fact, "file");
    CHECK(hf_probe_fact(hf_probe_node(p, 0), "filesystem", fact, sizeof fact));
    CHECK(fact[0] != '\0');
}

TEST(probe, a_fact_is_found_by_its_whole_name)
{
    const struct hf_probe_node n = {.facts = "role:master\nmaxmemory_policy:x\n"
                                             "maxmemory:12345678\nsave:\n"};
    char fact[8];
    CHECK(hf_probe_fact(&n, "role", fact, sizeof fact));
    CHECK_STR(fact, "master");
    CHECK(hf_probe_fact(&n, "maxmemory", fact, sizeof fact));
    CHECK_STR(fact, "1234567"); /* cut */
    CHECK(hf_probe_fact(&n, "save", fact, sizeof fact));
    CHECK_STR(fact, "");
    CHECK(!hf_probe_fact(&n, "rol", fact, sizeof fact));
    CHECK_STR(fact, "");
}

TEST(probe, bad_urls_and_options_are_refused_and_nothing_is_filled)
{
    struct hf_probe_options o = HF_PROBE_OPTIONS_INIT;
    begin();
    CHECK_INT(probe("wibble:"), HF_INVALID);
    CHECK_INT(probe("quorum:memory:pa|memory:pa"), HF_INVALID);
    CHECK_INT(probe("quorum:drift=99%|memory:pa|memory:pb"), HF_INVALID);
    o.sample_ms = -1;
    CHECK_INT(hf_probe_open("memory:pa", &o, &p, &err), HF_INVALID);
    o.sample_ms = 0;
    o.flags = 1;
    CHECK_INT(hf_probe_open("memory:pa", &o, &p, &err), HF_INVALID);
    o.flags = 0;
    o.struct_size = 1;
    CHECK_INT(hf_probe_open("memory:pa", &o, &p, &err), HF_INVALID);
    CHECK(p == NULL);
}
