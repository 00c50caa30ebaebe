/*
 * command.h: what a sub-command is.
 *
 * A command is one const table and its functions.  Everything that is told
 * about a command (--help, its man page, completions) is printed from that
 * table, so none of it can be out of date.  The command sees only the public
 * headers of the library.
 */
#ifndef HOLDFAST_CLI_COMMAND_H
#define HOLDFAST_CLI_COMMAND_H

#include <stddef.h>

#include "option/option.h"

/* A line of a list: a term, and what it means. */
struct term_row {
    const char *term;
    const char *text;
};

/* One sub-command. */
struct command {
    const char *name;
    const char *summary;
    const char *usage;        /* what comes after "holdfast NAME" */
    const char *const *about; /* paragraphs, NULL at the end */
    const struct option_row *options;
    size_t options_len;
    const struct term_row *exits; /* NULL term at the end */
    const struct term_row *env;   /* NULL, or as above */
    const char *const *examples;  /* lines, NULL at the end */
    int hidden;
    int takes_lock;      /* its first argument is a lock's name */
    int runs_command;    /* and what follows is a command, with its words */
    const char *actions; /* or the first argument is one of these: "set|get" */
    int (*run)(const struct command *self, int argc, char **argv);
};

#define OPTIONS(rows)                                                          \
    .options = (rows), .options_len = sizeof(rows) / sizeof((rows)[0])

extern const struct command cmd_run, cmd_once, cmd_elect, cmd_acquire,
    cmd_renew, cmd_release, cmd_status, cmd_list, cmd_why, cmd_break, cmd_init,
    cmd_install_schema, cmd_doctor, cmd_guard, cmd_latch, cmd_barrier,
    cmd_stock, cmd_stress, cmd_lab, cmd_help, cmd_version, cmd_man,
    cmd_complete;
extern const struct command *const commands[]; /* NULL at the end */
const struct command *command_find(const char *name);

/* The exits that every command talking to a store may have. */
#define EXIT_ROWS_STORE                                                        \
    {"64", "wrong use of the command"}, {"69", "the store cannot be reached"}, \
        {"70", "a bug in holdfast, or the machine is out of memory"},          \
        {"77", "not permitted"},                                               \
    {                                                                          \
        "78", "bad configuration: the URL, or something the store cannot do"   \
    }

/* What the simple commands begin with: parse options and `words_min` to
 * `words_max` words, say_setup(), --help.  -1 to go on, or the exit code to end
 * with. */
int command_begin(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_min,
                  int words_max);
/* Say what is wrong with the use of `cmd`; EXIT_USAGE. */
int command_usage(const struct command *cmd, const char *what);

#endif
