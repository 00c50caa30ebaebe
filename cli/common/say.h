/*
 * common/say.h: sentences on stderr, and the end of standard output.
 */
#ifndef HOLDFAST_CLI_COMMON_SAY_H
#define HOLDFAST_CLI_COMMON_SAY_H

#include <stddef.h>
#include <stdio.h>

/* Set what is said, and how.  `json_fd` >= 0: as events, to that fd. */
void say_setup(int quiet, int verbose, int json_fd);
int say_json_fd(void);
/* "holdfast: ..." on stderr, unless quiet (error: always; note: if verbose). */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Write all of `buf`; 0, or -1. */
int write_all(int fd, const char *buf, size_t len);
/* If set, lines that a reader does not take in time are dropped from now on;
 * otherwise they are waited for. */
void say_hasty(int is_hasty);
/* Write one line.  A line that is not needed is dropped sooner. */
void say_write(int fd, const char *buf, size_t len, int is_needed);

/* common/stdout.c: flush standard output.  0, or EXIT_BUG after having said
 * why not. */
int stdout_end(void);

#endif
