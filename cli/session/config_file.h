/*
 * session/config_file.h: one configuration file.
 */
#ifndef HOLDFAST_CLI_SESSION_CONFIG_FILE_H
#define HOLDFAST_CLI_SESSION_CONFIG_FILE_H

#include "session/config.h"

/* Read what the file at `path` says for `profile`; "": in front of the first
 * one.  `is_named`: the user named the file, so that it must be there, and may
 * be anybody's.  `is_found`: it says where the locks live, or has the profile.
 * 0, or an exit code after having said what is wrong. */
int config_file_read(struct config *out, const char *path, const char *profile,
                     int is_named, int *is_found);
/* 1 if there is a key that is about the store; `require` is about any. */
int config_says_where(const struct config *c);

#endif
