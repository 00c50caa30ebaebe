/*
 * settings.c: what a client was set to, and what a URL says by itself.
 *
 * The rule: nothing is asked of a store, and no password is told.
 */
#include <string.h>

#include "api/quorum/members.h"
#include "backend/registry.h"

/* ---- of a client -------------------------------------------------------- */

static int fallback_of(const hf_client *c)
{
    if (c->pump.engine.host) return HF_FALLBACK_LOCAL;
    return c->pump.engine.conf.is_patient ? HF_FALLBACK_WAIT : HF_FALLBACK_FAIL;
}

/* c->info is "<pid> <host> <label>", and a host has no blank in it. */
static const char *label_of(const hf_client *c)
{
    const char *host = strchr(c->info, ' ');
    const char *label = host ? strchr(host + 1, ' ') : NULL;
    return label ? label + 1 : "";
}

static void settings_fill(const hf_client *c, struct hf_client_options *o)
{
    const struct engine *e = &c->pump.engine;
    int64_t spin_us = c->pump.spin.limit_us;
    o->flags = c->pump.own_loop ? HF_CLIENT_OWN_LOOP : 0;
    o->lease_ms = e->lease_us / US_PER_MS;
    o->timeout_ms = c->timeout_us / US_PER_MS;
    o->patience_ms = e->conf.patience_us / US_PER_MS;
    o->drift_ppm = e->conf.drift_ppm;
    o->spin_us = spin_us > 0 ? spin_us : -1;
    o->user = c->user;
    o->label = label_of(c);
    o->allocator = c->alloc.fn;
    o->log = c->log;
    o->log_user = c->log_user;
    o->log_level = c->log_level;
    o->on_state = c->pump.on_state;
    o->state_user = c->pump.state_user;
    o->fallback = fallback_of(c);
    o->handover = (int32_t)e->conf.handover;
    o->handover_ms = e->conf.handover_us / US_PER_MS;
    o->password_file = c->password_file;
}

int hf_client_settings(const hf_client *client, struct hf_client_options *out,
                       struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    int status = hf__result_check(out, err);
    if (status != HF_OK) return status;
    settings_fill(client, &o);
    hf__result_fill(out, &o);
    return HF_OK;
}

/* ---- of a URL ----------------------------------------------------------- */

/* 1 if the text has a password, which is left out where the text is shown. */
static int has_secret(const char *text)
{
    char shown[URL_LEN_MAX + 8];
    if (strlen(text) >= sizeof shown) return strchr(text, '@') != NULL;
    hf__url_redact(text, shown, sizeof shown);
    return strcmp(shown, text) != 0;
}

static unsigned scheme_traits(const char *scheme)
{
    if (!strcmp(scheme, "redis-sentinel")) return HF_URL_SENTINEL;
    if (!strcmp(scheme, "redis-cluster")) return HF_URL_CLUSTER;
    if (!strcmp(scheme, "memory")) return HF_URL_PROCESS | HF_URL_HOST;
    return hf__word_is_in(scheme, "file sqlite redis+unix rediss+unix")
               ? HF_URL_HOST
               : 0;
}

static int is_relative(const struct url *url)
{
    return !strcmp(url->scheme, "sqlite")
           && (!url->path || url->path[0] != '/');
}

static unsigned one_traits(const char *text)
{
    struct url url;
    unsigned traits = has_secret(text) ? HF_URL_PASSWORD | HF_URL_LOGIN : 0;
    if (hf__url_parse(&url, text, NULL) == HF_OK) {
        const char *format = hf__url_option(&url, "format");
        traits |= scheme_traits(url.scheme);
        if (format && !strcmp(format, "string")) traits |= HF_URL_STRING;
        if (url.options_len > 0) traits |= HF_URL_OPTIONS;
        if (is_relative(&url)) traits |= HF_URL_RELATIVE;
        if (url.user || hf__url_option(&url, "password_file"))
            traits |= HF_URL_LOGIN;
    }
    hf__wipe(url.text, sizeof url.text);
    return traits;
}

/* What a quorum has if one of its members has it. */
#define MEMBER_TRAITS                                                          \
    (HF_URL_PASSWORD | HF_URL_STRING | HF_URL_HOST | HF_URL_RELATIVE           \
     | HF_URL_LOGIN)

static unsigned quorum_traits(const char *text)
{
    const struct allocator *a = &hf__alloc_default;
    struct members m;
    unsigned traits = 0;
    if (hf__members_parse(&m, a, text, NULL) == HF_OK) {
        for (int i = 0; i < m.len; i++) traits |= one_traits(m.texts[i]);
    } else if (has_secret(text)) {
        traits = HF_URL_PASSWORD | HF_URL_LOGIN;
    }
    hf__members_free(&m, a);
    return HF_URL_QUORUM | (traits & MEMBER_TRAITS);
}

unsigned hf_url_traits(const char *url)
{
    if (!url) url = "file:";
    return hf__members_are_in(url) ? quorum_traits(url) : one_traits(url);
}
