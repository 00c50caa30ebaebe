/*
 * greet.c: the first statements on a link.  One rule: no request goes out
 * before all of them are answered.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/mysql/mysql.h"
#include "backend/mysql/row.h"
#include "backend/mysql/session.h"
#include "backend/mysql/shedlock.h"
#include "backend/mysql/statement.h"
#include "backend/mysql/watch.h"

#define VERSION_MIN 50700 /* several user locks in one session */

/* ---- out ---- */

static void say(struct link *l, enum item_kind kind, unsigned statements,
                const char *sql)
{
    hf__mysql_packet_add(l, kind, statements, NULL);
    hf__mysql_text_add(&l->packet.text, sql);
}

/* Each statement is a transaction of its own, and may be repeated. */
static void tables_make(struct link *l)
{
    if (!l->c->server.creates) return;
    const char *const *sql =
        l->c->is_shed ? hf__mysql_shed_schema : hf__mysql_schema;
    for (; *sql; sql++) say(l, ITEM_GREET, 1, *sql);
}

/* The clock is asked before and behind the status: see clock_take(). */
static void status_ask(struct link *l)
{
    l->facts.asked_s = 0;
    say(l, ITEM_GREET_CLOCK, 1, hf__mysql_clock);
    say(l, ITEM_GREET_STATUS, 1, hf__mysql_status);
    say(l, ITEM_GREET_CLOCK, 1, hf__mysql_clock);
}

int hf__mysql_greet(struct link *l)
{
    l->facts = (struct server_facts){0};
    hf__mysql_packet_begin(l);
    say(l, ITEM_GREET, 2, hf__mysql_session);
    say(l, ITEM_GREET_VARIABLES, 1, hf__mysql_variables);
    status_ask(l);
    if (l->c->session) {
        hf__mysql_session_greet(l);
        return hf__mysql_packet_send(l);
    }
    tables_make(l);
    say(l, ITEM_GREET_SCHEMA, 1,
        l->c->is_shed ? hf__mysql_shed_table : hf__mysql_ask_schema);
    return hf__mysql_packet_send(l);
}

/* ---- in ---- */

static int is_on(const char *value)
{
    return strcasecmp(value, "OFF") != 0 && strcmp(value, "0") != 0;
}

static void fact_take(struct server_facts *s, const char *name,
                      const char *value)
{
    if (!strcasecmp(name, "read_only")) s->is_readonly = is_on(value);
    if (!strcasecmp(name, "wsrep_on")) s->is_galera = is_on(value);
    if (!strcasecmp(name, "wsrep_ready")) s->is_joined = is_on(value);
    if (!strcasecmp(name, "log_bin")) s->has_binlog = is_on(value);
    if (!strcasecmp(name, "sync_binlog")) s->syncs_binlog = is_on(value);
    if (!strcasecmp(name, "innodb_flush_log_at_trx_commit"))
        s->flushes = !strcmp(value, "1") || !strcmp(value, "3");
    if (!strcasecmp(name, "hostname"))
        snprintf(s->host, sizeof s->host, "%s", value);
}

static void facts_take(struct server_facts *s, MYSQL_RES *result)
{
    struct fields f;
    while (hf__mysql_row_next(result, &f)) {
        const char *name = hf__mysql_row_text(&f, 0);
        const char *value = hf__mysql_row_text(&f, 1);
        if (!name || !value) continue;
        fact_take(s, name, value);
        if (!strcasecmp(name, "Uptime"))
            s->uptime_s = hf__mysql_row_number(&f, 1);
    }
}

/* The server's count of its seconds, taken off its clock, is the moment at
 * which it started, whatever that clock was set to since; but only if the
 * second was the same when it was asked for both. */
static void clock_take(struct link *l, const struct fields *f)
{
    struct server_facts *s = &l->facts;
    int64_t now_s = hf__mysql_row_number(f, 1);
    l->node_us = hf__mysql_row_number(f, 0);
    if (s->asked_s == 0)
        s->asked_s = now_s;
    else if (s->asked_s == now_s)
        s->started_s = now_s - s->uptime_s;
}

