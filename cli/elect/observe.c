/*
 * elect/observe.c: who leads, and every change of it.
 *
 * What is printed was so when the store was asked; it is for people and
 * monitors, not for deciding whether to go on.
 */
#include "common/exit.h"
#include "common/say.h"
#include "elect/observe.h"
#include "session/holder.h"
#include "session/interrupt.h"
#include "session/session.h"

#include <poll.h>
#include <stdio.h>

#define AGAIN_MS 1000 /* the store could not be asked */

static void leader_text(const struct session *s, const struct hf_leader *l)
{
    struct hf_info info = {.locked = 1,
                           .fence = l->fence,
                           .since_ms = l->since_ms,
                           .now_ms = l->now_ms,
                           .ttl_ms = l->ttl_ms,
                           .pid = l->pid};
    char holder[HOLDER_TEXT_MAX], value[TEXT_ESCAPED_MAX];
    if (!l->is_led) {
        printf("%s: no leader\n", s->shown);
        return;
    }
    snprintf(info.owner, sizeof(info.owner), "%s", l->owner);
    snprintf(info.host, sizeof(info.host), "%s", l->host);
    snprintf(info.label, sizeof(info.label), "%s", l->label);
    printf("%s: led by %s", s->shown,
           holder_text(&info, holder, sizeof(holder)));
    if (l->data) printf(": %s", text_escape(l->data, value, sizeof(value)));
    putchar('\n');
}

static void leader_json(const char *name, const struct hf_leader *l)
{
    struct json j;
    json_begin(&j);
    json_text(&j, "election", name);
    json_bool(&j, "led", l->is_led);
    if (l->is_led) {
        json_uint(&j, "fence", l->fence);
        if (l->since_ms > 0) json_int(&j, "since_ms", l->since_ms);
        if (l->now_ms > 0) json_int(&j, "now_ms", l->now_ms);
        if (l->ttl_ms >= 0) json_int(&j, "ttl_ms", l->ttl_ms);
        if (l->owner[0]) json_text(&j, "owner", l->owner);
        if (l->host[0]) json_text(&j, "host", l->host);
        if (l->pid > 0) json_int(&j, "pid", l->pid);
        if (l->label[0]) json_text(&j, "label", l->label);
    }
    if (l->data) {
        json_uint(&j, "value_bytes", l->len);
        json_text(&j, "value", l->data);
    }
    json_end(&j);
    fputs(j.buf, stdout);
}

static int leader_print(const struct session *s, const struct options *o,
                        const char *name, const struct hf_leader *l)
{
    if (o->quiet) return EXIT_OK;
    if (o->json)
        leader_json(name, l);
    else
        leader_text(s, l);
    return stdout_end();
}

/* A store that cannot be asked now may be asked later. */
static int change_missed(const struct session *s, const struct hf_error *err)
{
    session_warn(s, "", err->text);
    (void)poll(NULL, 0, AGAIN_MS);
    return interrupt_signal();
}

static int follow(struct session *s, const struct options *o, const char *name,
                  hf_election *e, struct hf_leader *seen)
{
    struct hf_await_options ao = HF_AWAIT_OPTIONS_INIT;
    struct hf_error err = {0};
    int code = EXIT_OK, sig = 0;
    int status = hf_cancel_open(s->client, &ao.cancel);
    if (status != HF_OK) return session_fail(s, status, &err);
    interrupt_setup(ao.cancel);
    while (!code && !sig) {
        status = hf_election_await(e, seen, &ao, seen, &err);
        if (status == HF_OK) {
            code = leader_print(s, o, name, seen);
            hf_leader_free(e, seen);
        } else if (status == HF_UNAVAILABLE) {
            sig = change_missed(s, &err);
        } else if (status == HF_CANCELLED) {
            sig = interrupt_signal();
        } else {
            code = session_fail(s, status, &err);
        }
    }
    interrupt_setup(NULL);
    hf_cancel_close(ao.cancel);
    return sig ? EXIT_SIGNAL + sig : code;
}

static int observe(struct session *s, const struct options *o, const char *name,
                   hf_election *e)
{
    struct hf_leader l = HF_LEADER_INIT;
    struct hf_error err = {0};
    int status = hf_election_look(e, &l, &err);
    if (status != HF_OK) return session_fail(s, status, &err);
    int code = leader_print(s, o, name, &l);
    hf_leader_free(e, &l);
    if (!code && o->follow) return follow(s, o, name, e, &l);
    return code ? code : l.is_led ? EXIT_OK : EXIT_FREE;
}

int elect_observe(const struct options *o, const char *name)
{
    struct session s;
    struct hf_error err = {0};
    hf_election *e;
    say_setup(o->quiet, o->verbose, -1);
    int code = session_open(&s, o, name, HF_CLIENT_OWN_LOOP, NULL, NULL);
    if (code) return code;
    int status = hf_election_open(s.client, name, NULL, &e, &err);
    if (status == HF_OK) {
        code = observe(&s, o, name, e);
        hf_election_close(e);
    } else {
        code = session_fail(&s, status, &err);
    }
    session_close(&s);
    return code;
}
