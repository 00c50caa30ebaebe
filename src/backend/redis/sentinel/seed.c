/*
 * seed.c: the Sentinels themselves.  One rule: each is asked by one
 * request at a time, and an answer, or that there is none, is told once.
 */
#include <string.h>

#include "backend/redis/inner/bounds.h"
#include "backend/redis/inner/inner.h"
#include "backend/redis/link/link.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/sentinel/sentinel.h"
#include "base/error.h"

#define SWITCH_CHANNEL "+switch-master"

static int64_t now_us(const struct sentinel *s)
{
    return s->env->now(s->env);
}

static void seed_open(struct seed *d)
{
    struct sentinel *s = d->s;
    s->url->host = d->host;
    s->url->port = d->port;
    d->is_open = hf__redis_inner_open(&s->inners, &d->n, &s->asker,
                                      &s->asker_conf, s->url, &d->err)
                 == HF_OK;
    d->is_up = d->is_listener = d->cannot_listen = 0;
}

static void seed_ask(struct seed *d)
{
    struct sentinel *s = d->s;
    if (!d->is_open) seed_open(d);
    if (!d->is_open || d->n.is_dropped || d->is_asked) return;
    d->ask =
        (struct request){.verb = VERB_PRIMARY,
                         .flags = s->is_up ? 0 : REQ_PROMOTED,
                         .name = s->name,
                         .name_len = strlen(s->name),
                         .deadline_us = now_us(s) + s->env->conf->timeout_us};
    d->is_asked = 1;
    hf__redis_inner_submit(&d->n, &d->ask);
}

void hf__redis_seeds_ask(struct sentinel *s)
{
    for (int i = 0; i < s->seeds_len; i++) seed_ask(&s->seeds[i]);
}

void hf__redis_seeds_confirm(struct sentinel *s)
{
    for (int i = 0; i < s->seeds_len; i++) {
        struct seed *d = &s->seeds[s->turn];
        s->turn = (s->turn + 1) % s->seeds_len;
        if (d->is_asked) continue;
        seed_ask(d);
        if (d->is_asked) return;
    }
}

/* ---- listening ---- */

static int listener_is_there(const struct sentinel *s)
{
    for (int i = 0; i < s->seeds_len; i++)
        if (s->seeds[i].is_listener) return 1;
    return 0;
}

static void listener_open(struct seed *d)
{
    d->watch = (struct request){.verb = VERB_WATCH,
                                .name = SWITCH_CHANNEL,
                                .name_len = strlen(SWITCH_CHANNEL),
                                .deadline_us =
                                    now_us(d->s) + d->s->env->conf->timeout_us};
    d->is_listener = d->is_watched = 1;
    hf__redis_inner_submit(&d->n, &d->watch);
}

static int seed_can_listen(const struct seed *d)
{
    return d->is_up && !d->is_watched && !d->cannot_listen && !d->n.is_dropped;
}

static void listener_choose(struct sentinel *s)
{
    if (listener_is_there(s)) return;
    for (int i = 0; i < s->seeds_len; i++)
        if (seed_can_listen(&s->seeds[i])) {
            listener_open(&s->seeds[i]);
            return;
        }
}

/* ---- what an asker tells ---- */

/* With a primary, and a Sentinel to listen to, the others are not needed. */
void hf__redis_seeds_trim(struct sentinel *s)
{
    int has_listener = 0;
    for (int i = 0; i < s->seeds_len; i++)
        if (s->seeds[i].is_listener && s->seeds[i].is_up) has_listener = 1;
    for (int i = 0; s->is_up && has_listener && i < s->seeds_len; i++) {
        struct seed *d = &s->seeds[i];
        if (d->is_open && !d->is_listener && !d->is_asked)
            hf__redis_inner_drop(&d->n);
    }
}

void hf__redis_seed_link(struct seed *d, int up, const struct hf_error *err)
{
    struct sentinel *s = d->s;
    d->is_up = up != LINK_IS_DOWN;
    if (d->is_up)
        hf__redis_bounds_learn(&s->bounds, d->host,
                               hf__redis_link_addr(&d->n.conn->main));
    if (!d->is_up && d->is_listener) {
        d->is_listener = 0;
        hf__redis_sentinel_soon(s); /* what it would have told may be missed */
    }
    if (!d->is_up && err) d->err = *err;
    listener_choose(s);
    hf__redis_seeds_trim(s);
}

/* The Sentinel names a host that must not get the password; logged once. */
static void master_refuse(struct seed *d, const struct master *m)
{
    struct sentinel *s = d->s;
    int is_news = d->err.status != HF_DENIED;
    hf__error_set(&d->err, HF_DENIED, "%s: it leads to %.60s:%d: %s",
                  d->n.conn->endpoint, m->host, m->port,
                  hf__redis_bounds_text(&s->bounds));
    if (is_news) s->env->log(s->env, HF_LOG_WARN, d->err.text);
}

static void master_heard(struct seed *d, const struct master *m)
{
    if (!hf__redis_bounds_allow_text(&d->s->bounds, m->host)) {
        master_refuse(d, m);
        return;
    }
    d->err.status = HF_OK;
    hf__redis_sentinel_heard(d->s, m);
}

void hf__redis_seed_reply(struct seed *d, const struct request *req,
                          const struct reply *reply)
{
    struct sentinel *s = d->s;
    if (req == &d->watch) {
        d->is_watched = 0;
        if (reply->verdict == V_GRANTED) return;
        d->is_listener = 0;
        d->cannot_listen = reply->verdict == V_ERROR;
        listener_choose(s);
        hf__redis_seeds_trim(s);
        return;
    }
    d->is_asked = 0;
    if (reply->verdict == V_GRANTED)
        master_heard(d, reply->data);
    else
        hf__error_set(&d->err, reply->status, "%s",
                      reply->text ? reply->text : "no answer");
    hf__redis_sentinel_judge(s);
    hf__redis_seeds_trim(s);
}

void hf__redis_seed_dropped(struct seed *d)
{
    d->is_open = d->is_up = d->is_listener = 0;
    if (!d->s->is_up) hf__redis_sentinel_soon(d->s);
}
