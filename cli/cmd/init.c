/*
 * cmd/init.c: make servers the members of a quorum, or replace one.  It says
 * what became of each of them.
 */
#include "command.h"
#include "common/duration.h"
#include "common/exit.h"
#include "common/json.h"
#include "common/say.h"
#include "option/rows.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

static void node_say(const struct hf_quorum_node *n, int was_done)
{
    char left[32], lease[32], shown[2 * HF_ERROR_TEXT_MAX];
    if (n->status != HF_OK) {
        printf("%s: %s\n", n->url, text_escape(n->text, shown, sizeof(shown)));
        return;
    }
    duration_text(n->max_lease_ms, lease, sizeof(lease));
    if (!was_done && !n->changed)
        printf("%s: not changed\n", n->url);
    else if (n->left_ms > 0)
        printf("%s: votes in %s, leases up to %s%s\n", n->url,
               duration_text(n->left_ms, left, sizeof(left)), lease,
               n->durable ? ", durable" : "");
    else
        printf("%s: ready, leases up to %s%s\n", n->url, lease,
               n->durable ? ", durable" : "");
}

static void node_json(const struct hf_quorum_node *n)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "url", n->url);
    json_text(&j, "status", hf_status_name(n->status));
    json_bool(&j, "changed", n->changed);
    json_bool(&j, "durable", n->durable);
    json_int(&j, "votes_in_ms", n->left_ms);
    json_int(&j, "max_lease_ms", n->max_lease_ms);
    json_text(&j, "identity", n->identity);
    if (n->status != HF_OK) json_text(&j, "why", n->text);
    json_end(&j);
    fputs(j.buf, stdout);
}

/* Forced, a replacement does without members that are away. */
static void left_out_say(const struct hf_quorum_node *nodes, int len,
                         const char *const *words)
{
    for (int i = 0; i < len; i++) {
        if (nodes[i].status == HF_OK) continue;
        say_warn("init: %s was left out: if it comes back with the old "
                 "membership, repeat init --replace %s %s",
                 nodes[i].url, words[0], words[1]);
    }
}

struct members {
    struct hf_quorum_node at[HF_QUORUM_NODES_MAX];
    int len;
};

static void member_take(const struct hf_quorum_node *node, void *user)
{
    struct members *m = user;
    if (m->len < HF_QUORUM_NODES_MAX) m->at[m->len++] = *node;
}

static int init_do(const struct session *s, const struct options *o,
                   const char *url, const char *const *words)
{
    static struct members m;
    struct hf_quorum_options q = HF_QUORUM_OPTIONS_INIT;
    struct hf_error err = {0};
    q.max_lease_ms = o->max_lease_ms;
    q.user = session_user(s);
    q.password = session_password(s);
    q.password_file = session_password_file(s);
    if (o->force) q.flags |= HF_QUORUM_FORCE;
    if (o->durable) q.flags |= HF_QUORUM_DURABLE;
    int status = o->replace ? hf_quorum_replace(url, words[0], words[1], &q,
                                                member_take, &m, &err)
                            : hf_quorum_init(url, &q, member_take, &m, &err);
    for (int i = 0; i < m.len && !o->quiet; i++) {
        if (o->json)
            node_json(&m.at[i]);
        else
            node_say(&m.at[i], status == HF_OK);
    }
    if (status == HF_OK && o->replace) left_out_say(m.at, m.len, words);
    if (status == HF_OK) return stdout_end();
    char shown[2 * HF_ERROR_TEXT_MAX];
    say_error("init: %s", text_escape(err.text, shown, sizeof(shown)));
    return status_exit(status);
}

