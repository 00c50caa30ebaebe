/*
 * ledger.c: the tables of sales in a database, and the statements that move
 * events into them.
 *
 *   holdfast_sale         a sale: its quantity, and the units sold
 *   holdfast_sale_cursor  a segment: the last event that is in the tables
 *   holdfast_sale_order   a reservation, by the number that its segment gave it
 *   holdfast_sale_user    the units sold to a user
 *
 * One rule: what must not happen is refused by the database, and the whole
 * transaction with it: by NOT NULL an event of another place than the cursor's,
 * and an older fence; by CHECK units beyond the quantity, or beyond a user's
 * limit.
 */
#include <inttypes.h>

#include "backend/sql/script.h"

#define SALE_LEN (3 * HF_STOCK_NAME_MAX)
#define USER_LEN (3 * HF_STOCK_USER_MAX)
#define REQUEST_LEN (3 * HF_STOCK_ID_MAX)
#define ID_LEN (STOCK_ENTRY_ID_MAX - 1)
#define WORD_LEN 12

/* ---- tables ------------------------------------------------------------- */

struct types {
    const char *collation; /* of texts: by their bytes */
    const char *tail;
};

static const struct types types_of[] = {
    [SQL_SQLITE] = {"", " WITHOUT ROWID"},
    [SQL_POSTGRES] = {" COLLATE \"C\"", ""},
    [SQL_MYSQL] = {" CHARACTER SET ascii COLLATE ascii_bin", " ENGINE=InnoDB"},
};

static void column(struct sql_script *s, const struct types *t,
                   const char *name, int len)
{
    hf__sql_put(s, "%s VARCHAR(%d)%s NOT NULL,", name, len, t->collation);
}

static void table_begin(struct sql_script *s, const struct types *t,
                        const char *name)
{
    hf__sql_put(s, "CREATE TABLE IF NOT EXISTS %s (", name);
    column(s, t, "sale", SALE_LEN);
}

static void make(struct sql_script *s, enum sql_dialect dialect)
{
    const struct types *t = &types_of[dialect];
    table_begin(s, t, "holdfast_sale");
    hf__sql_put(s,
                "quantity BIGINT NOT NULL,sold BIGINT NOT NULL,"
                "PRIMARY KEY (sale),CHECK (sold<=quantity))%s",
                t->tail);
    hf__sql_put_end(s);
    table_begin(s, t, "holdfast_sale_cursor");
    column(s, t, "id", ID_LEN);
    hf__sql_put(s,
                "segment INTEGER NOT NULL,event BIGINT NOT NULL,"
                "fence BIGINT NOT NULL,losses BIGINT NOT NULL,"
                "PRIMARY KEY (sale,segment),CHECK (event>=0))%s",
                t->tail);
    hf__sql_put_end(s);
    table_begin(s, t, "holdfast_sale_order");
    column(s, t, "usr", USER_LEN);
    column(s, t, "request", REQUEST_LEN);
    column(s, t, "id", ID_LEN);
    column(s, t, "state", WORD_LEN);
    column(s, t, "why", WORD_LEN);
    hf__sql_put(s,
                "segment INTEGER NOT NULL,lost BIGINT NOT NULL,"
                "number BIGINT NOT NULL,units BIGINT NOT NULL,"
                "PRIMARY KEY (sale,segment,lost,number))%s",
                t->tail);
    hf__sql_put_end(s);
    table_begin(s, t, "holdfast_sale_user");
    column(s, t, "usr", USER_LEN);
    hf__sql_put(s,
                "units BIGINT NOT NULL,most BIGINT NOT NULL,"
                "PRIMARY KEY (sale,usr),CHECK (most=0 OR units<=most))%s",
                t->tail);
    hf__sql_put_end(s);
}

/* ---- a sale ------------------------------------------------------------- */

