/*
 * greet.c: the first commands on a link.  One rule: all of them go out in
 * one write, and no request before all are answered.
 */
#include <string.h>

#include "backend/redis/link/error.h"
#include "backend/redis/link/link.h"
#include "backend/redis/member/alone.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"
#include "backend/redis/replica/aof.h"
#include "backend/redis/replica/role.h"
#include "backend/redis/replica/wait.h"
#include "backend/redis/sentinel/ask.h"
#include "backend/redis/watch/watch.h"

#define STALE_US (500 * US_PER_MS) /* an older answer to TIME is asked again */

/* Of each format, and of both. */
static const struct redis_script *const scripts[2][3] = {
    {&hf__redis_script_acquire, &hf__redis_script_renew,
     &hf__redis_script_release},
    {&hf__redis_script_string_acquire, &hf__redis_script_string_renew,
     &hf__redis_script_string_release},
};
static const struct redis_script *const scripts_both[] = {
    &hf__redis_script_break,       &hf__redis_script_inspect,
    &hf__redis_script_list,        &hf__redis_script_value_read,
    &hf__redis_script_value_write, &hf__redis_script_guard};

static int push_auth(struct link *l)
{
    struct backend_conn *c = l->c;
    if (!c->user && !c->password) return 0;
    hf__redis_cmd_begin(&c->cmd, "AUTH");
    if (c->user) hf__redis_cmd_text(&c->cmd, c->user);
    hf__redis_cmd_text(&c->cmd, c->password ? c->password : "");
    return hf__redis_link_push(l, FLIGHT_AUTH) ? 0 : -1;
}

static int push_name(struct link *l)
{
    struct command *cmd = &l->c->cmd;
    hf__redis_cmd_begin(cmd, "CLIENT");
    hf__redis_cmd_text(cmd, "SETNAME");
    hf__redis_cmd_text(cmd, "holdfast");
    return hf__redis_link_push(l, FLIGHT_GREET) ? 0 : -1;
}

static int push_select(struct link *l)
{
    struct backend_conn *c = l->c;
    if (c->db == 0) return 0;
    hf__redis_cmd_begin(&c->cmd, "SELECT");
    hf__redis_cmd_number(&c->cmd, c->db);
    return hf__redis_link_push(l, FLIGHT_SELECT) ? 0 : -1;
}

static int push_script(struct link *l, const struct redis_script *s)
{
    struct command *cmd = &l->c->cmd;
    hf__redis_cmd_begin(cmd, "SCRIPT");
    hf__redis_cmd_text(cmd, "LOAD");
    hf__redis_cmd_bytes(cmd, s->text, s->len);
    return hf__redis_link_push(l, FLIGHT_GREET) ? 0 : -1;
}

/* Load the scripts, so that NOSCRIPT only comes after a flush of the cache. */
static int push_scripts(struct link *l)
{
    const struct redis_script *const *own = scripts[l->c->is_string != 0];
    for (size_t i = 0; i < sizeof scripts[0] / sizeof scripts[0][0]; i++)
        if (push_script(l, own[i])) return -1;
    for (size_t i = 0; i < sizeof scripts_both / sizeof scripts_both[0]; i++)
        if (push_script(l, scripts_both[i])) return -1;
    return 0;
}

static int push_time(struct link *l)
{
    l->asked_us = l->c->env->now(l->c->env);
    hf__redis_cmd_begin(&l->c->cmd, "TIME");
    return hf__redis_link_push(l, FLIGHT_TIME) ? 0 : -1;
}

static int push_ping(struct link *l)
{
    hf__redis_cmd_begin(&l->c->cmd, "PING");
    return hf__redis_link_push(l, FLIGHT_GREET) ? 0 : -1;
}

int hf__redis_greet(struct link *l)
{
    l->node_us = 0;
    if (push_auth(l) || push_name(l)) return -1;
    if (l->is_sub || l->c->master) return push_ping(l);
    return push_select(l) || hf__redis_role_greet(l)
                   || hf__redis_member_greet(l) || push_scripts(l)
                   || hf__redis_aof_greet(l) || hf__redis_wait_greet(l)
                   || push_time(l)
               ? -1
               : 0;
}

/* Another server answers now: close the subscription link, which then connects
 * there, too.  Messages of the old server, which may still run, mean nothing.
 */
static void sub_move(struct backend_conn *c)
{
    if (!c->is_led && c->sub.state != LINK_DOWN)
        hf__redis_link_fail(&c->sub, HF_UNAVAILABLE, 0,
                            "another server answers now");
}

