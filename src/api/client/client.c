/*
 * client.c: opening and closing a client.
 *
 * The rule: whatever is wrong with the URL or the options is said before
 * anything is opened.
 */
#include "api/client/fallback.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/election/election.h"
#include "api/hold/handle.h"
#include "api/quorum/members.h"
#include "api/multi/multi.h"
#include "api/client/object.h"
#include "backend/registry.h"
#include "base/error.h"
#include "engine/host.h"
#include "engine/pump_event.h"
#include "engine/pump_keeper.h"
#include "sys/clock.h"
#include "sys/random.h"

#define CLIENT_ASKS 0x80000000u /* internal: hf__client_open_to_ask() */

const char hf__common_options[] =
    "lease timeout patience drift spin_us handover handover_for label "
    "fallback fallback_dir";

/* ---- options ----------------------------------------------------------- */

/* An option that names a file, a host or a user needs a value; any other may be
 * a switch. */
static int option_has_a_name(const char *key)
{
    static const char *const ends[] = {"_file", "_user"};
    size_t len = strlen(key);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        size_t end_len = strlen(ends[i]);
        if (len > end_len && !strcmp(key + len - end_len, ends[i])) return 1;
    }
    return strncmp(key, "tls_", 4) == 0;
}

int hf__options_named(const struct url *url, struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++) {
        const char *key = url->options[i].key;
        if (url->options[i].value[0] || !option_has_a_name(key)) continue;
        return hf__error_set(err, HF_INVALID,
                             "url: %.60s: empty: give it a value, or leave it "
                             "out",
                             key);
    }
    return HF_OK;
}

int hf__options_known(const struct url *url, const struct backend *b,
                      struct hf_error *err)
{
    for (size_t i = 0; i < url->options_len; i++) {
        const char *key = url->options[i].key;
        if (hf__word_is_in(key, hf__common_options)) continue;
        if (b && b->options && hf__word_is_in(key, b->options)) continue;
        return hf__error_set(err, HF_INVALID,
                             "url: option %.60s: unknown to %s: known are %s"
                             "%s%s",
                             key, url->scheme, hf__common_options,
                             b && b->options && *b->options ? " " : "",
                             b && b->options ? b->options : "");
    }
    return hf__options_named(url, err);
}

static int option_time(const struct url *url, const char *key, int64_t given_ms,
                       int64_t least_ms, int64_t default_ms, int64_t *out_us,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, key);
    int64_t ms = default_ms;
    if (given_ms != 0)
        ms = given_ms;
    else if (text && hf__duration_parse(text, &ms) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: %s=%.40s: not a duration such as 250ms or "
                             "10s",
                             key, text);
    if (ms < least_ms || ms > TIME_OPTION_MS_MAX)
        return hf__error_set(err, HF_INVALID,
                             "client: %s of %lld ms: out of range: %lld ms to "
                             "24 h",
                             key, (long long)ms, (long long)least_ms);
    *out_us = ms * US_PER_MS;
    return HF_OK;
}

/* "1%" or parts per million. */
int hf__option_drift(const struct url *url, int64_t given, int64_t *out,
                     struct hf_error *err)
{
    const char *text = hf__url_option(url, "drift");
    char digits[16];
    int64_t n = DRIFT_PPM_DEFAULT;
    if (given != 0) {
        n = given;
    } else if (text) {
        size_t len = strlen(text);
        int percent = len > 1 && text[len - 1] == '%';
        snprintf(digits, sizeof digits, "%.*s", (int)(len - (size_t)percent),
                 text);
        if (hf__number_parse(digits, 0, DRIFT_PPM_MAX, &n) != 0) n = -1;
        if (percent) n *= 10000;
    }
    if (n < 1 || n > DRIFT_PPM_MAX)
        return hf__error_set(err, HF_INVALID,
                             "client: drift: out of range: 1 to %d parts per "
                             "million, or a percentage up to 50%%",
                             DRIFT_PPM_MAX);
    *out = n;
    return HF_OK;
}

static int option_spin(const struct url *url, int64_t given, int64_t *out,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, "spin_us");
    *out = given ? given : SPIN_US_DEFAULT;
    if (!given && text && hf__number_parse(text, 0, SPIN_US_MAX, out) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: spin_us=%.40s: not a number from 0 to %d",
                             text, SPIN_US_MAX);
    if (given < -1 || given > SPIN_US_MAX)
        return hf__error_set(err, HF_INVALID,
                             "client: spin_us of %lld: out of range: -1 to %d",
                             (long long)given, SPIN_US_MAX);
    return HF_OK;
}

