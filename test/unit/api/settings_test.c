/*
 * settings_test.c: what a client says that it was set to, what a URL says by
 * itself, and how a client stands with a server.
 */
#include <string.h>

#include "lib/nodes.h"
#include "lib/rig.h"
#include "lib/trio.h"

#define NOWHERE "redis://127.0.0.1:1"

static struct hf_client_options settings_of(const char *url,
                                            const struct hf_client_options *o)
{
    struct hf_client_options now = HF_CLIENT_OPTIONS_INIT;
    CHECK_INT(hf_client_settings(rig_client_at(url, o), &now, NULL), HF_OK);
    return now;
}

TEST(settings, are_the_defaults_where_nothing_is_said)
{
    rig_begin_on("memory:");
    struct hf_client_options now = settings_of("memory:s1", NULL);
    CHECK_INT(now.lease_ms, 30000);
    CHECK_INT(now.timeout_ms, 2000);
    CHECK_INT(now.patience_ms, 2000);
    CHECK_INT(now.drift_ppm, 10000);
    CHECK_INT(now.fallback, HF_FALLBACK_FAIL);
    CHECK_INT(now.handover, 0);
    CHECK_INT(now.handover_ms, 50);
    CHECK_INT(now.log_level, HF_LOG_WARN);
    CHECK(now.label[0] != '\0');
}

TEST(settings, are_those_of_the_url)
{
    rig_begin_on("memory:");
    struct hf_client_options now =
        settings_of(NOWHERE "?lease=12s&timeout=3s&patience=4s&drift=2%25"
                            "&handover=7&handover_for=80ms&fallback=wait"
                            "&label=two%20words",
                    NULL);
    CHECK_INT(now.lease_ms, 12000);
    CHECK_INT(now.timeout_ms, 3000);
    CHECK_INT(now.patience_ms, 4000);
    CHECK_INT(now.drift_ppm, 20000);
    CHECK_INT(now.handover, 7);
    CHECK_INT(now.handover_ms, 80);
    CHECK_INT(now.fallback, HF_FALLBACK_WAIT);
    CHECK_STR(now.label, "two words");
    now = settings_of(NOWHERE "?fallback=local", NULL);
    CHECK_INT(now.fallback, HF_FALLBACK_LOCAL);
}

TEST(settings, of_a_quorum_are_those_of_its_url)
{
    rig_begin_on("memory:");
    struct hf_client_options now = settings_of(
        "quorum:lease=9s&fallback=wait|memory:q1|memory:q2|memory:q3", NULL);
    CHECK_INT(now.lease_ms, 9000);
    CHECK_INT(now.fallback, HF_FALLBACK_WAIT);
}

TEST(settings, an_option_wins_over_the_url)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    rig_begin_on("memory:");
    o.lease_ms = 5000;
    o.fallback = HF_FALLBACK_FAIL;
    o.spin_us = -1;
    o.user = "worker";
    struct hf_client_options now =
        settings_of(NOWHERE "?lease=12s&fallback=wait&spin_us=9", &o);
    CHECK_INT(now.lease_ms, 5000);
    CHECK_INT(now.fallback, HF_FALLBACK_FAIL);
    CHECK_INT(now.spin_us, -1);
    CHECK_STR(now.user, "worker");
}

TEST(settings, tell_no_password)
{
    rig_begin_on("memory:");
    struct hf_client_options now =
        settings_of("redis://worker:secret@127.0.0.1:1", NULL);
    CHECK(now.password == NULL);
    CHECK_STR(now.user, "worker");
}

/* One of a later version: what is behind ours is zeroed, not what is behind
 * the whole of it. */
TEST(settings, are_written_as_far_as_the_caller_has_room)
{
    struct {
        struct hf_client_options now;
        int64_t later, behind;
    } room;
    struct hf_error err = {0};
    rig_begin_on("memory:");
    hf_client *c = rig_client_at("memory:s2?lease=7s", NULL);
    memset(&room, 0x5a, sizeof room);
    room.now.struct_size = sizeof room.now + sizeof room.later;
    CHECK_INT(hf_client_settings(c, &room.now, NULL), HF_OK);
    CHECK_INT(room.now.lease_ms, 7000);
    CHECK_INT(room.now.struct_size, sizeof room.now);
    CHECK_INT(room.later, 0);
    CHECK_INT(room.behind, INT64_C(0x5a5a5a5a5a5a5a5a));
    struct hf_client_options now = room.now;
    now.struct_size = offsetof(struct hf_client_options, timeout_ms);
    CHECK_INT(hf_client_settings(c, &now, NULL), HF_INVALID);
    now.struct_size = 0;
    CHECK_INT(hf_client_settings(c, &now, &err), HF_INVALID);
    CHECK(strstr(err.text, "struct_size") != NULL);
}

/* ---- URLs ---------------------------------------------------------------- */

