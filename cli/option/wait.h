/*
 * option/wait.h: what -n, -w and --backoff say about waiting.
 */
#ifndef HOLDFAST_CLI_OPTION_WAIT_H
#define HOLDFAST_CLI_OPTION_WAIT_H

#include <stdint.h>

#include "command.h"

/* Check that -n, -w, --renew and --backoff fit together.  0, or EXIT_USAGE
 * after an error message. */
int wait_check(const struct command *cmd, const struct options *o);
/* What -n and -w say: WAIT_TRY, or wait_ms as an acquire or a wait has it. */
#define WAIT_TRY (-1)
#define SILENT_MS 2000  /* how long a store may be away without a message */
#define WATCHED_MS 1000 /* and how long a user at a terminal sees nothing */
/* 1 if a user at a terminal may read what is written to stderr. */
int wait_is_watched(const struct options *o);
int64_t wait_choose(const struct options *o);
/* Put that into an acquire's options. */
void acquire_wait(struct hf_acquire_options *ao, int64_t wait_ms);

/* option/backoff.c: --backoff into `out`: NULL, or what is wrong with it. */
const char *backoff_parse(const char *text, struct hf_acquire_options *out);

#endif
