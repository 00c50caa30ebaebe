/*
 * packet.c: statements that go to the server together.  One rule: an error ends
 * the packet, so the items behind it are sent again: the server has not looked
 * at them.
 */
#include "backend/mysql/packet.h"

#include <assert.h>

#include "backend/mysql/error.h"
#include "backend/mysql/job.h"
#include "backend/mysql/mysql.h"
#include "backend/mysql/watch.h"

void hf__mysql_packet_begin(struct link *l)
{
    struct packet *p = &l->packet;
    p->is_sent = 0;
    p->len = p->at = 0;
    hf__mysql_text_clear(&p->text);
}

void hf__mysql_packet_add(struct link *l, enum item_kind kind,
                          unsigned statements, struct sql_job *job)
{
    struct packet *p = &l->packet;
    assert(p->len < PACKET_ITEMS_MAX);
    if (p->len > 0) hf__mysql_text_add(&p->text, ";");
    p->items[p->len++] = (struct packet_item){
        .kind = kind, .statements = statements, .job = job};
}

int hf__mysql_packet_has_room(const struct link *l)
{
    return l->packet.len < PACKET_ITEMS_MAX
           && l->packet.text.len < PACKET_TEXT_MAX;
}

int hf__mysql_packet_send(struct link *l)
{
    struct packet *p = &l->packet;
    if (p->len == 0) return 0;
    if (p->text.is_short) return -1;
    p->is_sent = 1;
    l->active_us = l->c->env->now(l->c->env);
    hf__mysql_wire_send(&l->wire, p->text.at, p->text.len);
    hf__mysql_link_await(l);
    return 0;
}

/* ---- in ---- */

static void item_answer(struct link *l, const struct packet_item *item)
{
    switch (item->kind) {
    case ITEM_GREET:
    case ITEM_GREET_VARIABLES:
    case ITEM_GREET_STATUS:
    case ITEM_GREET_CLOCK:
    case ITEM_GREET_SCHEMA:
    case ITEM_GREET_SESSION:
        hf__mysql_greet_answer(l, item, l->wire.result);
        break;
    case ITEM_JOB:
        hf__mysql_job_answer(l->c, item->job, l->wire.result);
        break;
    case ITEM_LOOK:
        hf__mysql_watch_looked(l->c, l->wire.result);
        break;
    case ITEM_MARK:
        break;
    }
}

static void item_refuse(struct link *l, const struct packet_item *item)
{
    char text[HF_ERROR_TEXT_MAX];
    unsigned code = mysql_errno(l->wire.my);
    int status = hf__mysql_error(code, mysql_error(l->wire.my), text);
    int ends = l->c->session || hf__mysql_error_is_fatal(code); /* session.c */
    if (item->kind == ITEM_JOB && !ends)
        hf__mysql_job_refuse(l->c, item, code, status, text);
    else if (item->kind >= ITEM_LOOK && !ends)
        hf__mysql_watch_looked(l->c, NULL); /* nothing: it is for later */
    else
        hf__mysql_link_fail(l, status, "%s", text);
}

/* The server has not looked at what is behind the error. */
static void items_repeat(struct link *l, size_t from, size_t len)
{
    unsigned life = l->life;
    for (size_t i = from; i < len && l->life == life; i++) {
        struct sql_job *job = l->packet.items[i].job;
        if (!job) continue;
        job->may_have_changed = 0;
        hf__sql_job_again(job);
    }
}

static void packet_refused(struct link *l)
{
    unsigned life = l->life;
    size_t at = l->packet.at, len = l->packet.len;
    if (at >= len) {
        hf__mysql_link_fail(l, HF_UNAVAILABLE, "an answer that nothing asked");
        return;
    }
    l->packet.is_sent = 0;
    item_refuse(l, &l->packet.items[at]);
    if (l->life == life) items_repeat(l, at + 1, len);
}

static void packet_result(struct link *l)
{
    struct packet *p = &l->packet;
    if (p->at >= p->len) {
        hf__mysql_link_fail(l, HF_UNAVAILABLE, "an answer that nothing asked");
        return;
    }
    struct packet_item *item = &p->items[p->at];
    if (++item->answered < item->statements) return;
    p->at++;
    item_answer(l, item);
}

static void packet_done(struct link *l)
{
    struct packet *p = &l->packet;
    p->is_sent = 0;
    if (p->at < p->len)
        hf__mysql_link_fail(l, HF_UNAVAILABLE, "a statement has no answer");
    else if (l->state == LINK_GREETING)
        hf__mysql_greet_end(l);
}

void hf__mysql_packet_take(struct link *l, int said)
{
    char text[HF_ERROR_TEXT_MAX];
    switch (said) {
    case WIRE_RESULT:
        packet_result(l);
        break;
    case WIRE_DONE:
        packet_done(l);
        break;
    case WIRE_ERROR:
        packet_refused(l);
        break;
    case WIRE_LOST:
        (void)hf__mysql_error(mysql_errno(l->wire.my), mysql_error(l->wire.my),
                              text);
        hf__mysql_link_fail(l, HF_UNAVAILABLE, "the connection was lost: %s",
                            text);
        break;
    default:
        break;
    }
}
