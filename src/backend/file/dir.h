/* dir.h: the lock directory. */
#ifndef HF_FILE_DIR_H
#define HF_FILE_DIR_H

#include "backend/file/file.h"

/* Open the directory that `url` means. */
int hf__file_dir_open(struct backend_conn *c, const struct url *url,
                      struct hf_error *err);

/* Does its path mean another directory by now?  1 or 0. */
int hf__file_dir_is_replaced(const struct backend_conn *c);

/* Go on with the directory that the path means now, made if it is not there.
 * 0; or -1, and the old one stays. */
int hf__file_dir_reopen(struct backend_conn *c);

/* The same, but only if it is another one. */
void hf__file_dir_follow(struct backend_conn *c);

/* HF_OK, or a status with c->err: nothing can be written there. */
int hf__file_dir_check_write(struct backend_conn *c);

#endif
