/*
 * stocks.c: a job for one segment of a sale, or for the tables of sales in a
 * database: one request to the first node, without a hold.
 *
 * The rule: a request to a segment may be repeated, because a segment knows
 * what it has done.  One to a ledger is not: its caller reads the cursor first.
 */
#include "engine/stocks.h"

#include <string.h>

#include "base/ledger.h"
#include "base/stock.h"
#include "engine/direct.h"
#include "engine/engine.h"
#include "engine/nodes.h"
#include "engine/ops.h"

void hf__stocks_start(struct engine *e, struct op *op)
{
    struct request *r = hf__direct_request(e, op);
    if (!r) return;
    if (op->ledger) {
        r->verb = VERB_LEDGER;
        r->ledger = op->ledger;
        r->name = op->ledger->sale;
        r->name_len = strlen(r->name);
    } else {
        r->verb = VERB_STOCK;
        r->stock = op->stock;
        r->name = op->stock->name;
        r->name_len = op->stock->name_len;
    }
    hf__request_send(e, &e->nodes[0], r);
}

void hf__stocks_answered(struct engine *e, struct op *op,
                         const struct reply *rep)
{
    int status = HF_OK;
    if (rep->verdict != V_GRANTED)
        status = e->closing ? HF_CLOSED : rep->status;
    hf__op_finish(e, op, status, rep->text);
}
