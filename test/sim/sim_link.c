/*
 * sim_link.c: the backend that the engine talks to: one connection for
 * commands, one for subscriptions, both replaced when they break.
 *
 * The rule is that of backend.h: every request is answered once, never from
 * inside submit(); V_UNSENT only for what surely never arrives.
 */
#include <string.h>

#include "sim/sim.h"

#define RETRY_US_MIN (1 * MS)
#define RETRY_US_MAX (60 * MS)

int name_index(const char *name)
{
    int i = 0;
    while (strcmp(sim_names[i], name) != 0) i++;
    return i;
}

static int64_t local_now(const struct backend_conn *c)
{
    return c->env->now(c->env);
}

static void list_push(struct request ***end, struct request *req)
{
    req->next = NULL;
    **end = req;
    *end = &req->next;
}

static struct request *list_take(struct request **head, struct request ***end)
{
    struct request *list = *head;
    *head = NULL;
    *end = head;
    return list;
}

void link_answer(struct backend_conn *c, struct request *req,
                 enum verdict verdict)
{
    struct reply rep = {.verdict = verdict,
                        .status = HF_UNAVAILABLE,
                        .ttl_us = -1,
                        .waiters = -1,
                        .text = "sim: the connection is gone"};
    check_host_heard(req, &rep);
    c->env->reply(c->env, req, &rep);
}

static void answer_all(struct backend_conn *c, struct request *list,
                       enum verdict verdict)
{
    while (list) {
        struct request *req = list;
        list = req->next;
        link_answer(c, req, verdict);
    }
}

/* ---- timers ----------------------------------------------------------- */

static int64_t first_deadline(const struct request *list)
{
    int64_t due = TIME_NEVER;
    for (; list; list = list->next)
        if (list->deadline_us < due) due = list->deadline_us;
    return due;
}

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void timer_arm(struct backend_conn *c)
{
    int64_t due = min64(first_deadline(c->flying), first_deadline(c->queue));
    due = min64(due, min64(c->command.due_us, c->watch.due_us));
    due = min64(due, session_due(c));
    c->env->timer(c->env, min64(due, watch_due(c)));
}

/* ---- a connection's life ---------------------------------------------- */

void chan_start(struct backend_conn *c, struct chan *ch)
{
    struct packet *p = NULL;
    ch->state = CHAN_CONNECTING;
    ch->due_us = local_now(c) + c->env->conf->timeout_us;
    ch->life = net_connect(c, ch->channel);
    if (ch->life) p = net_packet(c->sim, ch->life, PACKET_HELLO);
    if (p) net_send(c->sim, p);
}

/* Give the connection up and plan the next one. */
void chan_down(struct backend_conn *c, struct chan *ch)
{
    struct life *l = ch->life;
    int64_t most = RETRY_US_MIN << (ch->failures < 6 ? ch->failures : 6);
    ch->life = NULL;
    ch->state = CHAN_DOWN;
    ch->failures++;
    ch->due_us =
        local_now(c) + sim_between(c->sim, 0, min64(most, RETRY_US_MAX));
    if (!l) return;
    net_break(c->sim, l, NEWS_KNOWN);
    l->conn = NULL;
}

/* Some of what the kernel never took may be known to be unsent: the requests
 * behind the cut, if nothing of them went out. */
static void flying_answer(struct backend_conn *c, const struct life *l)
{
    struct request *list = list_take(&c->flying, &c->flying_end);
    int tells_unsent = sim_chance(c->sim, 500);
    while (list) {
        struct request *req = list;
        list = req->next;
        int unsent = tells_unsent && l && req->priv > l->cut;
        link_answer(c, req, unsent ? V_UNSENT : V_UNKNOWN);
    }
}

static void command_fail(struct backend_conn *c)
{
    struct hf_error err = {.status = HF_UNAVAILABLE,
                           .text = "sim: the connection is gone"};
    struct life *l = c->command.life;
    int was_up = c->command.state == CHAN_UP;
    chan_down(c, &c->command);
    flying_answer(c, l);
    c->env->link(c->env, 0, 0, &err);
    if (!was_up) answer_all(c, list_take(&c->queue, &c->queue_end), V_UNSENT);
}

void link_lost(struct backend_conn *c, struct life *l)
{
    if (c->command.life == l)
        command_fail(c);
    else if (c->watch.life == l)
        watch_down(c);
    timer_arm(c);
}

/* ---- what goes out ---------------------------------------------------- */

static void request_send(struct backend_conn *c, struct request *req)
{
    struct packet *p = net_packet(c->sim, c->command.life, PACKET_REQUEST);
    list_push(&c->flying_end, req);
    if (!p) return;
    p->req = *req;
    p->req.info = "1 host sim";
    if (req->verb == VERB_BOOT) {
        p->req.name = c->sim->group;
    } else {
        p->name = name_index(req->name);
        p->req.name = sim_names[p->name];
    }
    if (req->verb == VERB_PROPOSE && req->group) p->req.group = c->sim->group;
    p->origin = req;
    if (c->sim->is_session) session_sent(c, req);
    net_send(c->sim, p);
    req->priv = (uint32_t)p->number;
}

static void sim_submit(struct backend_conn *c, struct request *req)
{
    check_sent(c->client, req);
    list_push(&c->queue_end, req);
}

