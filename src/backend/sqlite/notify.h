/* notify.h: how waiters learn of what others have committed. */
#ifndef HF_SQLITE_NOTIFY_H
#define HF_SQLITE_NOTIFY_H

#include "backend/sqlite/sqlite.h"

/* A name is watched: listen from now on. */
void hf__sqlite_notify_listen(struct backend_conn *c);

/* Stop, for the file is closed. */
void hf__sqlite_notify_stop(struct backend_conn *c);

/* Read what inotify says; 1 if it said anything. */
int hf__sqlite_notify_read(struct backend_conn *c);

/* Look for news of the watched names and tell the waiters. */
void hf__sqlite_notify_look(struct backend_conn *c);

/* The time for another look has come, if it has: 1. */
int hf__sqlite_notify_due(struct backend_conn *c, int64_t now_us);

#endif
