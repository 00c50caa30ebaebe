/*
 * alone.c: a server that is a member of a quorum, met by a client of
 * that server alone.
 *
 * The marker is read once, with the greeting, so that no lock pays for it.  One
 * rule: what a quorum decides is not granted past it.  Such requests
 * (hf__boot_is_bypass()) are refused before anything is sent, unless the URL
 * says member=ok.
 */
#include <stdio.h>

#include "backend/redis/member/alone.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"
#include "base/boot.h"

/* A client of the quorum asks by VERB_BOOT, and so does a probe; the servers of
 * a cluster are no members. */
static int is_to_be_asked(const struct backend_conn *c)
{
    return !c->member_is_meant && !c->owner && !c->env->conf->takes_replica;
}

int hf__redis_member_greet(struct link *l)
{
    struct command *cmd = &l->c->cmd;
    l->c->quorum_of = 0;
    if (!is_to_be_asked(l->c)) return 0;
    hf__redis_cmd_begin(cmd, "GET");
    hf__redis_cmd_text(cmd, BOOT_KEY);
    return hf__redis_link_push(l, FLIGHT_MARKER) ? 0 : -1;
}

int hf__redis_member_count(const struct resp *v)
{
    return v->type == RESP_STRING ? hf__marker_members(v->text) : 0;
}

const char *hf__redis_member_refusal(struct backend_conn *c,
                                     const struct request *req, char *text,
                                     size_t size)
{
    if (!hf__boot_is_bypass(req)) return NULL;
    snprintf(text, size,
             "it is one of %d members of a quorum: name all of them, or use "
             "redis://HOST?member=ok if a lock of this server alone is meant; "
             "if it is no member, DEL " BOOT_KEY " there",
             c->quorum_of);
    return text;
}