static void queue_split(struct backend_conn *c)
{
    struct request *list = list_take(&c->queue, &c->queue_end);
    while (list) {
        struct request *req = list;
        list = req->next;
        if (req->verb == VERB_WATCH || req->verb == VERB_UNWATCH)
            watch_request(c, req);
        else if (c->command.state == CHAN_UP)
            request_send(c, req);
        else
            list_push(&c->queue_end, req);
    }
}

static void sim_flush(struct backend_conn *c)
{
    if (c->is_dead) return;
    queue_split(c);
    timer_arm(c);
}

/* ---- what comes in ---------------------------------------------------- */

static void welcome(struct backend_conn *c, const struct packet *p)
{
    c->command.state = CHAN_UP;
    c->command.failures = 0;
    c->command.due_us = TIME_NEVER;
    if (c->sim->is_session)
        session_welcome(c, p);
    else
        c->env->link(c->env, 1, p->rep.node_us, NULL);
    queue_split(c);
}

static void answer(struct backend_conn *c, const struct packet *p)
{
    struct request **at = &c->flying;
    if (c->sim->is_session) session_answered(c, p);
    if (!p->origin) return; /* the link's own */
    while (*at && *at != p->origin) at = &(*at)->next;
    if (!*at) {
        sim_fail(c->sim, "simulator: an answer to nothing");
        return;
    }
    *at = p->origin->next;
    if (!*at) c->flying_end = at;
    check_clock_heard(c->client, c->node, p);
    check_host_heard(p->origin, &p->rep);
    check_vote_heard(c->client, c->node, p);
    check_refusal_comes(c->client, c->node, p);
    c->env->reply(c->env, p->origin, &p->rep);
    check_clock_trusted(c->client, c->node);
    check_refused(c->client, p);
}

void link_receive(struct backend_conn *c, struct packet *p)
{
    if (p->life->channel == CHANNEL_WATCH)
        watch_receive(c, p);
    else if (p->kind == PACKET_WELCOME)
        welcome(c, p);
    else if (p->kind == PACKET_REFUSED)
        command_fail(c);
    else if (p->kind == PACKET_ANSWER)
        answer(c, p);
    timer_arm(c);
}

static void late_queue(struct backend_conn *c, int64_t now_us)
{
    if (first_deadline(c->queue) > now_us) return;
    struct request *list = list_take(&c->queue, &c->queue_end);
    while (list) {
        struct request *req = list;
        list = req->next;
        if (req->deadline_us <= now_us)
            link_answer(c, req, V_UNSENT);
        else
            list_push(&c->queue_end, req);
    }
}

static int sim_process(struct backend_conn *c, int fd, unsigned ready)
{
    int64_t now_us = local_now(c);
    (void)fd;
    (void)ready;
    if (c->is_dead) return 0;
    if (first_deadline(c->flying) <= now_us) command_fail(c);
    late_queue(c, now_us);
    if (c->command.due_us <= now_us) {
        if (c->command.state == CHAN_CONNECTING)
            command_fail(c);
        else
            chan_start(c, &c->command);
    }
    watch_expire(c, now_us);
    session_process(c, now_us);
    timer_arm(c);
    return 1;
}

/* ---- opening and closing ---------------------------------------------- */

static int sim_open(struct backend_env *env, const struct url *url,
                    struct backend_conn **out, struct hf_error *err)
{
    struct backend_conn *c = hf__alloc_zero(env->alloc, sizeof *c);
    (void)err;
    if (!c) return HF_NOMEM;
    c->env = env;
    c->client = ((struct node *)env)->engine->owner;
    c->sim = c->client->sim;
    c->node = url->port;
    if (c->sim->is_session)
        c->owned = hf__alloc_zero(env->alloc, OWNED_MAX * sizeof *c->owned);
    if (c->sim->is_session && !c->owned) {
        hf__free(env->alloc, c);
        return HF_NOMEM;
    }
    c->queue_end = &c->queue;
    c->flying_end = &c->flying;
    c->watch.channel = CHANNEL_WATCH;
    c->watch.due_us = TIME_NEVER;
    *out = c;
    chan_start(c, &c->command);
    timer_arm(c);
    return HF_OK;
}

static void sim_close(struct backend_conn *c)
{
    chan_down(c, &c->command);
    chan_down(c, &c->watch);
    answer_all(c, list_take(&c->flying, &c->flying_end), V_UNKNOWN);
    answer_all(c, list_take(&c->queue, &c->queue_end), V_UNSENT);
    for (int i = 0; i < SIM_TOPICS_MAX; i++)
        if (c->asked[i]) link_answer(c, c->asked[i], V_UNSENT);
    hf__free(c->env->alloc, c->owned);
    hf__free(c->env->alloc, c);
}

const struct backend sim_backend = {
    .abi = BACKEND_ABI,
    .scheme = "sim",
    .caps = HF_CAP_FENCE | HF_CAP_LEASE | HF_CAP_DETACHED | HF_CAP_WATCH
            | HF_CAP_BALLOT | HF_CAP_QUEUE | HF_CAP_RW,
    .options = "",
    .open = sim_open,
    .submit = sim_submit,
    .flush = sim_flush,
    .process = sim_process,
    .close = sim_close,
};
