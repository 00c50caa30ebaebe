/*
 * string.c: the layout that SET NX PX libraries share: the lock is a
 * string with an expiry.  One rule: its value is opaque to others and begins
 * with our word, so that no other string is ever taken for ours.
 *
 *   hf1:<owner>:<attempt>:<T>:<fence>:<since us>:<count>:<pid> <host> <label>
 *
 * With fence=off the lock is taken by a bare SET; the script is only asked to
 * look at what was in the way.  It must not take the lock then: behind the SET
 * the release of a given-up attempt may be on its way already, and without a
 * counter nothing else would tell that the attempt is over.
 */
#include <string.h>

#include "backend/redis/inner/owner.h"
#include "backend/redis/kind/kind.h"
#include "backend/redis/kind/plain.h"
#include "backend/redis/kind/command.h"
#include "backend/redis/kind/string.h"
#include "backend/redis/redis.h"
#include "base/url.h"

/* "hf1:<owner>:<attempt>:", and with a number "<T>:" behind it. */
static void mark_put(struct command *cmd, const struct request *req,
                     int with_number)
{
    hf__redis_cmd_part_text(cmd, STRING_MARK);
    hf__redis_cmd_part_text(cmd, req->owner);
    hf__redis_cmd_part_text(cmd, ":");
    hf__redis_cmd_part_number(cmd, (int64_t)req->attempt);
    hf__redis_cmd_part_text(cmd, ":");
    if (!with_number) return;
    hf__redis_cmd_part_number(cmd, req->ballot);
    hf__redis_cmd_part_text(cmd, ":");
}

static void mark_add(struct command *cmd, const struct request *req,
                     int with_number)
{
    hf__redis_cmd_part_begin(cmd);
    mark_put(cmd, req, with_number);
    hf__redis_cmd_part_end(cmd);
}

/* ":1:<pid> <host> <label>"; a detached hold has a minus before the pid. */
static void tail_put(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_part_text(cmd, ":1:");
    if (req->flags & REQ_DETACHED) hf__redis_cmd_part_text(cmd, "-");
    hf__redis_cmd_part_text(cmd, req->info ? req->info : "0 - -");
}

/* SET name value NX PX lease.  The number is the client's idea of the server's
 * clock, and good enough for "since". */
static void build_set(struct command *cmd, const struct request *req)
{
    hf__redis_cmd_begin(cmd, "SET");
    hf__redis_cmd_bytes(cmd, req->name, req->name_len);
    hf__redis_cmd_part_begin(cmd);
    mark_put(cmd, req, 1);
    hf__redis_cmd_part_text(cmd, "0:");
    hf__redis_cmd_part_number(cmd, req->ballot);
    tail_put(cmd, req);
    hf__redis_cmd_part_end(cmd);
    hf__redis_cmd_text(cmd, "NX");
    hf__redis_cmd_text(cmd, "PX");
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
}

static void build_propose(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    if (cmd->sent_as == FLIGHT_SET) {
        build_set(cmd, req);
        return;
    }
    hf__redis_cmd_script_one(cmd, req, !c->no_fence);
    mark_add(cmd, req, 1);
    hf__redis_cmd_number(cmd, req->ballot);
    hf__redis_cmd_number(cmd, hf__redis_lease_ms(req));
    hf__redis_cmd_part_begin(cmd);
    tail_put(cmd, req);
    hf__redis_cmd_part_end(cmd);
    int is_quorum = !(req->flags & REQ_SERVER_FENCE);
    if (!is_quorum && !req->block && req->window_us == BALLOT_WINDOW_US) return;
    hf__redis_cmd_number(cmd, req->window_us);
    if (!is_quorum && !req->block) return;
    hf__redis_cmd_number(cmd, req->block);
    if (is_quorum) hf__redis_put_group(cmd, req);
}

static void build_renew(struct backend_conn *c, const struct request *reqs)
{
    struct command *cmd = &c->cmd;
    hf__redis_cmd_script_many(cmd, reqs);
    for (const struct request *r = reqs; r; r = r->next) {
        mark_add(cmd, r, 0);
        hf__redis_cmd_number(cmd, hf__redis_lease_ms(r));
        hf__redis_cmd_number(cmd, r->count);
        hf__redis_cmd_number(cmd, r->fence);
    }
}

static void build_release(struct backend_conn *c, const struct request *req)
{
    struct command *cmd = &c->cmd;
    int is_alone = hf__redis_is_alone(c, req);
    hf__redis_cmd_script_one(cmd, req, !c->no_fence && !is_alone);
    mark_add(cmd, req, 1);
    hf__redis_cmd_key(cmd, hf__redis_channel_prefix, req->name, req->name_len);
    hf__redis_put_letters(cmd, "k", is_alone, hf__redis_sharded_letters(c),
                          c->is_sharded);
}

REDIS_CALL(string_acquire, build_propose, hf__redis_acquire_read, 0);
REDIS_CALL(string_renew, build_renew, hf__redis_renew_read, BATCH_MAX);
REDIS_CALL(string_release, build_release, hf__redis_release_read, 0);

/* ---- reading it --------------------------------------------------------- */

int hf__redis_string_is_ours(const struct resp *v)
{
    return v && v->type == RESP_STRING
           && !strncmp(v->text, STRING_MARK, strlen(STRING_MARK));
}

/* The number up to the next ':', which `*text` moves behind. */
static int64_t number_take(const char **text)
{
    char digits[24];
    int64_t number = 0;
    size_t len = strcspn(*text, ":");
    if (len > 0 && len < sizeof digits) {
        memcpy(digits, *text, len);
        digits[len] = '\0';
        if (hf__number_parse(digits, 0, INT64_MAX, &number) != 0) number = 0;
    }
    *text += len + ((*text)[len] == ':');
    return number;
}

const char *hf__redis_string_read(const char *text, struct hf_info *info)
{
    const char *owner = text + strlen(STRING_MARK);
    const char *at = owner + strcspn(owner, ":"); /* the uuid's end */
    if (*at == ':') at++;
    at += strcspn(at, ":"); /* the holder's */
    size_t len = (size_t)(at - owner);
    if (len >= sizeof info->owner) len = sizeof info->owner - 1;
    memcpy(info->owner, owner, len);
    info->owner[len] = '\0';
    if (*at == ':') at++;
    for (int i = 0; i < 3; i++) number_take(&at); /* attempt, T, fence */
    info->since_ms = number_take(&at) / US_PER_MS;
    info->owner_count = number_take(&at);
    return at;
}
