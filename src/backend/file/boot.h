/* boot.h: the marker of a directory that is a member of a quorum. */
#ifndef HF_FILE_BOOT_H
#define HF_FILE_BOOT_H

#include "backend/file/file.h"

/* Answer VERB_BOOT. */
int hf__file_boot(struct backend_conn *c, struct request *req,
                  struct reply *reply);

/* Is there no marker of the request's group, or is it not settled? */
int hf__file_boot_is_missing(const struct backend_conn *c,
                             const struct request *req, int64_t wall_us);

#endif
