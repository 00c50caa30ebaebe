/* watch.h: being told that a name has news. */
#ifndef HF_MYSQL_WATCH_H
#define HF_MYSQL_WATCH_H

#include "backend/mysql/mysql.h"
#include "backend/mysql/row.h"

/* SQL_WATCH: the row as it is now. */
void hf__mysql_watch_begun(struct backend_conn *c, struct sql_job *job,
                           const struct fields *f);

/* Look soon. */
void hf__mysql_watch_soon(struct backend_conn *c);

/* Is it time to look? */
int hf__mysql_watch_is_due(const struct backend_conn *c, int64_t now_us);

/* Put the look into the packet. */
void hf__mysql_watch_pack(struct backend_conn *c);

/* The rows of the names that are watched. */
void hf__mysql_watch_looked(struct backend_conn *c, MYSQL_RES *result);

/* The link is up again: something may have been missed. */
void hf__mysql_watch_up(struct backend_conn *c);

#endif