static int init_main(const struct command *self, int argc, char **argv)
{
    struct options o;
    struct session s = {0};
    const char *words[3], *url = NULL;
    int code = command_begin(self, argc, argv, &o, words, 0, 3);
    if (code >= 0) return code;
    int len = words[2] ? 3 : words[1] ? 2 : words[0] ? 1 : 0;
    int nodes = o.replace ? 2 : 0; /* OLD and NEW come before it */
    if (len < nodes) return command_usage(self, "--replace needs OLD and NEW");
    if (len > nodes + 1)
        return command_usage(self, "more than one URL is given");
    if (len > nodes && o.url)
        return command_usage(self, "the URL is given twice");
    if (len > nodes) o.url = words[nodes];
    code = session_url(&s, &o, &url);
    if (code) return code;
    if (!url) return command_usage(self, "the URL of a quorum is missing");
    return init_do(&s, &o, url, words);
}

static const struct option_row init_options[] = {
    {"", "max-lease", "TIME", OPTION_DURATION, FIELD(max_lease_ms), 0,
     HF_LEASE_MS_MIN, HF_LEASE_MS_MAX,
     "the longest lease that clients may ask for, and so the time for which a "
     "restarted node does not vote; default: 30s"},
    {"", "durable", NULL, OPTION_FLAG, FIELD(durable), 1, 0, 0,
     "a restart of these nodes loses nothing (every write is on disk before it "
     "is answered): they vote again at once"},
    {"", "replace", NULL, OPTION_FLAG, FIELD(replace), 1, 0, 0,
     "put the node NEW in the place of OLD, which is dead"},
    {"", "force", NULL, OPTION_FLAG, FIELD(force), 1, 0, 0,
     "also take nodes that are members already, or have locks stored: safe "
     "only while no client holds a lock there"},
    {"", "url", "URL", OPTION_TEXT, FIELD(url), 0, 0, 0,
     "the URL, if it is not an argument; default: $HOLDFAST_URL"},
    {"", "url-file", "FILE", OPTION_TEXT, FIELD(url_file), 0, 0, 0,
     "read the URL from the first line of FILE; default: $HOLDFAST_URL_FILE"},
    OPTION_ROW_JSON("print one JSON object per node"),
    OPTION_ROW_TALK,
};

static const char *const init_about[] = {
    "Make the nodes of URL (redlock://h1,h2,h3 or quorum:URL|URL|URL) the "
    "members of a quorum. A node that a quorum meets for the first time may "
    "have forgotten what it granted, so it does not vote until every lease "
    "must have ended; with this command the operator says that the nodes are "
    "new, and the first lock need not wait for that.",
    "All nodes are looked at first. If one does not answer, is a replica, is "
    "listed twice, is a member already or has locks stored, none is changed. "
    "The first client that asks for a lock makes its nodes members, too: "
    "after that --force is needed.",
    "With --replace, NEW takes the place of OLD, which must not answer any "
    "more. The other members learn the new set; NEW votes when every lease "
    "must have ended. Clients go on with the new URL: with the old one, they "
    "are refused. OLD and NEW are written as in URL, which may be the old one "
    "or the new one.",
    NULL};

static const struct term_row init_exits[] = {
    {"0", "the quorum can be used"}, EXIT_ROWS_STORE, {NULL, NULL}};

static const struct term_row init_env[] = {
    {"HOLDFAST_URL", "the URL, if none is given"},
    {"HOLDFAST_URL_FILE", "a file with the URL, if HOLDFAST_URL is not set"},
    {"HOLDFAST_USER", "the user at all nodes, instead of the URL's"},
    {"HOLDFAST_PASSWORD", "the password of all nodes, so that ps(1) does not "
                          "show it"},
    {"HOLDFAST_PASSWORD_FILE", "a file whose first line is that password"},
    {NULL, NULL}};

static const char *const init_examples[] = {
    "holdfast init redlock://10.0.0.1,10.0.0.2,10.0.0.3",
    "holdfast init --replace 10.0.0.2 10.0.0.9 "
    "redlock://10.0.0.1,10.0.0.2,10.0.0.3",
    NULL};

const struct command cmd_init = {
    .name = "init",
    .summary = "make servers the members of a quorum",
    .usage = "[options] [URL] | --replace [options] OLD NEW [URL]",
    .about = init_about,
    OPTIONS(init_options),
    .exits = init_exits,
    .env = init_env,
    .examples = init_examples,
    .run = init_main,
};