static int option_handover(const struct url *url,
                           const struct hf_client_options *o,
                           struct hold_conf *conf, struct hf_error *err)
{
    const char *text = hf__url_option(url, "handover");
    conf->handover = o->handover;
    if (!o->handover && text
        && hf__number_parse(text, 0, HANDOVER_MAX, &conf->handover) != 0)
        return hf__error_set(err, HF_INVALID,
                             "url: handover=%.40s: not a number from 0 to %d",
                             text, HANDOVER_MAX);
    if (o->handover < 0 || o->handover > HANDOVER_MAX)
        return hf__error_set(err, HF_INVALID,
                             "client: handover of %lld: out of range: 0 to %d",
                             (long long)o->handover, HANDOVER_MAX);
    return option_time(url, "handover_for", o->handover_ms, 1,
                       HANDOVER_MS_DEFAULT, &conf->handover_us, err);
}

static int options_read(hf_client *c, const struct url *url,
                        const struct hf_client_options *o, struct hf_error *err)
{
    struct engine *e = &c->pump.engine;
    int64_t spin_us = 0;
    int status = option_time(url, "lease", o->lease_ms, HF_LEASE_MS_MIN,
                             LEASE_MS_DEFAULT, &e->lease_us, err);
    e->lease_given = o->lease_ms || hf__url_option(url, "lease");
    if (status == HF_OK)
        status = option_time(url, "timeout", o->timeout_ms, 1,
                             TIMEOUT_MS_DEFAULT, &c->timeout_us, err);
    if (status == HF_OK)
        status = option_time(url, "patience", o->patience_ms, 1,
                             PATIENCE_MS_DEFAULT, &e->conf.patience_us, err);
    if (status == HF_OK)
        status = hf__option_drift(url, o->drift_ppm, &e->conf.drift_ppm, err);
    if (status == HF_OK) status = option_spin(url, o->spin_us, &spin_us, err);
    if (status == HF_OK) status = option_handover(url, o, &e->conf, err);
    if (status == HF_OK) status = hf__fallback_read(c, url, o->fallback, err);
    hf__spin_init(&c->pump.spin, spin_us);
    e->conf.timeout_us = c->timeout_us;
    e->conf.window_us = BALLOT_WINDOW_US;
    return status;
}

/* ---- identity ---------------------------------------------------------- */

static void text_clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

static char *info_make(const struct allocator *a, const char *label)
{
    char host[HF_HOST_MAX] = "?", line[32 + HF_HOST_MAX + HF_LABEL_MAX];
    if (gethostname(host, sizeof host) != 0 || !host[0])
        snprintf(host, sizeof host, "?");
    host[sizeof host - 1] = '\0';
    for (char *h = host; *h; h++)
        if (*h == ' ') *h = '?';
#ifdef __GLIBC__
    if (!label || !*label) label = program_invocation_short_name;
#endif
    snprintf(line, sizeof line, "%ld %s %.*s", (long)getpid(), host,
             HF_LABEL_MAX - 1, label && *label ? label : "?");
    text_clean(line);
    return hf__strdup(a, line);
}

static void client_log(struct engine *e, int level, const char *line)
{
    hf_client *c = (hf_client *)((struct pump *)e->owner);
    if (c->log && level <= c->log_level) c->log(level, line, c->log_user);
}

void hf__client_warn(hf_client *c, const char *format, ...)
{
    char line[2 * HF_ERROR_TEXT_MAX];
    va_list ap;
    if (!c->log || c->log_level < HF_LOG_WARN) return;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    c->log(HF_LOG_WARN, line, c->log_user);
}

/* ---- calls of several operations ---------------------------------------- */

void hf__call_enter(hf_client *c)
{
    hf__pump_lock(&c->pump);
    c->calls++;
    hf__pump_unlock(&c->pump);
}

void hf__call_leave(hf_client *c)
{
    if (c->pump.forked) return; /* a function of the caller's has forked */
    hf__pump_lock(&c->pump);
    if (--c->calls == 0) pthread_cond_broadcast(&c->calls_over);
    hf__pump_unlock(&c->pump);
}

int hf__client_is_closing(hf_client *c)
{
    hf__pump_lock(&c->pump);
    int is_closing = c->pump.engine.closing;
    hf__pump_unlock(&c->pump);
    return is_closing;
}

