/* error.h: what the server's errors mean. */
#ifndef HF_MYSQL_ERROR_H
#define HF_MYSQL_ERROR_H

#include "holdfast/status.h"

/* HF_* and "what: why", of an error's number and words: the server's, or
 * libmariadb's own. */
int hf__mysql_error(unsigned code, const char *said,
                    char text[HF_ERROR_TEXT_MAX]);

/* 1 if it ends the connection, so that it is unknown what became of the
 * statement. */
int hf__mysql_error_is_fatal(unsigned code);

/* 1 if the statement was undone for the sake of another one, and may be run
 * again. */
int hf__mysql_error_is_passing(unsigned code);

#endif
