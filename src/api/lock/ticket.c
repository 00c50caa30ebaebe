/*
 * ticket.c: holds that outlive their process.
 *
 * A ticket is text: hf2:<client uuid>:<holder>:<secret>:<number>:<fence>.  The
 * store compares owner and attempt, and the attempt is the secret's hash
 * (base/ticket.h): a ticket is only made from the secret, which no store has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/client/client.h"
#include "api/hold/handle.h"
#include "api/lock/ticket.h"
#include "base/error.h"
#include "base/math.h"
#include "engine/seats.h"
#include "engine/host.h"
#include "engine/locks.h"
#include "sys/clock.h"

#define TICKET_WORD "hf2:"
#define PERMIT_WORD "hfp1:"
#define SECRET_DIGITS 16

static void ticket_write(const struct ticket *t, char *out, size_t size)
{
    /* The number in a ticket is at most its fence, which is 0 if the store
     * gives none.  A hold's own number may be higher: for permits, whose fence
     * comes from the store, and for a fair lock that was given between two
     * polls. */
    snprintf(out, size, TICKET_WORD "%s:%016" PRIx64 ":%" PRId64 ":%" PRId64,
             t->owner, t->secret, min64(t->number, t->fence), t->fence);
}

/* The next ':'-separated number of `*at`.  0 or -1. */
static int number_next(const char **at, int64_t *out)
{
    char digits[24];
    size_t len = strcspn(*at, ":");
    if (len == 0 || len >= sizeof digits) return -1;
    memcpy(digits, *at, len);
    digits[len] = '\0';
    if (hf__number_parse(digits, 0, INT64_MAX, out) != 0) return -1;
    *at += len + ((*at)[len] == ':');
    return 0;
}

/* The secret, and the ':' behind it.  0 or -1. */
static int secret_next(const char **at, uint64_t *out)
{
    char digits[SECRET_DIGITS + 1];
    if (strspn(*at, "0123456789abcdef") != SECRET_DIGITS) return -1;
    if ((*at)[SECRET_DIGITS] != ':') return -1;
    memcpy(digits, *at, SECRET_DIGITS);
    digits[SECRET_DIGITS] = '\0';
    *out = strtoull(digits, NULL, 16);
    *at += SECRET_DIGITS + 1;
    return 0;
}

static int ticket_read(struct ticket *t, const char *text)
{
    int64_t holder;
    memset(t, 0, sizeof *t);
    if (!text || strncmp(text, TICKET_WORD, strlen(TICKET_WORD)) != 0)
        return -1;
    const char *at = text + strlen(TICKET_WORD);
    if (strspn(at, "0123456789abcdef-") != 36 || at[36] != ':') return -1;
    const char *after = at + 37;
    if (number_next(&after, &holder) != 0) return -1;
    size_t owner_len = (size_t)(after - at) - 1;
    if (owner_len >= sizeof t->owner) return -1;
    memcpy(t->owner, at, owner_len);
    if (secret_next(&after, &t->secret) != 0
        || number_next(&after, &t->number) != 0
        || number_next(&after, &t->fence) != 0 || *after || after[-1] == ':')
        return -1;
    /* A grant's fence is its number or above; a mistyped one must not raise
     * the store's counter. */
    if (t->number > t->fence || t->fence > BALLOT_MAX) return -1;
    t->holder = (uint64_t)holder;
    t->attempt = hf__ticket_attempt(t->secret);
    return 0;
}

static int ticket_bad(struct hf_error *err)
{
    return hf__error_set(err, HF_INVALID,
                         "ticket: not valid: a ticket has the form "
                         "hf2:<uuid>:<n>:<secret>:<n>:<n>");
}

static int detach_refuse(int status, struct hf_error *err)
{
    return hf__error_set(err, status, "ticket: %s",
                         status == HF_UNSUPPORTED
                             ? "it was not acquired detached"
                             : hf_status_text(status));
}

int hf__attach_ticket_of(hf_client *c, struct seat *s, char *ticket,
                         size_t size, struct hf_error *err)
{
    struct pump *p = &c->pump;
    struct ticket t;
    if (!ticket || size < HF_TICKET_MAX)
        return hf__error_set(err, HF_INVALID,
                             "ticket: room for %zu bytes: %d are needed",
                             ticket ? size : 0, HF_TICKET_MAX);
    hf__pump_lock(p);
    int status = hf__engine_detach(&p->engine, s, &t, hf__clock_us());
    hf__pump_news(p);
    hf__pump_unlock(p);
    if (status != HF_OK) return detach_refuse(status, err);
    /* The ticket of permits also says how many. */
    int n = t.permits
                ? snprintf(ticket, size, PERMIT_WORD "%" PRId64 ":", t.permits)
                : 0;
    ticket_write(&t, ticket + n, size - (size_t)n);
    return HF_OK;
}

/* A ticket of permits also says how many: semaphore/ticket.c. */
static int permit_refuse(const hf_lock *lock, struct hf_error *err)
{
    if (lock->entry->kind != KIND_PERMIT) return HF_OK;
    return hf__error_set(err, HF_UNSUPPORTED,
                         "ticket: of a semaphore: use "
                         "hf_semaphore_attach()");
}

