/* error.h: why a request cannot be carried out. */
#ifndef HF_FILE_ERROR_H
#define HF_FILE_ERROR_H

#include "backend/file/file.h"

/* Fill c->err from errno and return the status that it means. */
int hf__file_fail(struct backend_conn *c, const char *what, const char *which,
                  int sys_errno);

/* Put c->err into `reply`; returns ANSWER_DONE. */
int hf__file_refuse(struct backend_conn *c, struct reply *reply, int status);

#endif
