/* fast.h: a plain lock by one statement. */
#ifndef HF_MYSQL_FAST_H
#define HF_MYSQL_FAST_H

#include "backend/mysql/row.h"

/* Write the statements of a PROPOSE, RENEW or RELEASE; returns their number. */
unsigned hf__mysql_fast_write(struct text *t, const struct sql_job *job);

void hf__mysql_fast_answer(struct sql_job *job, const struct fields *f);

#endif
