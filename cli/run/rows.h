/*
 * run/rows.h: rows of the manuals of run, once and elect.
 */
#ifndef HOLDFAST_CLI_RUN_ROWS_H
#define HOLDFAST_CLI_RUN_ROWS_H

#include "command.h"

/* The last rows of the exit statuses of run and once. */
#define EXIT_ROWS_COMMAND                                                      \
    {"80", "the lock was lost while the command ran"},                         \
        {"124", "--max-hold ended the command"},                               \
        {"126", "the command cannot be run"},                                  \
        {"127", "the command was not found"}, EXIT_ROWS_STORE

/* The environment of run and once, for their manuals. */
#define ENV_ROWS_COMMAND                                                       \
    {"HOLDFAST_URL",                                                           \
     "where the locks live, if --url is not given; the command gets the URL "  \
     "that was used, without its password"},                                   \
        {"HOLDFAST_URL_FILE", "a file whose first line is the URL"},           \
        {"HOLDFAST_CONFIG", "the configuration file"},                         \
        {"HOLDFAST_PROFILE", "a profile of the configuration file"},           \
        {"HOLDFAST_REQUIRE", "as --require; both hold"},                       \
        {"HOLDFAST_USER", "the store's user, instead of the URL's"},           \
        {"HOLDFAST_PASSWORD",                                                  \
         "the store's password; the command does not get it"},                 \
        {"HOLDFAST_PASSWORD_FILE",                                             \
         "a file whose first line is the store's password, read at every "     \
         "connect"},                                                           \
        {"HOLDFAST_SENTINEL_PASSWORD",                                         \
         "the password of Redis Sentinels; the command does not get it"},      \
        {"HOLDFAST_LOCK", "for the command: the lock's name"},                 \
        {"HOLDFAST_FENCE",                                                     \
         "for the command: the fencing token, a rising number; not set if "    \
         "the lock has none"},                                                 \
        {"HOLDFAST_HELD",                                                      \
         "for a holdfast inside the command: which locks are held around it, " \
         "and by which process"},                                              \
        {"HOLDFAST_LOCKS",                                                     \
         "for the command: the names of all locks that are held for it, one "  \
         "per line; more than one with run --also"},                           \
        {"HOLDFAST_FENCES",                                                    \
         "for the command: their fencing tokens, in the same order, with "     \
         "blanks between; 0 for a lock that has none"},                        \
        {"HOLDFAST_GUARANTEE",                                                 \
         "for the command: store; host if the store is of this host (file: "   \
         "and its like); or local if the store could not be reached and "      \
         "--fallback local took a lock of this host"},                         \
        {"HOLDFAST_HOLDER",                                                    \
         "for the command: host, pid and fence of the hold"},                  \
        {"HOLDFAST_TTL_MS",                                                    \
         "for the command: how long the lock is valid from the start unless "  \
         "it is renewed; -1: no limit"},                                       \
    {                                                                          \
        "HOLDFAST_STATUS_FD",                                                  \
            "for the command: a pipe with the lines \"held MS\", "             \
            "\"at-risk\" and \"lost\"; its end means that holdfast is gone"    \
    }

#endif
