/* inspect.h: telling about one lock. */
#ifndef HF_FILE_INSPECT_H
#define HF_FILE_INSPECT_H

#include "backend/file/proc.h"

/* Answer VERB_INSPECT. */
int hf__file_inspect(struct backend_conn *c, struct request *req,
                     struct reply *reply);

/* Tell of a lock by its record and its holder (NULL: no process). */
void hf__file_inspect_fill(struct backend_conn *c, const struct record *r,
                           const struct kernel_lock *k, int is_path,
                           const char *owner, struct hf_info *info);

#endif
