/*
 * zookeeper_seen.c: what our side shows of the other's locks, and takes away.
 * One rule: what is shown is what the command shows, too.
 */
#include <string.h>

#include "zookeeper_beside.h"

ZOOKEEPER_TEST(seen, its_lock_is_shown_as_another_programs)
{
    struct hf_info info = HF_INFO_INIT;
    CHECK_STR(peer_ask(&t->there, "lock %s %d", t->name, PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(t->lock, &info, NULL), HF_OK);
    CHECK_INT(info.locked, 1);
    CHECK_INT(info.foreign, 1);
    CHECK_INT(info.mine, 0);
    CHECK_STR(info.layout, "curator");
    CHECK_INT(info.ttl_ms, -1);
    CHECK(info.since_ms > 0 && info.since_ms <= info.now_ms);
    CHECK(!strncmp(info.owner, "_c_", 3));
    int writes_its_address = !strcmp(t->there.language, "curator");
    CHECK_INT(info.host[0] != '\0', writes_its_address);
}

/* Curator has no call that looks whether it still holds it; the next holder's
 * fence is higher, and stops it at a guarded resource. */
ZOOKEEPER_TEST(seen, our_break_takes_its_lock_away)
{
    int was_locked = 0;
    hf_hold *g = NULL;
    struct hf_info info = HF_INFO_INIT;
    CHECK_STR(peer_ask(&t->there, "lock %s %d", t->name, PEER_LEASE_MS), "ok");
    CHECK_INT(hf_lock_inspect(t->lock, &info, NULL), HF_OK);
    CHECK_INT(hf_lock_break(t->lock, &was_locked, NULL), HF_OK);
    CHECK_INT(was_locked, 1);
    CHECK_INT(hf_lock_try(t->lock, &g, NULL), HF_OK);
    CHECK(hf_hold_fence(g) > info.fence);
    const char *said = peer_ask(&t->there, "unlock %s", t->name);
    int is_java = !strcmp(t->there.language, "curator");
    CHECK_STR(said, is_java ? "ok" : "error: zk: node does not exist");
    CHECK_INT(hf_lock_inspect(t->lock, &info, NULL), HF_OK);
    CHECK_INT(info.mine, 1);
}

/* What a command prints, which gets these words. */
static const char *printed(const struct zookeeper_beside *t, const char *words)
{
    static char text[4096];
    char line[512];
    snprintf(line, sizeof line, "'%s' %s --url '%s' 2>&1", TEST_COMMAND, words,
             t->url);
    FILE *in = popen(line, "re");
    CHECK(in);
    size_t len = fread(text, 1, sizeof text - 1, in);
    text[len] = '\0';
    pclose(in);
    return text;
}

static void shows(const struct zookeeper_beside *t, const char *words,
                  const char *wanted)
{
    const char *text = printed(t, words);
    if (!strstr(text, wanted)) TEST_FAIL("%s says: %s", words, text);
}

TEST(curator_seen, its_lock_is_shown_by_the_commands)
{
    struct zookeeper_beside *t =
        zookeeper_beside_begin("curator", "session=4m");
    CHECK_STR(peer_ask(&t->there, "lock a %d", PEER_LEASE_MS), "ok");
    shows(t, "status a", "curator");
    shows(t, "list", "curator");
    shows(t, "why a", "It ends with its client's session");
    printed(t, "break --yes a");
    shows(t, "status a", "free");
}
