/*
 * fallback.c: the client of this host that stands in for a store that cannot be
 * reached.
 *
 * The rule: it is opened when it is first needed, used only between enter and
 * leave, and closed when the last user has left.
 */
#include "api/fallback.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/math.h"
#include "sys/clock.h"

struct fallback {
    char *url;             /* of the client of this host */
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t idle;   /* the last user has left */
    hf_client *host;       /* NULL: not needed so far */
    int users;
    int is_closing;
    int is_down;     /* holds of this host were given instead of the store's */
    int64_t down_us; /* the last of them */
};

/* ---- options ------------------------------------------------------------ */

static int policy_of(const char *text)
{
    if (!strcmp(text, "fail")) return HF_FALLBACK_FAIL;
    if (!strcmp(text, "wait")) return HF_FALLBACK_WAIT;
    return strcmp(text, "local") == 0 ? HF_FALLBACK_LOCAL : -1;
}

static int policy_read(const struct url *url, int32_t given, int *out,
                       struct hf_error *err)
{
    const char *text = hf__url_option(url, "fallback");
    int said = text ? policy_of(text) : HF_FALLBACK_FAIL;
    if (said < 0)
        return hf__error_set(err, HF_INVALID,
                             "url: fallback=%.40s: not fail, wait or local",
                             text);
    if (given < HF_FALLBACK_DEFAULT || given > HF_FALLBACK_LOCAL)
        return hf__error_set(err, HF_INVALID,
                             "client: fallback of %d: not an enum hf_fallback",
                             (int)given);
    *out = given != HF_FALLBACK_DEFAULT ? (int)given : said;
    if (hf__url_option(url, "fallback_dir") && *out != HF_FALLBACK_LOCAL
        && said != HF_FALLBACK_LOCAL)
        return hf__error_set(err, HF_INVALID,
                             "url: fallback_dir: only with fallback=local");
    return HF_OK;
}

/* "file:" and the directory, percent-encoded.  0, or -1 if it is too long. */
static int host_url(const char *dir, char *out, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char kept[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-~";
    size_t n = (size_t)snprintf(out, size, "file:");
    for (; dir && *dir; dir++) {
        unsigned char b = (unsigned char)*dir;
        if (n + sizeof "%00?slash=name" > size) return -1;
        if (strchr(kept, b)) {
            out[n++] = (char)b;
        } else {
            out[n++] = '%';
            out[n++] = digits[b >> 4];
            out[n++] = digits[b & 15];
        }
    }
    /* The store's names mean no files of this host. */
    snprintf(out + n, size - n, "?slash=name");
    return 0;
}

static int local_read(hf_client *c, const struct url *url, struct hf_error *err)
{
    char text[URL_LEN_MAX];
    const char *dir = hf__url_option(url, "fallback_dir");
    if (!strcmp(url->scheme, "file") || !strcmp(url->scheme, "memory"))
        return hf__error_set(err, HF_INVALID,
                             "client: fallback=local: %s: is a store of this "
                             "host already",
                             url->scheme);
    if (dir && *dir != '/')
        return hf__error_set(err, HF_INVALID,
                             "url: fallback_dir=%.60s: not an absolute path",
                             dir);
    if (host_url(dir, text, sizeof text) != 0)
        return hf__error_set(err, HF_INVALID, "url: fallback_dir: too long");
    struct fallback *f = hf__alloc_zero(&c->alloc, sizeof *f);
    if (f) f->url = hf__strdup(&c->alloc, text);
    if (!f || !f->url) {
        hf__free(&c->alloc, f);
        return hf__error_set(err, HF_NOMEM, "client: out of memory");
    }
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->idle, NULL);
    c->fallback = f;
    return HF_OK;
}

int hf__fallback_read(hf_client *c, const struct url *url, int32_t given,
                      struct hf_error *err)
{
    int policy = HF_FALLBACK_FAIL;
    int status = policy_read(url, given, &policy, err);
    if (status != HF_OK) return status;
    c->pump.engine.conf.is_patient = policy == HF_FALLBACK_WAIT;
    return policy == HF_FALLBACK_LOCAL ? local_read(c, url, err) : HF_OK;
}

/* ---- opening ------------------------------------------------------------ */

/* Its holds are this client's: they are told where this client's are. */
static void host_told(const struct hf_event *ev, void *user)
{
    struct pump *p = &((hf_client *)user)->pump;
    struct hf_event own = *ev;
    own.fence = 0;
    hf__pump_event_add(p, &own);
    if (p->on_state) p->on_state(&own, p->state_user);
}

/* The label in "<pid> <host> <label>". */
static const char *label_of(const char *info)
{
    for (int blanks = 0; *info && blanks < 2; info++) blanks += *info == ' ';
    return info;
}

static int host_make(hf_client *c, hf_client **out, struct hf_error *err)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    const struct engine *e = &c->pump.engine;
    o.flags = c->pump.own_loop ? HF_CLIENT_OWN_LOOP : 0;
    o.lease_ms = e->lease_us / US_PER_MS;
    o.timeout_ms = e->conf.timeout_us / US_PER_MS;
    o.patience_ms = e->conf.patience_us / US_PER_MS;
    o.drift_ppm = e->conf.drift_ppm;
    o.label = label_of(c->info);
    o.allocator = c->alloc.fn;
    o.log = c->log;
    o.log_user = c->log_user;
    o.log_level = c->log_level;
    o.on_state = host_told;
    o.state_user = c;
    return hf_client_open(c->fallback->url, &o, out, err);
}