/* Wait until no call is under way.  The pump is shut, so the next operation of
 * each call ends with HF_CLOSED. */
static void calls_wait(hf_client *c)
{
    hf__multis_stop(c);
    hf__pump_lock(&c->pump);
    while (c->calls > 0) pthread_cond_wait(&c->calls_over, &c->pump.mutex);
    hf__pump_unlock(&c->pump);
}

/* ---- opening and closing ------------------------------------------------ */

static char *copy_or_null(const struct allocator *a, const char *text,
                          int *failed)
{
    if (!text) return NULL;
    char *copy = hf__strdup(a, text);
    if (!copy) *failed = 1;
    return copy;
}

static void client_free(hf_client *c)
{
    struct allocator a = c->alloc;
    hf__fallback_free(c);
    pthread_cond_destroy(&c->calls_over);
    hf__members_close(c);
    hf__free(&a, c->url);
    hf__free(&a, c->user);
    hf__free_secret(&a, c->password);
    hf__free(&a, c->password_file);
    hf__free(&a, c->info);
    hf__free(&a, c);
}

static char *url_show(const struct allocator *a, const char *text,
                      const struct members *m, int *failed)
{
    char redacted[URL_LEN_MAX + 8];
    if (!m) {
        hf__url_redact(text, redacted, sizeof redacted);
        return copy_or_null(a, redacted, failed);
    }
    char *shown = hf__members_shown(m, a, text);
    if (!shown) *failed = 1;
    return shown;
}

const char *hf__password_of(const struct hf_client_options *o,
                            const struct url *url)
{
    if (o->password) return o->password;
    return o->password_file ? NULL : url->password;
}

static int client_fill(hf_client *c, const struct url *url, const char *text,
                       const struct members *m,
                       const struct hf_client_options *o)
{
    struct engine *e = &c->pump.engine;
    int failed = 0;
    const char *label = o->label ? o->label : hf__url_option(url, "label");
    c->url = url_show(&c->alloc, text, m, &failed);
    c->user = copy_or_null(&c->alloc, o->user ? o->user : url->user, &failed);
    c->password = copy_or_null(&c->alloc, hf__password_of(o, url), &failed);
    c->password_file = copy_or_null(&c->alloc, o->password_file, &failed);
    c->info = info_make(&c->alloc, label);
    if (failed || !c->info) return HF_NOMEM;
    c->log = o->log;
    c->log_user = o->log_user;
    c->log_level = o->log_level ? o->log_level : HF_LOG_WARN;
    c->pump.told = hf__election_told;
    c->pump.on_state = o->on_state;
    c->pump.state_user = o->state_user;
    c->pump.own_loop = (o->flags & HF_CLIENT_OWN_LOOP) != 0;
    if (e->host) e->host->store = c->url;
    e->alloc = &c->alloc;
    e->info = c->info;
    e->log = client_log;
    e->clock = hf__clock_us;
    e->conf.nodes = e->conf.quorum = 1;
    e->conf.request_flags = REQ_SERVER_FENCE;
    e->backend_conf =
        (struct backend_conf){.user = c->user,
                              .password = c->password,
                              .password_file = c->password_file,
                              .timeout_us = c->timeout_us,
                              .uuid = e->uuid,
                              .takes_replica = (o->flags & CLIENT_ASKS) != 0};
    if (hf__random_uuid(e->uuid) != 0
        || hf__random_bytes(e->conf.ticket_seed, TICKET_SEED_LEN) != 0)
        return HF_INTERNAL;
    return hf__random_bytes(&e->random, sizeof e->random) == 0 ? HF_OK
                                                               : HF_INTERNAL;
}

static int node_start(hf_client *c, const struct backend *b,
                      const struct url *url, struct hf_error *err)
{
    struct engine *e = &c->pump.engine;
    int status = hf__node_open(e, &e->nodes[0], 0, b, url, err);
    if (status != HF_OK) return status;
    e->caps = b->conn_caps ? b->conn_caps(e->nodes[0].conn) : b->caps;
    return HF_OK;
}