static void open_sale(struct sql_script *s, enum sql_dialect dialect,
                      const struct ledger_job *job)
{
    int is_mysql = dialect == SQL_MYSQL;
    hf__sql_put(s,
                "INSERT INTO holdfast_sale (sale,quantity,sold) VALUES "
                "('%s',%" PRId64 ",0) ",
                job->sale, job->quantity);
    hf__sql_put(s, is_mysql
                       ? "ON DUPLICATE KEY UPDATE"
                         " quantity=GREATEST(quantity,VALUES(quantity))"
                       : "ON CONFLICT (sale) DO UPDATE SET quantity=CASE WHEN"
                         " excluded.quantity>holdfast_sale.quantity THEN"
                         " excluded.quantity ELSE holdfast_sale.quantity END");
    hf__sql_put_end(s);
    hf__sql_put(s, "INSERT INTO holdfast_sale_cursor"
                   " (sale,segment,event,id,fence,losses) VALUES ");
    for (uint32_t i = 0; i < job->segments; i++)
        hf__sql_put(s, "%s('%s',%u,0,'" LEDGER_START "',0,0)", i ? "," : "",
                    job->sale, i);
    hf__sql_put(s, is_mysql ? " ON DUPLICATE KEY UPDATE segment=VALUES(segment)"
                            : " ON CONFLICT (sale,segment) DO NOTHING");
    hf__sql_put_end(s);
}

static void read_sale(struct sql_script *s, const struct ledger_job *job)
{
    hf__sql_put(
        s,
        "SELECT c.segment,c.event,c.id,c.fence,c.losses,s.quantity,s.sold"
        " FROM holdfast_sale_cursor c"
        " JOIN holdfast_sale s ON s.sale=c.sale WHERE c.sale='%s'"
        " ORDER BY c.segment",
        job->sale);
    hf__sql_put_end(s);
}

static void read_orders(struct sql_script *s, const struct ledger_job *job)
{
    hf__sql_put(
        s,
        "SELECT number,id,usr,request FROM holdfast_sale_order WHERE sale='%s'"
        " AND segment=%u AND lost=0 AND number>=%" PRId64
        " AND number<=%" PRId64 " ORDER BY number",
        job->sale, job->segment, job->from, job->to);
    hf__sql_put_end(s);
}

/* One statement, so that all of it is of one moment. */
static void read_sums(struct sql_script *s, const struct ledger_job *job)
{
    static const char lost[] = "CASE WHEN lost>0 THEN 'lost' ELSE 'order' END";
    hf__sql_put(s,
                "SELECT segment,%s,state,why,COUNT(*),SUM(units)"
                " FROM holdfast_sale_order WHERE sale='%s'"
                " GROUP BY segment,%s,state,why",
                lost, job->sale, lost);
    hf__sql_put(s,
                " UNION ALL SELECT segment,'cursor',id,'',event,losses"
                " FROM holdfast_sale_cursor WHERE sale='%s'"
                " UNION ALL SELECT 0,'sale','','',quantity,sold"
                " FROM holdfast_sale WHERE sale='%s'",
                job->sale, job->sale);
    hf__sql_put_end(s);
}

/* ---- one request -------------------------------------------------------- */

void hf__sql_ledger_write(struct sql_script *s, enum sql_dialect dialect,
                          const struct ledger_job *job)
{
    s->is_write = job->what != LEDGER_READ && job->what != LEDGER_ORDERS
                  && job->what != LEDGER_SUMS;
    switch (job->what) {
    case LEDGER_MAKE:
        make(s, dialect);
        break;
    case LEDGER_OPEN:
        open_sale(s, dialect, job);
        break;
    case LEDGER_READ:
        read_sale(s, job);
        break;
    case LEDGER_APPLY:
        hf__sql_ledger_apply(s, dialect, job);
        break;
    case LEDGER_REFUSE:
        hf__sql_ledger_refuse(s, job);
        break;
    case LEDGER_LOST:
        hf__sql_ledger_lost(s, job);
        break;
    case LEDGER_ORDERS:
        read_orders(s, job);
        break;
    case LEDGER_SUMS:
        read_sums(s, job);
        break;
    }
}
