/*
 * option/option.h: what any command's options can set, and the rows that many
 * of them share, so that they read alike everywhere.
 *
 * A row is all there is to an option: it is parsed, told by --help and the man
 * page, and completed from it.
 */
#ifndef HOLDFAST_OPTION_H
#define HOLDFAST_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "holdfast/holdfast.h"

struct command;

#define TEXTS_MAX (HF_MULTI_MAX - 1)

/* An option that may be given again and again. */
struct texts {
    const char *at[TEXTS_MAX];
    size_t len;
};

/* Whatever any command's options can set. */
struct options {
    const char *url;
    const char *url_file;
    const char *label;
    const char *shell; /* -c: a string for sh */
    const char *on_lost;
    const char *match;
    const char *json_to; /* --json=FD; "" without one */
    const char *fence;   /* guard: the token */
    const char *backoff; /* KIND[:FIRST[:MAX[:FACTOR]]] */
    const char *history;
    const char *value; /* elect: what the leader publishes */
    struct texts also; /* run: further locks */
    int64_t wait_ms;   /* -1: not given; WAIT_MS_FOREVER */
    int64_t lease_ms;  /* 0: not given, as with all below */
    int64_t renew_ms;
    int64_t per_ms;
    int64_t ttl_ms;
    int64_t keep_ms;
    int64_t look_ms;
    int64_t grace_ms;
    int64_t min_hold_ms;
    int64_t max_hold_ms;
    int64_t max_lease_ms;
    int64_t conflict_code; /* -1: not given */
    int64_t clients;       /* 0: not given, as with all of stress's */
    int64_t threads;
    int64_t locks;
    int64_t time_ms;
    int64_t pause_percent;
    int64_t restart_ms; /* elect: before the first restart */
    int64_t slots;      /* run: so many at once; 0: one */
    int foreign;        /* run --slots, latch: also another program's number */
    int nonblock;
    int side; /* enum side */
    int close;
    int no_fork;
    int verbose;
    int quiet;
    int json;
    int skip_ok;
    int foreground;
    int hold_until_idle;
    int fallback; /* enum hf_fallback */
    int losers;   /* enum losers */
    int retry;
    int store_output;
    int yes;
    int force;
    int durable;
    int replace;
    int restart; /* enum restart */
    int observe;
    int follow;
    int fair;
    int help;
};

/* once --losers: what those do who are not the one. */
enum losers { LOSERS_SKIP, LOSERS_WAIT, LOSERS_STATUS };

/* -s and -x. */
enum side { SIDE_NONE, SIDE_SHARED, SIDE_EXCLUSIVE };

/* elect --restart: whether a command that ended by itself is run again. */
enum restart { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };

enum option_kind {
    OPTION_FLAG,     /* sets an int to `number` */
    OPTION_TEXT,     /* const char * */
    OPTION_TEXTS,    /* struct texts: one more of them */
    OPTION_DURATION, /* int64_t milliseconds, in [min, max] */
    OPTION_WAIT,     /* as that, or "forever" */
    OPTION_NUMBER,   /* int64_t, in [min, max] */
    OPTION_CHOICE,   /* an int: `number` for the first word of `value`, which
                      * has them all with bars between, and so on, in steps
                      * of `min` (0: of 1) */
    OPTION_JSON      /* --json or --json=FD */
};

/* One option of one command. */
struct option_row {
    const char *letters; /* "xe": -x and -e; "" if none */
    const char *names;   /* "wait timeout": --wait and --timeout */
    const char *value;   /* what to call its value; NULL if it has none */
    enum option_kind kind;
    size_t offset; /* in struct options */
    int number;
    int64_t min, max;
    const char *help;
};

#define FIELD(name) offsetof(struct options, name)

/* Rows that many commands share, so that they read alike everywhere. */
#define OPTION_ROW_FAIR(what)                                                  \
    {                                                                          \
        "", "fair", NULL, OPTION_FLAG, FIELD(fair), 1, 0, 0, what              \
    }
