/*
 * session/require.c: `require`: refuse a store that promises less.
 *
 * One rule: what the command line, the environment and the configuration file
 * require adds up, so that none of them can make another one weaker.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "common/text.h"
#include "session/config.h"

#include <stdio.h>
#include <string.h>

#define QUORUM_LEAST 3 /* members: with fewer, no member may fail */

static int word_bit(const char *word, size_t len, unsigned *out)
{
    static const struct {
        const char *name;
        unsigned bits;
    } levels[] = {
        {"distributed", REQUIRE_DISTRIBUTED},
        {"quorum", REQUIRE_DISTRIBUTED | REQUIRE_QUORUM},
        {"fenced", REQUIRE_DISTRIBUTED | REQUIRE_FENCED},
    };
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (strlen(levels[i].name) != len
            || memcmp(levels[i].name, word, len) != 0)
            continue;
        *out |= levels[i].bits;
        return 0;
    }
    return -1;
}

/* "quorum,fenced" */
static int list_read(const char *where, const char *text, unsigned *out)
{
    char shown[256];
    for (const char *p = text;;) {
        size_t len = strcspn(p, ",");
        if (word_bit(p, len, out) != 0) {
            say_error(
                "%s: %s: must be distributed, quorum or fenced, or several "
                "of them, separated by commas",
                where, text_escape(text, shown, sizeof(shown)));
            return EXIT_CONFIG;
        }
        if (!p[len]) return EXIT_OK;
        p += len + 1;
    }
}

int require_read(const struct config *c, unsigned *out)
{
    const char *of_env = environment_get("HOLDFAST_REQUIRE");
    int code = EXIT_OK;
    *out = 0;
    if (c->require[0]) code = list_read("require", c->require, out);
    if (!code && of_env) code = list_read("HOLDFAST_REQUIRE", of_env, out);
    return code;
}

/* ---- what a store is ---- */

static void node_count(const struct hf_node *node, void *user)
{
    (void)node;
    ++*(int *)user;
}

/* `file`: the configuration file; "": there is none, or it is empty. */
static int refuse(hf_client *client, const char *file, const char *level,
                  const char *why)
{
    char shown[2048], path[1024];
    say_error("%s: refused, because %s is required: %s; see --require%s "
              "HOLDFAST_REQUIRE%s%s",
              text_escape(hf_client_url(client), shown, sizeof(shown)), level,
              why, file[0] ? "," : " and", file[0] ? " and " : "",
              text_escape(file, path, sizeof(path)));
    return EXIT_CONFIG;
}

int require_check(unsigned require, hf_client *client, const char *file)
{
    const char *url = hf_client_url(client);
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    int nodes = 0;
    if (!require) return EXIT_OK;
    if (hf_url_traits(url) & HF_URL_HOST)
        return refuse(
            client, file, "distributed",
            "its locks are of this host only; name a server by --url, "
            "HOLDFAST_URL or the configuration file");
    (void)hf_client_settings(client, &co, NULL);
    if (co.fallback == HF_FALLBACK_LOCAL)
        return refuse(
            client, file, "distributed",
            "fallback=local takes a lock of this host when the server "
            "cannot be reached");
    if (require & REQUIRE_QUORUM) {
        if (hf_url_traits(url) & HF_URL_QUORUM)
            (void)hf_client_nodes(client, node_count, &nodes);
        if (nodes < QUORUM_LEAST)
            return refuse(client, file, "quorum",
                          "it is not a quorum of three servers or more");
    }
    if (require & REQUIRE_FENCED && !(hf_client_caps(client) & HF_CAP_FENCE))
        return refuse(client, file, "fenced",
                      "its locks have no fencing token");
    return EXIT_OK;
}