static int client_start(hf_client *c, const struct backend *b,
                        const struct url *url, const struct members *m,
                        const struct hf_client_options *o, struct hf_error *err)
{
    struct engine *e = &c->pump.engine;
    int status = hf__engine_open(e, hf__clock_us());
    if (status != HF_OK)
        return hf__error_set(err, status, "client: %s", hf_status_text(status));
    status = m ? hf__members_open(c, m, o, err) : node_start(c, b, url, err);
    if (status != HF_OK) return status;
    if (e->conf.handover > 0 && !(e->caps & HF_CAP_FENCE))
        return hf__error_set(err, HF_UNSUPPORTED,
                             "client: handover: needs fencing tokens, and %s "
                             "gives none",
                             c->url);
    if (e->conf.handover > 0 && e->caps & HF_CAP_IN_ORDER)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "client: handover: %s serves all in order, and "
                             "lets no holder of a process go first",
                             c->url);
    return hf__pump_begin(&c->pump, err);
}

static int client_open(const char *text, const struct url *url,
                       const struct backend *b, const struct members *m,
                       const struct hf_client_options *o, hf_client **out,
                       struct hf_error *err)
{
    struct allocator a = hf__alloc_default;
    if (o->allocator.allocate) a.fn = o->allocator;
    hf_client *c = hf__alloc_zero(&a, sizeof *c);
    if (!c) return hf__error_set(err, HF_NOMEM, "client: out of memory");
    c->alloc = a;
    pthread_cond_init(&c->calls_over, NULL);
    int status = options_read(c, url, o, err);
    if (status == HF_OK) {
        status = client_fill(c, url, text, m, o);
        if (status != HF_OK)
            hf__error_set(err, status, "client: %s", hf_status_text(status));
    }
    if (status != HF_OK) {
        client_free(c);
        return status;
    }
    status = hf__pump_open(&c->pump, err);
    if (status == HF_OK) status = client_start(c, b, url, m, o, err);
    if (status != HF_OK) {
        hf__pump_close(&c->pump, 0);
        client_free(c);
        return status;
    }
    *out = c;
    return HF_OK;
}

static int options_check(const struct hf_client_options *o,
                         struct hf_error *err)
{
    const struct hf_allocator *a = &o->allocator;
    if (o->flags & ~HF_CLIENT_OWN_LOOP)
        return hf__error_set(err, HF_INVALID, "client: flags 0x%x: unknown",
                             o->flags & ~HF_CLIENT_OWN_LOOP);
    if (!a->allocate != !a->resize || !a->allocate != !a->release)
        return hf__error_set(err, HF_INVALID,
                             "client: allocator: all three functions or none");
    if (o->password && o->password_file)
        return hf__error_set(err, HF_INVALID,
                             "client: password and password_file: only one of "
                             "them can be used");
    return HF_OK;
}

static int quorum_open(const char *url, struct url *parsed,
                       const struct hf_client_options *o, hf_client **out,
                       struct hf_error *err)
{
    struct allocator a = hf__alloc_default;
    struct members m;
    if (o->allocator.allocate) a.fn = o->allocator;
    int status = hf__members_parse(&m, &a, url, err);
    if (status == HF_OK) status = hf__url_parse(parsed, m.options, err);
    if (status == HF_OK) status = hf__options_known(parsed, NULL, err);
    if (status == HF_OK)
        status = client_open(url, parsed, NULL, &m, o, out, err);
    hf__members_free(&m, &a);
    return status;
}

static int url_open(const char *url, struct url *parsed,
                    const struct hf_client_options *o, hf_client **out,
                    struct hf_error *err)
{
    struct hf_error own;
    if (!err) err = &own; /* its status is what we return */
    if (hf__members_are_in(url)) return quorum_open(url, parsed, o, out, err);
    int status = hf__url_parse(parsed, url, err);
    if (status != HF_OK) return status;
    const struct backend *b = hf__backend_find(parsed->scheme, err);
    if (!b) return err->status;
    status = hf__options_known(parsed, b, err);
    if (status != HF_OK) return status;
    return client_open(url, parsed, b, NULL, o, out, err);
}

static int open_with(const char *url, const struct hf_client_options *options,
                     unsigned own_flags, hf_client **out, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    struct url parsed = {.text = ""};
    int status = HF_OK;
    if (options)
        status =
            hf__options_copy(&o, sizeof o, options, options->struct_size, err);
    if (status == HF_OK) status = options_check(&o, err);
    if (status != HF_OK) return status;
    o.flags |= own_flags;
    status = url_open(url ? url : "file:", &parsed, &o, out, err);
    hf__wipe(parsed.text, sizeof parsed.text); /* it may hold a password */
    return status;
}

