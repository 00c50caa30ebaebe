/*
 * guard/guard.h: what the files of holdfast guard share.  One rule: a token is
 * read before anything is opened, so that a bad one changes nothing.
 */
#ifndef HOLDFAST_CLI_GUARD_GUARD_H
#define HOLDFAST_CLI_GUARD_GUARD_H

#include <stddef.h>
#include <stdint.h>

#include "command.h"

/* The words behind the action: KEY, PATH or DIALECT, and what follows. */
struct guard_call {
    const struct command *self;
    const struct options *o;
    const char *words[3];
    uint64_t token; /* 0: the action needs none */
};

/* What each action does; the exit code. */
int guard_sql(const struct guard_call *g);
int guard_lua(const struct guard_call *g);
int guard_touch(const struct guard_call *g);
int guard_set(const struct guard_call *g);
int guard_delete(const struct guard_call *g);
int guard_token(const struct guard_call *g);
int guard_get(const struct guard_call *g);
int guard_file(const struct guard_call *g);
int guard_file_touch(const struct guard_call *g);
int guard_file_token(const struct guard_call *g);

/* Standard input; the caller frees `data`, also after a failure. */
struct input {
    char *data;
    size_t len, size;
};

/* Read all of it: 0, or an exit code after having said what is wrong. */
int input_read(struct input *in);

#endif
