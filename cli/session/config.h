/*
 * session/config.h: the configuration file: where the locks live, and how much
 * a store must promise.
 */
#ifndef HOLDFAST_CLI_SESSION_CONFIG_H
#define HOLDFAST_CLI_SESSION_CONFIG_H

#include "option/option.h"

/* What the file says for the profile that was asked for; "" if nothing. */
struct config {
    char path[1024]; /* the file; "": none was read */
    char url[2048];
    char user[256];
    char password[512];
    char require[256];     /* of the command line as well */
    char keys[2048];       /* options of the URL: "lease=1m&tls=on" */
    int has_password_file; /* password_file is among the keys */
    int has_secret;        /* something in the file is a password */
    int has_lines;         /* the file is not empty */
    int is_named;          /* named by --config or HOLDFAST_CONFIG */
};

/* The options before the command's name: holdfast -p prod run.  NULL if not
 * given. */
void config_choose(const char *file, const char *profile);
/* Require one more level; all that were given hold. */
void config_require(const char *level);

/* Read the file.  0, or an exit code after having said what is wrong. */
int config_read(const struct options *o, struct config *out);
/* 1 if a profile was named on the command line, 2 if by the environment. */
int config_is_chosen(const struct options *o);
/* The URL with the keys of the file as its options, into `out`: 0, or an exit
 * code. */
int config_url(const struct config *c, char *out, size_t size);

/* ---- session/require.c ---- */

#define REQUIRE_DISTRIBUTED 1u
#define REQUIRE_QUORUM 2u
#define REQUIRE_FENCED 4u

/* All that `c` and the environment require, as bits.
 * 0, or an exit code after having said what is wrong with one of them. */
int require_read(const struct config *c, unsigned *out);
/* Refuse a client that promises less.  `file`: the configuration file, or
 * "".  0, or EXIT_CONFIG after a sentence. */
int require_check(unsigned require, hf_client *client, const char *file);

#endif
