/*
 * request.c: from a request to the function that answers it.  One rule: a
 * request is answered once; if another process is changing the record, it is
 * tried again from the timer, until its deadline.
 */
#include <assert.h>
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

static const struct {
    int (*answer)(struct backend_conn *c, struct request *req,
                  struct reply *reply);
    int writes;      /* refused in a directory that we may only read */
    const char *why; /* there is no answer: HF_UNSUPPORTED */
} calls[] = {
    [VERB_PROPOSE] = {hf__file_hold_propose, 1, NULL},
    [VERB_RENEW] = {hf__file_hold_renew, 1, NULL},
    [VERB_RELEASE] = {hf__file_hold_release, 1, NULL},
    [VERB_BREAK] = {hf__file_detached_break, 1, NULL},
    [VERB_INSPECT] = {hf__file_inspect, 0, NULL},
    [VERB_LIST] = {hf__file_list, 0, NULL},
    [VERB_WATCH] = {hf__file_watch_start, 0, NULL},
    [VERB_UNWATCH] = {hf__file_watch_stop, 0, NULL},
    [VERB_VALUE_READ] = {hf__file_value_read, 0, NULL},
    [VERB_VALUE_WRITE] = {hf__file_value_write, 1, NULL},
    [VERB_BOOT] = {hf__file_boot, 1, NULL},
    [VERB_FACTS] = {hf__file_facts, 0, NULL},
    [VERB_GUARD] = {NULL, 0, "guard: a file is guarded by itself"},
    [VERB_TALLY] = {NULL, 0, "no counters are kept in files"},
    [VERB_PRIMARY] = {NULL, 0, "no counters are kept in files"},
};

static int request_do(struct backend_conn *c, struct request *req,
                      struct reply *reply)
{
    assert((size_t)req->verb < sizeof calls / sizeof *calls);
    if (calls[req->verb].answer) return calls[req->verb].answer(c, req, reply);
    hf__error_set(&c->err, HF_UNSUPPORTED, "file: %s", calls[req->verb].why);
    return hf__file_refuse(c, reply, HF_UNSUPPORTED);
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

static int is_refused(struct backend_conn *c, const struct request *req,
                      struct reply *reply)
{
    if (!c->write_errno || !calls[req->verb].writes) return 0;
    int status = hf__file_dir_check_write(c);
    if (status != HF_OK) hf__file_refuse(c, reply, status);
    return status != HF_OK;
}

void hf__file_request_answer(struct backend_conn *c, struct request *req)
{
    struct reply reply = {.ttl_us = -1, .waiters = -1};
    int answer = ANSWER_DONE;
    if (!is_refused(c, req, &reply)) answer = request_do(c, req, &reply);
    if (answer == ANSWER_AGAIN) request_retry(c, req, &reply);
    if (answer != ANSWER_DONE) return;
    if (!reply.node_us) reply.node_us = hf__clock_wall_us();
    c->env->reply(c->env, req, &reply);
}