/* Mutex held: it is the one, from now on. */
static int host_install(hf_client *c, hf_client *host, struct hf_error *err)
{
    if (c->pump.own_loop && hf__loop_join(&host->pump, &c->pump) != 0)
        return hf__error_set(err, HF_NOMEM, "client: own loop: not joined");
    atomic_store(&c->pump.also, &host->pump);
    c->fallback->host = host;
    return HF_OK;
}

/* ---- using it ----------------------------------------------------------- */

static int client_is_closed(struct hf_error *err)
{
    return hf__error_set(err, HF_CLOSED, "client: %s",
                         hf_status_text(HF_CLOSED));
}

/* Make one, without the mutex: that runs the user's allocator, and his log.  If
 * somebody else was faster, ours is not needed. */
static int host_add(hf_client *c, struct hf_error *err)
{
    struct fallback *f = c->fallback;
    hf_client *host = NULL;
    int status = host_make(c, &host, err);
    if (status != HF_OK) return status;
    pthread_mutex_lock(&f->mutex);
    if (f->is_closing)
        status = client_is_closed(err);
    else if (!f->host)
        status = host_install(c, host, err);
    int is_it = f->host == host;
    pthread_mutex_unlock(&f->mutex);
    if (!is_it) hf_client_close(host);
    return status;
}

int hf__host_open(hf_client *c, hf_client **out, struct hf_error *err)
{
    struct fallback *f = c->fallback;
    pthread_mutex_lock(&f->mutex);
    int is_closing = f->is_closing, is_there = f->host != NULL;
    if (!is_closing) f->users++;
    pthread_mutex_unlock(&f->mutex);
    if (is_closing) return client_is_closed(err);
    int status = is_there ? HF_OK : host_add(c, err);
    if (status == HF_OK)
        *out = f->host; /* it stays, as long as it has users */
    else
        hf__host_leave(c);
    return status;
}

hf_client *hf__host_enter(hf_client *c)
{
    struct fallback *f = c->fallback;
    hf_client *host = NULL;
    if (!f) return NULL;
    pthread_mutex_lock(&f->mutex);
    if (f->host && !f->is_closing) {
        f->users++;
        host = f->host;
    }
    pthread_mutex_unlock(&f->mutex);
    return host;
}

void hf__host_leave(hf_client *c)
{
    struct fallback *f = c->fallback;
    pthread_mutex_lock(&f->mutex);
    if (--f->users == 0 && f->is_closing) pthread_cond_signal(&f->idle);
    pthread_mutex_unlock(&f->mutex);
}

void hf__fallback_process(hf_client *c)
{
    hf_client *host = hf__host_enter(c);
    if (!host) return;
    hf__pump_process(&host->pump);
    hf__host_leave(c);
}

int64_t hf__fallback_timeout_ms(hf_client *c, int64_t timeout_ms)
{
    hf_client *host = hf__host_enter(c);
    if (!host) return timeout_ms;
    int64_t own_ms = hf_client_timeout_ms(host);
    hf__host_leave(c);
    if (own_ms < 0 || timeout_ms < 0) return max64(own_ms, timeout_ms);
    return min64(own_ms, timeout_ms);
}

/* ---- telling ------------------------------------------------------------ */

static void client_warn(hf_client *c, const char *where, const char *what,
                        const char *why)
{
    hf__client_warn(c, "%.100s: %s%s%.250s", where, what, *why ? ": " : "",
                    why);
}

void hf__host_granted(hf_client *c, const char *name, const char *why,
                      int is_down)
{
    struct fallback *f = c->fallback;
    if (is_down) {
        pthread_mutex_lock(&f->mutex);
        f->is_down = 1;
        f->down_us = hf__clock_us();
        pthread_mutex_unlock(&f->mutex);
    }
    client_warn(c, name, "held on this host only", why);
}

void hf__store_heard(hf_client *c)
{
    struct fallback *f = c->fallback;
    hf__pump_lock(&c->pump);
    int64_t answered_us = c->pump.engine.answered_us;
    hf__pump_unlock(&c->pump);
    pthread_mutex_lock(&f->mutex);
    int is_back = f->is_down && answered_us > f->down_us;
    if (is_back) f->is_down = 0;
    pthread_mutex_unlock(&f->mutex);
    if (is_back) client_warn(c, c->url, "answers again", "");
}

/* ---- the end ------------------------------------------------------------ */

void hf__fallback_close(hf_client *c)
{
    struct fallback *f = c->fallback;
    if (!f) return;
    /* Both at once: a callback of the one may wait for the other. */
    hf__pump_shut(&c->pump);
    pthread_mutex_lock(&f->mutex);
    f->is_closing = 1;
    hf_client *host = f->host;
    pthread_mutex_unlock(&f->mutex);
    if (host) hf__pump_shut(&host->pump);
    pthread_mutex_lock(&f->mutex);
    while (f->users > 0) pthread_cond_wait(&f->idle, &f->mutex);
    f->host = NULL;
    pthread_mutex_unlock(&f->mutex);
    atomic_store(&c->pump.also, NULL);
    hf_client_close(host);
}

void hf__fallback_free(hf_client *c)
{
    struct fallback *f = c->fallback;
    if (!f) return;
    pthread_mutex_destroy(&f->mutex);
    pthread_cond_destroy(&f->idle);
    hf__free(&c->alloc, f->url);
    hf__free(&c->alloc, f);
}
