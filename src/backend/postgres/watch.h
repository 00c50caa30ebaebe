/* watch.h: being told that a name has news. */
#ifndef HF_POSTGRES_WATCH_H
#define HF_POSTGRES_WATCH_H

#include "backend/postgres/postgres.h"

#define CHANNEL_MAX 24
#define PAYLOAD_MAX 1400 /* a name in hex, and a hold in words */

/* The channel of a name.  A name of 512 bytes does not fit into the 63 that a
 * channel may have. */
void hf__postgres_watch_channel(const char *name, size_t name_len,
                                char out[CHANNEL_MAX]);

/* The name, as it is said there. */
void hf__postgres_watch_name(const char *name, size_t name_len,
                             char out[PAYLOAD_MAX]);

/* What is said there of the job's name. */
void hf__postgres_watch_payload(const struct sql_job *job,
                                char out[PAYLOAD_MAX]);

/* SQL_WATCH and SQL_UNWATCH.  0, or -1: the link is down. */
int hf__postgres_watch_send(struct backend_conn *c, struct sql_job *job);

/* A proposal has found the row with this mark: if its waiter listens here, and
 * the mark is old, write it anew.  0, or -1: the link is down, and the request
 * is answered. */
int hf__postgres_watch_seen(struct backend_conn *c, const struct request *req,
                            int64_t waits_us, int64_t clock_us);

/* The link is up again: listen to everything as before. */
void hf__postgres_watch_up(struct backend_conn *c);

/* Take what libpq was told.  Returns whether there was anything. */
int hf__postgres_watch_notified(struct backend_conn *c);

/* The answer of a FLIGHT_LISTEN or FLIGHT_MARK. */
void hf__postgres_watch_answer(struct backend_conn *c, const struct flight *f,
                               int is_error);

#endif
