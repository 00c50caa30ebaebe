/*
 * option/rows.h: the rows of options that several commands have, so that they
 * read alike everywhere.
 */
#ifndef HOLDFAST_CLI_OPTION_ROWS_H
#define HOLDFAST_CLI_OPTION_ROWS_H

#include <stddef.h>

#include "option/option.h"

#define FIELD(name) offsetof(struct options, name)

#define OPTION_ROW_FAIR(what)                                                  \
    {                                                                          \
        "", "fair", NULL, OPTION_FLAG, FIELD(fair), 1, 0, 0, what              \
    }
#define OPTION_ROW_FOREIGN                                                     \
    {                                                                          \
        "", "foreign", NULL, OPTION_FLAG, FIELD(foreign), 1, 0, 0,             \
            "also accept a number that another program stores under NAME, "    \
            "such as Redisson; without this such a number is a conflict, "     \
            "and is left as it is"                                             \
    }
#define OPTION_ROW_URL                                                         \
    {"",                                                                       \
     "url",                                                                    \
     "URL",                                                                    \
     OPTION_TEXT,                                                              \
     FIELD(url),                                                               \
     0,                                                                        \
     0,                                                                        \
     0,                                                                        \
     "where the locks live (holdfast help lists the URLs); default: "          \
     "$HOLDFAST_URL, or file: (this host)"},                                   \
        {"",                                                                   \
         "url-file",                                                           \
         "FILE",                                                               \
         OPTION_TEXT,                                                          \
         FIELD(url_file),                                                      \
         0,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "read the URL from the first line of FILE; default: "                 \
         "$HOLDFAST_URL_FILE"},                                                \
        OPTION_ROWS_CONFIG
#define OPTION_ROWS_CONFIG                                                     \
    {"",                                                                       \
     "profile",                                                                \
     "NAME",                                                                   \
     OPTION_TEXT,                                                              \
     FIELD(profile),                                                           \
     0,                                                                        \
     0,                                                                        \
     0,                                                                        \
     "use the profile NAME of the configuration file; also: holdfast -p "      \
     "NAME COMMAND; default: $HOLDFAST_PROFILE"},                              \
        {"",                                                                   \
         "config",                                                             \
         "FILE",                                                               \
         OPTION_TEXT,                                                          \
         FIELD(config),                                                        \
         0,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "the configuration file; default: $HOLDFAST_CONFIG, or "              \
         "~/.config/holdfast.conf, or /etc/holdfast.conf"},                    \
    {                                                                          \
        "", "require", "LEVEL", OPTION_TEXTS, FIELD(require), 0, 0, 0,         \
            "refuse a store that promises less: distributed, quorum or "       \
            "fenced, or several of them, separated by commas; "                \
            "$HOLDFAST_REQUIRE and the configuration file may require more"    \
    }
#define OPTION_ROW_TALK                                                        \
    {"v",                                                                      \
     "verbose",                                                                \
     NULL,                                                                     \
     OPTION_FLAG,                                                              \
     FIELD(verbose),                                                           \
     1,                                                                        \
     0,                                                                        \
     0,                                                                        \
     "say what happens, on stderr"},                                           \
        {"q",                                                                  \
         "quiet",                                                              \
         NULL,                                                                 \
         OPTION_FLAG,                                                          \
         FIELD(quiet),                                                         \
         1,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "say nothing but errors"},                                            \
    {                                                                          \
        "h", "help", NULL, OPTION_FLAG, FIELD(help), 1, 0, 0, "show this help" \
    }
#define OPTION_ROW_JSON(what)                                                  \
    {                                                                          \
        "", "json", NULL, OPTION_FLAG, FIELD(json), 1, 0, 0, what              \
    }
#define OPTION_ROW_WAIT(busy)                                                  \
    {"n",                                                                      \
     "nonblock nb",                                                            \
     NULL,                                                                     \
     OPTION_FLAG,                                                              \
     FIELD(nonblock),                                                          \
     1,                                                                        \
     0,                                                                        \
     0,                                                                        \
     "do not wait: fail at once if " busy},                                    \
    {                                                                          \
        "w", "wait timeout", "TIME", OPTION_WAIT, FIELD(wait_ms), 0, 0,        \
            WAIT_MS_MAX,                                                       \
            "wait at most TIME, or forever (the default); 0 is the same as -n" \
    }
#define OPTION_ROW_SIDE                                                        \
    {"s",                                                                      \
     "shared",                                                                 \
     NULL,                                                                     \
     OPTION_FLAG,                                                              \
     FIELD(side),                                                              \
     SIDE_SHARED,                                                              \
     0,                                                                        \
     0,                                                                        \
     "share the lock with every holder that uses -s: the readers' side of "    \
     "a read/write lock; on file: also with flock(1) -s"},                     \
    {                                                                          \
        "xe", "exclusive", NULL, OPTION_FLAG, FIELD(side), SIDE_EXCLUSIVE, 0,  \
            0,                                                                 \
            "exclude all others, also those with -s: the writers' side; "      \
            "the default is a plain lock, which has no sides"                  \
    }