TEST(settings, a_url_says_which_store_it_names)
{
    CHECK_INT(hf_url_traits(NULL), HF_URL_HOST);
    CHECK_INT(hf_url_traits("file:/tmp"), HF_URL_HOST);
    CHECK_INT(hf_url_traits("sqlite:/tmp/x.db"), HF_URL_HOST);
    CHECK_INT(hf_url_traits("redis+unix:///tmp/sock"), HF_URL_HOST);
    CHECK_INT(hf_url_traits("redis://h"), 0);
    CHECK_INT(hf_url_traits("memory:x"), HF_URL_PROCESS | HF_URL_HOST);
    CHECK_INT(hf_url_traits("redis-sentinel://h1,h2/main"), HF_URL_SENTINEL);
    CHECK_INT(hf_url_traits("redis-cluster://h1,h2"), HF_URL_CLUSTER);
    CHECK_INT(hf_url_traits("redlock://h1,h2,h3"), HF_URL_QUORUM);
    CHECK_INT(hf_url_traits("quorum:memory:a|memory:b|memory:c"),
              HF_URL_QUORUM | HF_URL_HOST);
    CHECK_INT(hf_url_traits("quorum:redis://a|redis://b|sqlite:/tmp/c.db"),
              HF_URL_QUORUM | HF_URL_HOST);
    CHECK_INT(hf_url_traits("redis://h?format=string"),
              HF_URL_STRING | HF_URL_OPTIONS);
    CHECK_INT(hf_url_traits("redis://h?label=format=string"), HF_URL_OPTIONS);
    CHECK_INT(hf_url_traits("sqlite:x.db"), HF_URL_HOST | HF_URL_RELATIVE);
    CHECK_INT(hf_url_traits("quorum:redis://a|redis://b|sqlite:c.db"),
              HF_URL_QUORUM | HF_URL_HOST | HF_URL_RELATIVE);
    CHECK_INT(hf_url_traits("no url"), 0);
}

TEST(settings, a_login_in_a_url_is_noticed)
{
    CHECK(hf_url_traits("redis://me@h") & HF_URL_LOGIN);
    CHECK(hf_url_traits("redis://:word@h") & HF_URL_LOGIN);
    CHECK(hf_url_traits("redis://h?password_file=/x") & HF_URL_LOGIN);
    CHECK(hf_url_traits("redlock://a,b,c?password_file=/x") & HF_URL_LOGIN);
    CHECK(hf_url_traits("redlock://me:word@a,b,c") & HF_URL_LOGIN);
    CHECK(!(hf_url_traits("redis://h?label=me@there") & HF_URL_LOGIN));
}

TEST(settings, a_password_in_a_url_is_noticed)
{
    static const char *const with[] = {
        "redis://u:pw@h",
        "redis://:pw@h",
        "redlock://u:pw@h1,h2,h3",
        "quorum:redis://h1|redis://h2|redis://:pw@h3",
        "redis://u:pw@h:no-port", /* refused, but written all the same */
        "quorum:redis://h1|redis://:pw@h2:no-port"};
    static const char *const without[] = {
        "redis://u@h", "redis://h:6379", "redlock://u@h1:1,h2:2,h3:3",
        "quorum:redis://u@h1:1|redis://h2:2|redis://h3",
        "redis://h?password_file=/x"};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++)
        CHECK(hf_url_traits(with[i]) & HF_URL_PASSWORD);
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        CHECK(!(hf_url_traits(without[i]) & HF_URL_PASSWORD));
}

/* ---- links --------------------------------------------------------------- */

struct wanted {
    hf_client *client;
    int node, link;
};

static int link_is(void *arg)
{
    const struct wanted *w = arg;
    struct hf_node nodes[TRIO_NODES];
    nodes_of(w->client, nodes, TRIO_NODES);
    return nodes[w->node].link == w->link;
}

static int until_link(hf_client *client, int node, int link)
{
    struct wanted w = {client, node, link};
    return rig_until(link_is, &w);
}

TEST(settings, a_link_is_up_or_down)
{
    struct hf_node node;
    rig_begin_on("memory:");
    CHECK(until_link(rig_client_at("memory:up", NULL), 0, HF_LINK_UP));
    hf_client *c = rig_client_at(NOWHERE, NULL);
    hf_lock *l = NULL;
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    CHECK(rig_acquire(l, 0, 100, NULL) != HF_OK);
    CHECK(until_link(c, 0, HF_LINK_DOWN));
    nodes_of(c, &node, 1);
    CHECK_INT(node.status, HF_UNAVAILABLE);
    CHECK(node.text[0] != '\0');
    CHECK(strncmp(node.text, node.url, strlen(node.url)) != 0);
}

TEST(settings, members_say_what_keeps_them_from_voting)
{
    struct hf_info info = HF_INFO_INIT;
    hf_lock *l = NULL;
    trio_begin(0);
    trio_wipe(2);
    hf_client *c = trio_client("quorum:memory:la|memory:lb?down=1|memory:lc");
    CHECK_INT(hf_lock_open(c, "a", &l, NULL), HF_OK);
    int looked = hf_lock_inspect(l, &info, NULL);
    int up = until_link(c, 0, HF_LINK_UP);
    int down = until_link(c, 1, HF_LINK_DOWN);
    int blank = until_link(c, 2, HF_LINK_BLANK);
    int status = rig_acquire(l, 0, 50, NULL);
    int quarantined = until_link(c, 2, HF_LINK_QUARANTINED);
    hf_client_close(c);
    CHECK_INT(looked, HF_OK);
    CHECK(up);
    CHECK(down);
    CHECK(blank);
    CHECK(status != HF_OK);
    CHECK(quarantined);
}
