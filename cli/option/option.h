/*
 * option/option.h: what the options of all commands can set, and how they are
 * read.
 *
 * A row has everything about an option: the parser, --help, the man page and
 * completion use it.
 */
#ifndef HOLDFAST_CLI_OPTION_OPTION_H
#define HOLDFAST_CLI_OPTION_OPTION_H

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
    const char *config;
    const char *profile;
    struct texts require;
    const char *label;
    const char *shell; /* -c: a string for sh */
    const char *on_lost;
    const char *match;
    const char *json_to; /* --json=FD; "" without one */
    const char *fence;   /* guard: the token */
    const char *backoff; /* KIND[:FIRST[:MAX[:FACTOR]]] */
    const char *history;
    const char *svg; /* lab: files to draw into */
    const char *html;
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
    int64_t seed;       /* lab: what is left to chance */
    int64_t speed;      /* lab: percent; 0: not given */
    int64_t restart_ms; /* elect: before the first restart */
    int64_t slots;      /* run: number of slots; 0: a lock */
    int64_t segments;   /* stock create; 0: not given, as with these */
    int64_t limit;
    int64_t hold_ms;
    int64_t opens; /* seconds since 1970 */
    int64_t closes;
    int foreign; /* run --slots, latch: also another program's number */
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
    int print;
    int restart; /* enum restart */
    int mermaid;
    int way;          /* lab: 0: both */
    int must_not;     /* lab: enum fault; 0: not given */
    const char *into; /* stock: the database */
    int drain_once, install, keep;
    int observe;
    int follow;
    int fair;
    int reenter; /* run: inside the run that holds the lock */
    int help;
};

/* once --losers: what to do if another process runs it or has run it. */
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
    OPTION_WAIT,     /* as OPTION_DURATION, or "forever" */
    OPTION_NUMBER,   /* int64_t, in [min, max] */
    OPTION_CHOICE,   /* an int: `value` has the words, with bars between; the
                      * first stands for `number`, each next one for `min`
                      * more (0: for 1 more) */
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

#define WAIT_MS_MAX (INT64_C(86400000) * 3660) /* ten years */
#define WAIT_MS_FOREVER (-2)

/* Fill `o` with defaults. */
void options_init(struct options *o);

/* Parse options up to the first word that is not an option, or up to "--".
 * Returns the index of the next argument, or -1 after an error message. */
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

/* How the option is written in a manual: "-w, --wait, --timeout TIME", into
 * `out`, which is returned. */
const char *option_spelling(const struct option_row *row, char *out,
                            size_t size);

/* The length of the first word in `names`. */
size_t word_len(const char *names);

#endif