#define OPTION_ROW_LEASE                                                       \
    {                                                                          \
        "", "lease", "TIME", OPTION_DURATION, FIELD(lease_ms), 0,              \
            HF_LEASE_MS_MIN, HF_LEASE_MS_MAX,                                  \
            "the lock ends by itself after TIME unless it is renewed; "        \
            "default: 30s; choose at least three times the slowest round "     \
            "trip to the store, and at least 100ms to run a command"           \
    }
#define OPTION_ROW_LABEL                                                       \
    {                                                                          \
        "", "label", "TEXT", OPTION_TEXT, FIELD(label), 0, 0, 0,               \
            "show TEXT beside the holder's name, as in holdfast status"        \
    }

#define OPTION_ROW_RENEW                                                       \
    {                                                                          \
        "", "renew", "TIME", OPTION_DURATION, FIELD(renew_ms), 0, 1,           \
            HF_LEASE_MS_MAX,                                                   \
            "renew the lock every TIME, which is at most half of its "         \
            "lease; default: a third of its lease"                             \
    }
#define OPTION_ROW_BACKOFF                                                     \
    {                                                                          \
        "", "backoff", "KIND[:FIRST[:MAX[:FACTOR]]]", OPTION_TEXT,             \
            FIELD(backoff), 0, 0, 0,                                           \
            "while waiting, ask again after a pause instead of being "         \
            "woken: none (the default), exponential, constant or jitter; "     \
            "FIRST and MAX are times, such as jitter:5ms:1s:2"                 \
    }
#define OPTION_ROW_FALLBACK                                                    \
    {                                                                          \
        "", "fallback", "fail|wait|local", OPTION_CHOICE, FIELD(fallback),     \
            HF_FALLBACK_FAIL, 0, 0,                                            \
            "when the store cannot be reached: fail (the default), wait for "  \
            "it, or use a lock of this host, which other hosts do not see"     \
    }

/* For commands that only look, and so do not wait. */
#define OPTION_ROW_FALLBACK_LOOK                                               \
    {                                                                          \
        "", "fallback", "fail|local", OPTION_CHOICE, FIELD(fallback),          \
            HF_FALLBACK_FAIL, HF_FALLBACK_LOCAL - HF_FALLBACK_FAIL, 0,         \
            "when the store cannot be reached: fail (the default), or look "   \
            "at the lock of this host, which other hosts do not see"           \
    }

/* What run and once share: options for the command and its supervision. */
#define OPTION_ROW_EXIT                                                        \
    {"E",                                                                      \
     "conflict-exit-code",                                                     \
     "N",                                                                      \
     OPTION_NUMBER,                                                            \
     FIELD(conflict_code),                                                     \
     0,                                                                        \
     0,                                                                        \
     255,                                                                      \
     "exit with N instead of 75 when the command is not run"},                 \
    {                                                                          \
        "", "skip-ok", NULL, OPTION_FLAG, FIELD(skip_ok), 1, 0, 0,             \
            "exit with 0 when the command is not run: for cron"                \
    }
#define OPTION_ROW_COMMAND                                                     \
    {                                                                          \
        "c", "command", "STRING", OPTION_TEXT, FIELD(shell), 0, 0, 0,          \
            "run STRING by sh -c"                                              \
    }
#define OPTION_ROW_SUPERVISE                                                   \
    {"",                                                                       \
     "grace",                                                                  \
     "TIME",                                                                   \
     OPTION_DURATION,                                                          \
     FIELD(grace_ms),                                                          \
     0,                                                                        \
     1,                                                                        \
     HF_LEASE_MS_MAX,                                                          \
     "the time from TERM to KILL when the command must end; default: 5s, "     \
     "at most a third of the lease"},                                          \
        {"",                                                                   \
         "on-lost",                                                            \
         "term|kill|warn|SIGNAL|exec:COMMAND",                                 \
         OPTION_TEXT,                                                          \
         FIELD(on_lost),                                                       \
         0,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "when the lock cannot be kept: term (the default), kill, warn, "      \
         "another signal before KILL (int, hup, quit, usr1, usr2, abrt or "    \
         "alrm), or exec: and a command for sh -c that is run before term"},   \
        {"",                                                                   \
         "max-hold",                                                           \
         "TIME",                                                               \
         OPTION_DURATION,                                                      \
         FIELD(max_hold_ms),                                                   \
         0,                                                                    \
         1,                                                                    \
         WAIT_MS_MAX,                                                          \
         "end the command after TIME, and exit with 124"},                     \
        {"",                                                                   \
         "hold-until-idle",                                                    \
         NULL,                                                                 \
         OPTION_FLAG,                                                          \
         FIELD(hold_until_idle),                                               \
         1,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "hold the lock until all descendants of the command have ended"},     \
    {                                                                          \
        "", "foreground", NULL, OPTION_FLAG, FIELD(foreground), 1, 0, 0,       \
            "leave the command in our process group, as timeout(1) does"       \
    }
#define OPTION_ROW_EVENTS                                                      \
    {                                                                          \
        "", "json", "FD", OPTION_JSON, FIELD(json), 1, 0, 0,                   \
            "tell events as lines of JSON on stderr, or on file descriptor "   \
            "FD; the last one is always \"end\""                               \
    }

#endif
