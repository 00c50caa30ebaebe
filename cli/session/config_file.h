/*
 * session/config_file.h: one configuration file.
 */
#ifndef HOLDFAST_CLI_SESSION_CONFIG_FILE_H
#define HOLDFAST_CLI_SESSION_CONFIG_FILE_H

#include "session/config.h"

/* Read what the file at `path` says for `profile`; "" for the keys above the
 * first profile.  `is_named`: the user has named the file, so it must exist,
 * and may belong to any user.  `is_found`: set if the file says where the locks
 * live, or has the profile.  0, or an exit code after having said what is
 * wrong. */
int config_file_read(struct config *out, const char *path, const char *profile,
                     int is_named, int *is_found);
/* 1 if there is a key that says which store; `require` does not. */
int config_says_where(const struct config *c);

#endif
