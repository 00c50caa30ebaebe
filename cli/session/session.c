/*
 * session/session.c: from options and environment to an open client and lock.
 */
#include "common/exit.h"
#include "common/say.h"
#include "session/nodes.h"

#include <stdatomic.h>
#include <string.h>

/* Hashes of the lines that were printed: the same warning of many clients is
 * printed once.  Any thread may log. */
#define SAID_LEN 8
static _Atomic uint64_t said[SAID_LEN];

static uint64_t line_hash(const char *line)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *line; line++)
        hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
    return hash | 1;
}

static _Atomic uint64_t *said_place(uint64_t hash)
{
    return &said[(hash >> 1) % SAID_LEN]; /* the lowest bit is always set */
}

static int line_is_said(const char *line)
{
    uint64_t hash = line_hash(line);
    return atomic_load(said_place(hash)) == hash;
}

static void log_say(int level, const char *line, void *user)
{
    const struct session *s = user;
    char shown[2048];
    text_escape(line, shown, sizeof(shown));
    if (level > HF_LOG_WARN) {
        say_note("%s", shown);
        return;
    }
    if (!s->logs && !s->is_opening) return;
    if (s->is_quiet || line_is_said(line)) return;
    uint64_t hash = line_hash(line);
    atomic_store(said_place(hash), hash);
    say_warn("%s", shown);
}

void session_warn(const struct session *s, const char *what, const char *text)
{
    char shown[2 * HF_ERROR_TEXT_MAX];
    text_escape(text, shown, sizeof(shown));
    say_warn("%s: %s%s%s", s->shown, what, *what ? ": " : "", shown);
}

int session_fail(const struct session *s, int status,
                 const struct hf_error *err)
{
    char shown[2 * HF_ERROR_TEXT_MAX];
    const char *text = status_why(status, err->text);
    /* The error of a set names the lock concerned. */
    int is_named = s->shown[0] && !s->multi;
    text_escape(text, shown, sizeof(shown));
    /* The log of a quorum may have printed this text already; the lines per
     * node tell the rest. */
    if (status != HF_UNAVAILABLE || !line_is_said(text))
        say_error("%s%s%s", is_named ? s->shown : "", is_named ? ": " : "",
                  shown);
    if (status == HF_UNAVAILABLE || status == HF_INVALID
        || status == HF_CONFLICT)
        nodes_say(s);
    return status_exit(status);
}

static int client_open(struct session *s, const struct options *o,
                       unsigned flags, hf_state_fn on_state, void *user)
{
    struct hf_error err = {0};
    struct hf_client_options co = HF_CLIENT_OPTIONS_INIT;
    char path[1024];
    int code = session_url(s, o, &s->url);
    if (code) return code;
    const char *url = s->url;
    co.flags = flags;
    co.lease_ms = o->lease_ms;
    co.user = session_user(s);
    co.password = session_password(s);
    co.password_file = session_password_file(s);
    co.label = o->label;
    co.fallback = o->fallback;
    co.on_state = on_state;
    co.state_user = user;
    /* Warnings of a quorum (few nodes, a quarantine, clocks) are always
     * printed; those of one server only if they are about the URL and its
     * files, or with --verbose. */
    s->logs = o->verbose || hf_url_traits(url) & HF_URL_QUORUM;
    s->is_quiet = o->quiet;
    s->is_opening = 1;
    co.log = log_say;
    co.log_user = s;
    co.log_level = o->verbose ? HF_LOG_INFO : HF_LOG_WARN;
    int status = hf_client_open(url, &co, &s->client, &err);
    s->is_opening = 0;
    if (status != HF_OK) {
        code = session_fail(s, status, &err);
        if (s->is_of_conf && status != HF_UNAVAILABLE)
            say_error("the URL and its options are those of %s",
                      text_escape(s->conf.path, path, sizeof(path)));
        return code;
    }
    code = require_check(s->require, s->client,
                         s->conf.has_lines ? s->conf.path : "");
    if (!code) return EXIT_OK;
    hf_client_close(s->client);
    s->client = NULL;
    return code;
}

/* A bad name is a usage error, so it is refused here and not by the library. */
static int name_check(const char *name)
{
    size_t len = strlen(name);
    if (len >= 1 && len <= HF_NAME_MAX) return EXIT_OK;
    say_error("the lock's name is %s; it may have 1 to %d bytes",
              len ? "too long" : "empty", HF_NAME_MAX);
    return EXIT_USAGE;
}

/* -s and -x are the two sides of a read/write lock.  A store without them
 * shares nothing, so that every lock there is as exclusive as -x asks for. */
static int side_kind(const struct session *s, int side)
{
    if (side == SIDE_SHARED) return HF_KIND_READ;
    if (side == SIDE_EXCLUSIVE && hf_client_caps(s->client) & HF_CAP_RW)
        return HF_KIND_WRITE;
    return HF_KIND_PLAIN;
}

static int lock_open(struct session *s, const struct options *o,
                     const char *name, hf_lock **out, struct hf_error *err)
{
    struct hf_lock_options lo = HF_LOCK_OPTIONS_INIT;
    lo.kind = side_kind(s, o->side);
    if (o->fair) lo.order = HF_ORDER_FAIR;
    return hf_lock_open_as(s->client, name, &lo, out, err);
}

int session_open(struct session *s, const struct options *o, const char *name,
                 unsigned flags, hf_state_fn on_state, void *user)
{
    struct hf_error err = {0};
    s->client = NULL;
    s->lock = NULL;
    s->multi = NULL;
    s->all_len = 0;
    s->shown[0] = '\0';
    int code = name ? name_check(name) : EXIT_OK;
    if (code == EXIT_OK) code = client_open(s, o, flags, on_state, user);
    if (code || !name) return code;
    text_escape(name, s->shown, sizeof(s->shown));
    int status = lock_open(s, o, name, &s->lock, &err);
    if (status == HF_OK) {
        s->all[s->all_len++] = s->lock;
        return EXIT_OK;
    }
    code = session_fail(s, status, &err);
    session_close(s);
    return code;
}

int session_also(struct session *s, const struct options *o)
{
    const struct texts *names = &o->also;
    struct hf_error err = {0};
    int status = HF_OK;
    for (size_t i = 0; i < names->len && status == HF_OK; i++) {
        if (name_check(names->at[i]) != EXIT_OK) return EXIT_USAGE;
        status = lock_open(s, o, names->at[i], &s->all[s->all_len], &err);
        if (status == HF_OK) s->all_len++;
    }
    if (status == HF_OK && names->len > 0)
        status = hf_multi_open(s->all, s->all_len, &s->multi, &err);
    return status == HF_OK ? EXIT_OK : session_fail(s, status, &err);
}

void session_close(struct session *s)
{
    hf_multi_close(s->multi);
    for (size_t i = 0; i < s->all_len; i++) hf_lock_close(s->all[i]);
    hf_client_close(s->client);
    s->multi = NULL;
    s->all_len = 0;
    s->lock = NULL;
    s->client = NULL;
}

int session_is_quorum(const struct session *s)
{
    return (hf_url_traits(hf_client_url(s->client)) & HF_URL_QUORUM) != 0;
}

int session_has_no(const struct session *s, unsigned cap, const char *what,
                   const char *instead)
{
    if (hf_client_caps(s->client) & cap || !session_is_quorum(s)) return 0;
    say_error("%s: %s: a quorum has locks only: %s", s->shown, what, instead);
    return 1;
}
