/*
 * value.h: a versioned value as a file of its own.
 *
 * One rule: a value's file is only ever replaced as a whole, by rename(2), so
 * that a reader needs no lock; writers exclude each other by a guard file.
 */
#ifndef HF_FILE_VALUE_H
#define HF_FILE_VALUE_H

#include "backend/file/file.h"

/* Answer VERB_VALUE_WRITE. */
int hf__file_value_write(struct backend_conn *c, struct request *req,
                         struct reply *reply);

/* Answer VERB_VALUE_READ: the bytes are lent during the answer only. */
int hf__file_value_read(struct backend_conn *c, struct request *req,
                        struct reply *reply);

#endif