int hf_client_open(const char *url, const struct hf_client_options *options,
                   hf_client **out, struct hf_error *err)
{
    return open_with(url, options, 0, out, err);
}

int hf__client_open_to_ask(const char *url,
                           const struct hf_client_options *options,
                           hf_client **out, struct hf_error *err)
{
    return open_with(url, options, CLIENT_ASKS, out, err);
}

void hf_client_close(hf_client *c)
{
    /* In a forked child the state may be inconsistent: other threads of the
     * parent may have been changing it.  The memory goes with the process. */
    if (!c || c->pump.forked) return;
    hf__handles_shut(c);
    hf__pump_shut(&c->pump);
    calls_wait(c);
    /* With HF_CLIENT_OWN_LOOP no thread of ours pumps: the callbacks of what
     * other threads have started meanwhile are called here.  An operation that
     * is not on a hold ends when its answer comes. */
    while (!hf__handles_wait(c)) {
        hf__pump_shut(&c->pump);
        hf__pump_process(&c->pump);
        (void)poll(NULL, 0, 1);
    }
    hf__handles_free(c);
    hf__pump_close(&c->pump, c->timeout_us);
    hf__objects_free(c); /* their last callbacks have run */
    client_free(c);
}

/* ---- small questions ---------------------------------------------------- */

unsigned hf_client_caps(const hf_client *c)
{
    return c->pump.forked ? 0 : c->pump.engine.caps;
}

const char *hf_client_url(const hf_client *c)
{
    return c->url;
}

int hf_client_event_fd(hf_client *c)
{
    return c->pump.forked ? -1 : hf__pump_event_fd(&c->pump);
}

int hf_client_next_event(hf_client *c, struct hf_event *out)
{
    struct hf_event found;
    if (c->pump.forked) return HF_EMPTY;
    int status = hf__result_check(out, NULL);
    if (status == HF_OK) status = hf__pump_next_event(&c->pump, &found);
    if (status == HF_OK) hf__result_fill(out, &found);
    return status;
}

int hf_client_fd(hf_client *c)
{
    return c->pump.forked || !c->pump.own_loop ? -1 : c->pump.loop_fd;
}

int hf_client_process(hf_client *c)
{
    if (c->pump.forked) return HF_FORKED;
    if (!c->pump.own_loop) return HF_INVALID;
    hf__pump_process(&c->pump);
    return HF_OK;
}

int64_t hf_client_timeout_ms(hf_client *c)
{
    if (c->pump.forked) return -1;
    hf__pump_lock(&c->pump);
    int64_t next = hf__engine_next_us(&c->pump.engine);
    hf__pump_unlock(&c->pump);
    if (next == TIME_NEVER) return -1;
    int64_t left = next - hf__clock_us();
    return left <= 0 ? 0 : (left + US_PER_MS - 1) / US_PER_MS;
}

/* ---- cancelling --------------------------------------------------------- */

struct token {
    struct hf_cancel cancel; /* first */
    struct deep_object object;
};

static void token_free(struct token *t)
{
    pthread_mutex_destroy(&t->cancel.listeners_mutex);
    hf__free(t->cancel.pump->engine.alloc, t);
}

static void token_object_free(hf_client *c, struct object *o)
{
    (void)c;
    token_free((struct token *)((char *)o - offsetof(struct token, object)));
}

int hf_cancel_open(hf_client *client, hf_cancel **out)
{
    if (client->pump.forked) return HF_FORKED;
    struct token *t = hf__alloc_zero(&client->alloc, sizeof *t);
    if (!t) return HF_NOMEM;
    hf_cancel *c = &t->cancel;
    c->pump = &client->pump;
    atomic_init(&c->fired, 0);
    atomic_init(&c->firing, 0);
    atomic_init(&c->listeners, NULL);
    pthread_mutex_init(&c->listeners_mutex, NULL);
    hf__deep_object_add(client, &t->object, token_object_free);
    *out = c;
    return HF_OK;
}

void hf_cancel_fire(hf_cancel *cancel)
{
    if (!cancel->pump->forked) hf__cancel_fire(cancel);
}

void hf_cancel_reset(hf_cancel *cancel)
{
    atomic_store(&cancel->fired, 0);
}

void hf_cancel_close(hf_cancel *cancel)
{
    if (!cancel || cancel->pump->forked) return;
    struct token *t = (struct token *)cancel;
    hf__object_remove((hf_client *)cancel->pump, &t->object.object);
    token_free(t);
}
