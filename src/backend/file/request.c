/*
 * request.c: from a request to the function that answers it.  One rule: a
 * request is answered once; if another process is changing the record, it is
 * tried again from the timer, until its deadline.
 */
#include <string.h>

#include "backend/file/boot.h"
#include "backend/file/detached.h"
#include "backend/file/dir.h"
#include "backend/file/error.h"
#include "backend/file/facts.h"
#include "backend/file/hold.h"
#include "backend/file/inspect.h"
#include "backend/file/list.h"
#include "backend/file/lock.h"
#include "backend/file/request.h"
#include "backend/file/table.h"
#include "backend/file/value.h"
#include "backend/file/watch.h"
#include "base/error.h"
#include "sys/clock.h"

#define RETRY_US (1 * US_PER_MS)

struct file_lock *hf__file_request_lock(struct backend_conn *c,
                                        const struct request *req,
                                        struct reply *reply)
{
    struct file_lock *l = NULL;
    if (req->name_len == 0 || req->name_len > NAME_LEN_MAX
        || memchr(req->name, '\0', req->name_len)) {
        hf__error_set(&c->err, HF_INVALID,
                      "file: a name has 1 to %d bytes and no NUL",
                      NAME_LEN_MAX);
        hf__file_refuse(c, reply, HF_INVALID);
        return NULL;
    }
    if (req->ballot < 0 || req->ballot > BALLOT_MAX) {
        hf__error_set(&c->err, HF_INVALID, "file: number out of range");
        hf__file_refuse(c, reply, HF_INVALID);
        return NULL;
    }
    l = hf__file_table_get(c, req->name, req->name_len);
    if (!l) {
        hf__error_set(&c->err, HF_NOMEM, "file:%s: no memory", c->dir);
        hf__file_refuse(c, reply, HF_NOMEM);
    }
    return l;
}

static int request_do(struct backend_conn *c, struct request *req,
                      struct reply *reply, struct hf_info *info)
{
    switch (req->op) {
    case OP_PROPOSE:
        return hf__file_hold_propose(c, req, reply);
    case OP_RENEW:
        return hf__file_hold_renew(c, req, reply);
    case OP_RELEASE:
        return hf__file_hold_release(c, req, reply);
    case OP_BREAK:
        return hf__file_detached_break(c, req, reply, info);
    case OP_INSPECT:
        return hf__file_inspect(c, req, reply, info);
    case OP_WATCH:
        return hf__file_watch_start(c, req, reply);
    case OP_UNWATCH:
        return hf__file_watch_stop(c, req, reply);
    case OP_VALUE_WRITE:
        return hf__file_value_write(c, req, reply);
    case OP_GUARD:
        hf__error_set(&c->err, HF_UNSUPPORTED,
                      "file: guard: a file is guarded by itself");
        hf__file_refuse(c, reply, HF_UNSUPPORTED);
        break;
    case OP_PRIMARY: /* only of a Sentinel */
    case OP_TALLY:
        hf__error_set(&c->err, HF_UNSUPPORTED,
                      "file: no counters are kept in files");
        hf__file_refuse(c, reply, HF_UNSUPPORTED);
        break;
    case OP_BOOT:
        return hf__file_boot(c, req, reply);
    case OP_FACTS:
        return hf__file_facts(c, reply);
    case OP_VALUE_READ:
    case OP_LIST:
        break; /* answers by itself */
    }
    return ANSWER_DONE;
}

static void request_retry(struct backend_conn *c, struct request *req,
                          struct reply *reply)
{
    int64_t now_us = hf__clock_us();
    if (now_us < req->deadline_us) {
        req->next = c->retries;
        c->retries = req;
        c->retry_us = now_us + RETRY_US;
        return;
    }
    hf__error_set(&c->err, HF_UNAVAILABLE,
                  "file: others kept changing the record");
    hf__file_refuse(c, reply, HF_UNAVAILABLE);
    c->env->reply(c->env, req, reply);
}

/* In a directory that we may only read, locks can only be looked at. */
static int is_refused(struct backend_conn *c, const struct request *req,
                      struct reply *reply)
{
    static const unsigned writes = 1u << OP_PROPOSE | 1u << OP_RENEW
                                   | 1u << OP_RELEASE | 1u << OP_BREAK
                                   | 1u << OP_VALUE_WRITE | 1u << OP_BOOT;
    if (!c->write_errno || !(writes >> req->op & 1)) return 0;
    int status = hf__file_dir_check_write(c);
    if (status != HF_OK) hf__file_refuse(c, reply, status);
    return status != HF_OK;
}

void hf__file_request_answer(struct backend_conn *c, struct request *req)
{
    struct hf_info info;
    struct reply reply = {.ttl_us = -1, .waiters = -1};
    if (req->op == OP_LIST) {
        reply.node_us = hf__clock_wall_us();
        hf__file_list(c, req, &reply);
        return;
    }
    if (req->op == OP_VALUE_READ) {
        hf__file_value_read(c, req, &reply);
        return;
    }
    if (!is_refused(c, req, &reply)
        && request_do(c, req, &reply, &info) == ANSWER_AGAIN) {
        request_retry(c, req, &reply);
        return;
    }
    if (!reply.node_us) reply.node_us = hf__clock_wall_us();
    c->env->reply(c->env, req, &reply);
}
