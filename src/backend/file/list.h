/* list.h: the locks of a directory that are held. */
#ifndef HF_FILE_LIST_H
#define HF_FILE_LIST_H

#include "backend/file/file.h"

/* Is anything locked here?  1 or 0; -1 with c->err. */
int hf__file_list_has_any(struct backend_conn *c);

/* Answer VERB_LIST: the rows are lent during the answer only. */
int hf__file_list(struct backend_conn *c, struct request *req,
                  struct reply *reply);

#endif
