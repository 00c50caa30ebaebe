/*
 * alone.c: a server that is a member of a quorum, met by a client of
 * that server alone.
 *
 * The marker is read once, with the greeting, so that no lock pays for it.  One
 * rule: what a quorum decides is not granted past it.  Proposals are refused
 * before anything is sent, unless the URL says member=ok, and so are tickets,
 * which may be the quorum's, and changes of a number, which is stored under the
 * name of a lock; looking, breaking and releasing are not.  Nor is the renewal
 * of a hold from before the marker was read: it is this client's by its record
 * there, which no quorum can have made, and it would be renewed all the same if
 * the connection had lasted.  Values and guards are a client's data, under keys
 * that it names: they grant nothing, and are not refused.
 */
#include <stdio.h>
#include <string.h>

#include "backend/redis/member/alone.h"
#include "backend/redis/member/boot.h"
#include "backend/redis/redis.h"

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

/* "v1 <hash>-<members> ...", as boot.lua writes it. */
int hf__redis_member_count(const struct resp *v)
{
    char group[GROUP_MAX];
    int64_t members;
    if (v->type != RESP_STRING || strncmp(v->text, "v1 ", 3) != 0) return 0;
    size_t len = strcspn(v->text + 3, " ");
    if (len >= sizeof group) return 0;
    memcpy(group, v->text + 3, len);
    group[len] = '\0';
    const char *dash = strrchr(group, '-');
    int is_marker =
        dash && hf__number_parse(dash + 1, 1, NODES_MAX, &members) == 0;
    return is_marker ? (int)members : 0;
}

/* 1 if the request would grant or change something that the quorum decides. */
static int is_refused(const struct request *req)
{
    switch (req->verb) {
    case VERB_PROPOSE:
        return 1;
    case VERB_RENEW:
        return (req->flags & REQ_ATTACH) != 0;
    case VERB_TALLY:
        return req->tally != TALLY_READ;
    default:
        return 0;
    }
}

const char *hf__redis_member_refusal(struct backend_conn *c,
                                     const struct request *req, char *text,
                                     size_t size)
{
    if (!is_refused(req)) return NULL;
    snprintf(text, size,
             "it is one of %d members of a quorum: name all of them, or use "
             "redis://HOST?member=ok if a lock of this server alone is meant; "
             "if it is no member, DEL " BOOT_KEY " there",
             c->quorum_of);
    return text;
}