static void link_is_up(struct link *l)
{
    struct backend_conn *c = l->c;
    if (!l->is_sub && hf__redis_wait_up(l) != 0) return;
    l->state = LINK_UP;
    l->due_us = TIME_NEVER;
    l->failures = 0;
    if (l->is_sub) {
        hf__redis_watch_up(c);
        return;
    }
    /* The user's rights may have changed. */
    c->queue_is_denied = 0;
    int up = hf__redis_role_up(c);
    if (up == LINK_IS_OTHER) sub_move(c);
    c->env->link(c->env, up, l->node_us, NULL);
}

/* The server's clock.  0 fine, -1 not what TIME answers, 1 asked once more: an
 * answer that lay unread for long would give a wrong idea of the time. */
static int time_take(struct link *l, const struct resp *v)
{
    int64_t late_us = l->c->env->now(l->c->env) - l->asked_us;
    if (!hf__redis_resp_is_array(v, 2)) return -1;
    if (late_us > STALE_US && l->node_us == 0) {
        l->node_us = 1;
        return push_time(l) == 0 ? 1 : -1;
    }
    int64_t s = hf__redis_resp_number_at(v, 0, 0);
    int64_t us = hf__redis_resp_number_at(v, 1, 0);
    if (s < 1 || s >= BALLOT_MAX / US_PER_S || us < 0 || us >= US_PER_S)
        return -1;
    l->node_us = s * US_PER_S + us;
    l->told_us = l->c->env->now(l->c->env);
    return 0;
}

/* 1 if this refusal does not make the link useless. */
static int is_harmless(const struct flight *f, const struct resp *v)
{
    if (v->type != RESP_ERROR) return 1;
    if (f->kind == FLIGHT_ROLE || f->kind == FLIGHT_REPLICATION) return 1;
    /* A key of another type is no marker, and a server of a cluster is never a
     * member. */
    if (f->kind == FLIGHT_MARKER
        && (hf__redis_error_is(v, "WRONGTYPE") || hf__redis_boot_is_sliced(v)))
        return 1;
    if (f->kind != FLIGHT_GREET && f->kind != FLIGHT_MARKER) return 0;
    if (hf__redis_error_is(v, "ERR max number")) return 0;
    return hf__redis_error_is(v, "NOPERM") || hf__redis_error_is(v, "ERR");
}

/* 1 if a replica of a cluster refuses WAIT.  That does no harm: it is only
 * asked for the map, and redirects every lock. */
static int is_of_replica(const struct link *l, const struct flight *f,
                         const struct resp *v)
{
    if (!l->c->owner || v->type != RESP_ERROR) return 0;
    return (f->kind == FLIGHT_AOF || f->kind == FLIGHT_WAIT)
           && strstr(v->text, "replica instances");
}

void hf__redis_greet_reply(struct link *l, const struct flight *f,
                           const struct resp *v)
{
    static const char *const words[] = {[FLIGHT_GREET] = NULL,
                                        [FLIGHT_AUTH] = "AUTH",
                                        [FLIGHT_SELECT] = "SELECT",
                                        [FLIGHT_TIME] = "TIME",
                                        [FLIGHT_MARKER] = "GET"};
    int is_fine = is_of_replica(l, f, v) || is_harmless(f, v);
    if (f->kind == FLIGHT_AOF && !is_fine) {
        hf__redis_aof_refused(l, v);
        return;
    }
    if (f->kind == FLIGHT_WAIT && !is_fine) {
        hf__redis_wait_refused(l, v);
        return;
    }
    if (!is_fine) {
        char text[HF_ERROR_TEXT_MAX];
        int status = hf__redis_error(words[f->kind], NULL, v, text);
        int is_alone = f->kind == FLIGHT_AUTH && l->c->user && !l->c->password;
        hf__redis_link_fail(l, status, 0, "%s%s", text,
                            is_alone ? "; no password was given" : "");
        return;
    }
    if (f->kind == FLIGHT_MARKER) l->c->quorum_of = hf__redis_member_count(v);
    if (f->kind == FLIGHT_ROLE && hf__redis_role_heard(l, v) != 0) return;
    if (f->kind == FLIGHT_REPLICATION && hf__redis_replication_heard(l, v) != 0)
        return;
    int rc = f->kind == FLIGHT_TIME ? time_take(l, v) : 0;
    if (rc < 0)
        hf__redis_link_fail(l, HF_UNAVAILABLE, 0, "TIME: unexpected answer");
    else if (!hf__redis_flight_first(l))
        link_is_up(l);
}