int hf_lock_attach(hf_lock *lock, const char *ticket, int64_t lease_ms,
                   hf_hold **hold, struct hf_error *err)
{
    int status = permit_refuse(lock, err);
    if (status != HF_OK) return status;
    return hf__attach_ticket_attach(lock, ticket, 0, lease_ms, hold, err);
}

int hf__attach_prepare(struct op *op, hf_lock *lock, const char *ticket,
                       int64_t permits, int64_t lease_ms, struct hf_error *err)
{
    const struct engine *e = &lock->client->pump.engine;
    int status = hf__client_check(lock->client, err);
    if (status != HF_OK) return status;
    hf__call_init(op, OP_TYPE_ATTACH, lock, hf_holder_new());
    if (ticket_read(&op->ticket, ticket) != 0) return ticket_bad(err);
    op->ticket.permits = permits;
    status = hf__lease_check(lease_ms, err);
    if (status != HF_OK) return status;
    op->lease_us = lease_ms ? lease_ms * US_PER_MS : e->lease_us;
    op->lease_any = !lease_ms && !e->lease_given;
    return hf__call_reserve(lock, op, err);
}

int hf__attach_ticket_attach(hf_lock *lock, const char *ticket, int64_t permits,
                             int64_t lease_ms, hf_hold **hold,
                             struct hf_error *err)
{
    struct op op;
    int status = hf__out_check(hold, err);
    if (status == HF_OK)
        status = hf__attach_prepare(&op, lock, ticket, permits, lease_ms, err);
    if (status != HF_OK) return status;
    status = hf__call_wait(lock->client, &op, err);
    if (status == HF_OK) *hold = op.hold;
    return status;
}

static void attach_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    hf__call_give(c, op);
    ((hf_acquired_fn)op->complete_fn)(lock, op->status, op->hold, &op->err,
                                      op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_lock_attach_start(hf_lock *lock, const char *ticket, int64_t lease_ms,
                         hf_acquired_fn cb, void *user, struct hf_error *err)
{
    struct op op;
    int status = permit_refuse(lock, err);
    if (status == HF_OK) status = hf__told_check(cb != NULL, err);
    if (status == HF_OK)
        status = hf__attach_prepare(&op, lock, ticket, 0, lease_ms, err);
    if (status != HF_OK) return status;
    status = hf__call_start(lock->client, &op, attach_complete, lock,
                            (void (*)(void))cb, user, err);
    if (status != HF_OK) hf__handle_cancel(op.handle, lock->client);
    return status;
}

static int release_prepare(struct op *op, hf_lock *lock, const char *ticket,
                           struct hf_error *err)
{
    int status = hf__client_check(lock->client, err);
    if (status == HF_OK) status = permit_refuse(lock, err);
    if (status != HF_OK) return status;
    hf__call_init(op, OP_TYPE_TICKET_RELEASE, lock, 0);
    return ticket_read(&op->ticket, ticket) != 0 ? ticket_bad(err) : HF_OK;
}

int hf_ticket_release(hf_lock *lock, const char *ticket, struct hf_error *err)
{
    struct op op;
    int status = release_prepare(&op, lock, ticket, err);
    return status == HF_OK ? hf__call_wait(lock->client, &op, err) : status;
}

static void release_complete(struct op *op)
{
    hf_lock *lock = op->complete_data;
    hf_client *c = lock->client;
    ((hf_ticket_released_fn)op->complete_fn)(lock, op->status, &op->err,
                                             op->complete_user);
    hf__free(&c->alloc, op);
}

int hf_ticket_release_start(hf_lock *lock, const char *ticket,
                            hf_ticket_released_fn cb, void *user,
                            struct hf_error *err)
{
    struct op op;
    int status = release_prepare(&op, lock, ticket, err);
    if (status == HF_OK && !cb)
        status = hf__error_set(err, HF_INVALID, "ticket: no callback");
    if (status != HF_OK) return status;
    return hf__call_start(lock->client, &op, release_complete, lock,
                          (void (*)(void))cb, user, err);
}

/* ---- kernel locks that survive exec ------------------------------------- */

/* Under the lock: the duplicate, or -1 with `status` set. */
static int lend(struct engine *e, const struct seat *s, int *status)
{
    char owner[OWNER_LEN_MAX];
    struct node *n = hf__node_of(e, s->entry, 0);
    *status = s->hold.lost_status != HF_OK ? s->hold.lost_status : HF_EXPIRED;
    if (s->hold.state != HOLD_HELD) return -1;
    *status = HF_UNSUPPORTED;
    if (!n->backend->lend || s->hold.flags & HOLD_DETACHED) return -1;
    *status = HF_OK;
    hf__seat_owner(e, s, owner);
    return n->backend->lend(n->conn, s->entry->name, s->entry->name_len, owner,
                            s->hold.attempt);
}

int hf__inherit_of(hf_client *c, struct seat *s, int *out_fd,
                   struct hf_error *err)
{
    int status = HF_OK;
    hf__pump_lock(&c->pump);
    int fd = lend(&c->pump.engine, s, &status);
    hf__pump_unlock(&c->pump);
    if (status == HF_OK && fd < 0)
        return hf__error_errno(err, HF_INTERNAL, errno, "inherit");
    if (status != HF_OK)
        return hf__error_set(err, status, "inherit: %s",
                             status == HF_UNSUPPORTED
                                 ? "this hold is not a kernel lock"
                                 : hf_status_text(status));
    *out_fd = fd;
    return HF_OK;
}