/* 0, or -1: this server will not do, and the link is down. */
static int facts_check(struct link *l)
{
    unsigned long version = mysql_get_server_version(l->wire.my);
    if (version < VERSION_MIN)
        hf__mysql_link_fail(l, HF_UNSUPPORTED,
                            "the server is of version %lu.%lu: MariaDB 10.2 or "
                            "MySQL 5.7 is needed",
                            version / 10000, version / 100 % 100);
    else if (l->facts.is_readonly)
        hf__mysql_link_fail(l, HF_UNAVAILABLE,
                            "the server takes no writes: read_only is on");
    else if (l->facts.is_galera && !l->facts.is_joined)
        hf__mysql_link_fail(l, HF_UNAVAILABLE,
                            "the node of the cluster is not ready: wsrep_ready "
                            "is off");
    else if (l->facts.is_galera && l->c->session)
        hf__mysql_link_fail(l, HF_UNSUPPORTED,
                            "session=on: the server is a node of a Galera "
                            "cluster, whose other nodes do not know its user "
                            "locks: leave out session=on");
    else
        return 0;
    return -1;
}

static void schema_check(struct link *l, MYSQL_RES *result)
{
    struct fields f;
    int is_there = hf__mysql_row_next(result, &f);
    const char *schema = is_there ? hf__mysql_row_text(&f, 0) : "";
    if (is_there) hf__sql_member_met(l->c->core, hf__mysql_row_text(&f, 1));
    if (schema && !strcmp(schema, SQL_SCHEMA_TEXT)) return;
    hf__mysql_link_fail(l, HF_CONFLICT,
                        "the tables are of version \"%.20s\", and "
                        "\"" SQL_SCHEMA_TEXT
                        "\" is needed: run: holdfast install-schema URL",
                        schema ? schema : "");
}

/* The table of ShedLock. */
static void table_check(struct link *l, MYSQL_RES *result)
{
    int status;
    const char *fault = hf__mysql_shed_fault(result, &status);
    if (fault) hf__mysql_link_fail(l, status, "%s", fault);
}

static void session_check(struct link *l, MYSQL_RES *result)
{
    struct fields f;
    (void)hf__mysql_row_next(result, &f);
    (void)hf__mysql_session_check(l, &f);
}

void hf__mysql_greet_answer(struct link *l, const struct packet_item *item,
                            MYSQL_RES *result)
{
    struct fields f;
    if (item->kind == ITEM_GREET_VARIABLES) {
        facts_take(&l->facts, result);
    } else if (item->kind == ITEM_GREET_CLOCK
               && hf__mysql_row_next(result, &f)) {
        clock_take(l, &f);
    } else if (item->kind == ITEM_GREET_STATUS) {
        facts_take(&l->facts, result);
        (void)facts_check(l);
    } else if (item->kind == ITEM_GREET_SCHEMA) {
        (l->c->is_shed ? table_check : schema_check)(l, result);
    } else if (item->kind == ITEM_GREET_SESSION) {
        session_check(l, result);
    }
}

/* Has the server started again, or is it another one? */
static int is_other(struct link *l)
{
    struct server_facts was = l->facts_was;
    l->facts_was = l->facts;
    if (was.started_s == 0) return 0;
    return was.started_s != l->facts.started_s
           || strcmp(was.host, l->facts.host) != 0;
}

static void link_is_up(struct link *l)
{
    struct backend_conn *c = l->c;
    unsigned life = l->life;
    l->state = LINK_UP;
    l->due_us = TIME_NEVER;
    l->failures = 0;
    l->err = (struct hf_error){.node = -1};
    int up = is_other(l) ? LINK_IS_OTHER : LINK_IS_UP;
    c->env->link(c->env, up,
                 c->session ? hf__sql_session_now_us(c->session) : l->node_us,
                 NULL);
    if (l->life == life) hf__mysql_watch_up(c);
}

/* One more packet, if anything is still missing. */
static void more_ask(struct link *l)
{
    hf__mysql_packet_begin(l);
    if (l->facts.started_s == 0) status_ask(l);
    if (l->facts.is_galera && !l->facts.is_in_step)
        say(l, ITEM_GREET, 1, hf__mysql_galera_session);
    l->facts.is_in_step = 1;
    /* A pooler may give the second packet another connection. */
    if (l->c->session && l->c->session->horizon_s == 0)
        hf__mysql_session_more(l);
}

void hf__mysql_greet_end(struct link *l)
{
    more_ask(l);
    if (l->packet.len == 0)
        link_is_up(l);
    else if (hf__mysql_packet_send(l) != 0)
        hf__mysql_link_fail(l, HF_NOMEM, "connect: out of memory");
}
