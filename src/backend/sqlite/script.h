/* script.h: statements that are one transaction. */
#ifndef HF_SQLITE_SCRIPT_H
#define HF_SQLITE_SCRIPT_H

#include "backend/sqlite/sqlite.h"

/* Carry out job->script and answer it.  SQLITE_OK, or the code with which it
 * failed, and it was not answered. */
int hf__sqlite_script_run(struct backend_conn *c, struct sql_job *job);

#endif
