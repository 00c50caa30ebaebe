/*
 * swap.c: replacing a cell.  One rule: all parts of a multi are carried out, or
 * none; a part that must not be repeated names the version that it replaces.
 *
 * Where a swap brings the name into use, no lock may have the name: its node
 * must have no children.  A multi cannot ask for that, but a node with children
 * cannot be deleted: the lock's node is deleted, and made before if there is
 * none.  The next attempt at a lock makes it anew.  A lock's side of it is
 * hf__zookeeper_cell_bars(): it makes its node first, and then looks at the
 * cell; so the later of the two sees the earlier.  A node that has data was not
 * made for locks alone, and is never deleted.
 */
#include <stdio.h>
#include <string.h>

#include "backend/sql/record.h"
#include "backend/zookeeper/zookeeper.h"

#define PART_END (-1)

/* ---- out ---- */

static void part_begin(struct jute_out *o, int32_t type)
{
    hf__zookeeper_out_int(o, type);
    hf__zookeeper_out_bool(o, type == PART_END);
    hf__zookeeper_out_int(o, -1);
}

static void create_put(struct backend_conn *c, struct jute_out *o,
                       const char *path, const void *data, size_t len)
{
    part_begin(o, ZK_CREATE);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_bytes(o, data, len);
    hf__zookeeper_acl_put(c, o);
    hf__zookeeper_out_int(o, ZK_PERSISTENT);
}

static void delete_put(struct jute_out *o, const char *path, int32_t version)
{
    part_begin(o, ZK_DELETE);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_int(o, version);
}

static void set_put(struct jute_out *o, const char *path, const void *data,
                    size_t len, int32_t version)
{
    part_begin(o, ZK_SET_DATA);
    hf__zookeeper_out_text(o, path);
    hf__zookeeper_out_bytes(o, data, len);
    hf__zookeeper_out_int(o, version);
}

/* Does the swap put the name to use? If the name is in use already, no lock
 * came in between, for the cell is still the one that was read. */
static int takes(const struct sql_job *job)
{
    return job->is_used && !(job->priv & CELL_IS_USED)
           && (job->req->verb == VERB_PROPOSE || job->req->verb == VERB_TALLY);
}

static void cell_put(struct backend_conn *c, struct jute_out *o,
                     const struct sql_job *job)
{
    const struct cell_bytes *record = &c->cells.record;
    const struct request *req = job->req;
    const char *path = hf__zookeeper_cell_path(c, req->name, req->name_len);
    int32_t version = (int32_t)(job->next.version - 1);
    if (job->next.version == 0) {
        create_put(c, o, path, record->at, record->len);
    } else if (version >= CELL_VERSION_END || version < 0) {
        delete_put(o, path, version);
        create_put(c, o, path, record->at, record->len);
    } else {
        set_put(o, path, record->at, record->len, version);
    }
}

/* ---- in ---- */

static void result_skip(struct jute_in *in, int32_t type)
{
    struct jute_stat stat;
    size_t len;
    if (type == ZK_CREATE) (void)hf__zookeeper_in_text(in, &len);
    if (type == ZK_SET_DATA) hf__zookeeper_in_stat(in, &stat);
}

int32_t hf__zookeeper_multi_read(struct jute_in *in, int *which)
{
    int32_t err = 0;
    for (int i = 0; !in->is_bad; i++) {
        int32_t type = hf__zookeeper_in_int(in);
        int is_done = hf__zookeeper_in_bool(in);
        (void)hf__zookeeper_in_int(in);
        if (is_done) break;
        if (type != PART_END) {
            result_skip(in, type);
            continue;
        }
        int32_t told = hf__zookeeper_in_int(in);
        if (err != 0 || told == ZK_OK || told == ZK_INCONSISTENT) continue;
        err = told;
        *which = i;
    }
    return err;
}

/* Has another client changed the cell or the lock's node meanwhile? */
static int is_overtaken(const struct sql_job *job, int32_t err, int which)
{
    int parts = takes(job) ? 1 + ((job->priv & CELL_IS_ALONE) != 0) : 0;
    int creates = job->next.version == 0 && which == parts;
    if (err == ZK_NO_NODE) return !creates && !(parts == 2 && which == 0);
    return err == ZK_BAD_VERSION || err == ZK_NODE_EXISTS
           || err == ZK_NOT_EMPTY;
}

static void swapped(struct backend_conn *c, const struct call *call,
                    struct answer *a)
{
    struct sql_job *job = call->cell;
    int which = 0;
    int32_t err =
        a->err != ZK_OK ? a->err : hf__zookeeper_multi_read(&a->body, &which);
    if (a->err == ZK_OK && a->body.is_bad) {
        hf__zookeeper_link_fail(c, HF_UNAVAILABLE, "swap: a strange answer");
        return;
    }
    if (err == ZK_OK) {
        hf__zookeeper_session_proved(c, call->sent_us);
        hf__sql_answer_swapped(job);
        return;
    }
    if (!is_overtaken(job, err, which)) {
        hf__zookeeper_cell_refuse(job, "swap", err);
        return;
    }
    hf__zookeeper_cell_again(c, job);
}

void hf__zookeeper_swap_send(struct backend_conn *c, struct sql_job *job)
{
    const struct request *req = job->req;
    struct sql_row row = job->next;
    row.news += job->tell != SQL_TELL_NONE;
    if (takes(job) && (job->priv & CELL_IS_BARRED)) {
        hf__sql_refuse(job, HF_CONFLICT,
                       "the node of that name has data of another program");
        return;
    }
    if (hf__sql_record_write(&row, row.waits_us, &c->cells.record) != HF_OK) {
        hf__sql_refuse(job, HF_NOMEM, "out of memory");
        return;
    }
    if (c->cells.record.len > CELL_LEN_MAX) {
        hf__sql_refuse(job, HF_UNAVAILABLE,
                       "more is kept under the name than a node may have: "
                       "change it less often");
        return;
    }
    struct jute_out *o = hf__zookeeper_call_begin(c, ZK_MULTI);
    if (takes(job)) {
        const char *path = hf__zookeeper_path(c, req->name, req->name_len);
        if (job->priv & CELL_IS_ALONE) create_put(c, o, path, "", 0);
        delete_put(o, path, (int32_t)(intptr_t)job->priv_ptr);
    }
    cell_put(c, o, job);
    part_begin(o, PART_END);
    job->may_have_changed = 1;
    hf__zookeeper_call_end_for(c, swapped, job, NULL);
}