#define OPTION_ROW_FOREIGN                                                     \
    {                                                                          \
        "", "foreign", NULL, OPTION_FLAG, FIELD(foreign), 1, 0, 0,             \
            "also a number that another program made, such as one of "         \
            "Redisson's; without this it is a conflict and left as it is"      \
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
     "where the locks live (holdfast help lists what can be said); default: "  \
     "$HOLDFAST_URL, or file: (this host)"},                                   \
    {                                                                          \
        "", "url-file", "FILE", OPTION_TEXT, FIELD(url_file), 0, 0, 0,         \
            "read the URL from the first line of FILE; default: "              \
            "$HOLDFAST_URL_FILE"                                               \
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
         "say nothing but errors in the use of the command"},                  \
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
     "share the lock with all who say so: the readers' side of a "             \
     "read/write lock; on file: flock(1) -s shares it, too"},                  \
    {                                                                          \
        "xe", "exclusive", NULL, OPTION_FLAG, FIELD(side), SIDE_EXCLUSIVE, 0,  \
            0,                                                                 \
            "keep all others out, those of -s too: the writers' side; the "    \
            "default is a plain lock, which has no sides"                      \
    }
#define OPTION_ROW_LEASE                                                       \
    {                                                                          \
        "", "lease", "TIME", OPTION_DURATION, FIELD(lease_ms), 0,              \
            HF_LEASE_MS_MIN, HF_LEASE_MS_MAX,                                  \
            "the lock ends by itself after TIME unless it is renewed; "        \
            "default: 30s; it can be kept if it is at least three times as "   \
            "long as the slowest round trip to the store, and 100ms for a "    \
            "command"                                                          \
    }
#define OPTION_ROW_LABEL                                                       \
    {                                                                          \
        "", "label", "TEXT", OPTION_TEXT, FIELD(label), 0, 0, 0,               \
            "tell TEXT to whoever asks who holds the lock"                     \
    }

#define OPTION_ROW_RENEW                                                       \
    {                                                                          \
        "", "renew", "TIME", OPTION_DURATION, FIELD(renew_ms), 0, 1,           \
            HF_LEASE_MS_MAX,                                                   \
            "renew the lock so often, at most every half of its lease; "       \
            "default: every third of it"                                       \
    }
#define OPTION_ROW_BACKOFF                                                     \
    {                                                                          \
        "", "backoff", "KIND[:FIRST[:MAX[:FACTOR]]]", OPTION_TEXT,             \
            FIELD(backoff), 0, 0, 0,                                           \
            "while it waits, ask again after a pause instead of being woken: " \
            "none (the default), exponential, constant or jitter; FIRST and "  \
            "MAX are times, such as jitter:5ms:1s:2"                           \
    }
#define OPTION_ROW_FALLBACK                                                    \
    {                                                                          \
        "", "fallback", "fail|wait|local", OPTION_CHOICE, FIELD(fallback),     \
            HF_FALLBACK_FAIL, 0, 0,                                            \
            "when the store cannot be reached: fail (the default), wait for "  \
            "it, or use a lock of this host, which other hosts do not see"     \
    }

/* For those who only look: they do not wait. */
#define OPTION_ROW_FALLBACK_LOOK                                               \
    {                                                                          \
        "", "fallback", "fail|local", OPTION_CHOICE, FIELD(fallback),          \
            HF_FALLBACK_FAIL, HF_FALLBACK_LOCAL - HF_FALLBACK_FAIL, 0,         \
            "when the store cannot be reached: fail (the default), or look "   \
            "at the lock of this host, which other hosts do not see"           \
    }

/* What run and once share: the command, and how it is looked after. */
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
     "from TERM to KILL when the command must end; default: 5s, at most a "    \
     "third of the lease"},                                                    \
        {"",                                                                   \
         "on-lost",                                                            \
         "term|kill|warn|COMMAND",                                             \
         OPTION_TEXT,                                                          \
         FIELD(on_lost),                                                       \
         0,                                                                    \
         0,                                                                    \
         0,                                                                    \
         "when the lock cannot be kept: term (the default), kill, warn, or a " \
         "command for sh -c that is run before term"},                         \
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

#define WAIT_MS_MAX (INT64_C(86400000) * 3660) /* ten years */
#define WAIT_MS_FOREVER (-2)

/* option/option.c.  Fill `o` with defaults. */
void options_init(struct options *o);

/* Parse options up to the first word that is none, or behind "--".  Returns
 * the index of the next argument, or -1 after having said what is wrong. */
int options_parse(const struct command *cmd, int argc, char **argv, int from,
                  struct options *o);

/* Options and at most `words_max` words in any order, for commands that take
 * no command line.  Missing words are NULL.  Returns the number of words, or
 * -1 after having said what is wrong. */
int options_words(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_max);

/* The row of an option's letter or name; NULL: there is none. */
const struct option_row *option_by_letter(const struct command *cmd,
                                          char letter);
const struct option_row *option_by_name(const struct command *cmd,
                                        const char *name, size_t len);

/* The first of the words in `names`; its length. */
size_t word_len(const char *names);

#endif
