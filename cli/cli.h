/*
 * cli.h: what the sub-commands share.
 *
 * A command is one const table and its functions.  Everything that is told
 * about a command (--help, its man page, completions) is printed from that
 * table, so none of it can be out of date.  The command line sees only the
 * public headers.
 */
#ifndef HOLDFAST_CLI_H
#define HOLDFAST_CLI_H

/* Included before any other header: prctl, pipe2 and CLOCK_BOOTTIME. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "holdfast/holdfast.h"
#include "option/option.h"

/* Exit codes.  run passes the command's own status on, so ours are those of
 * sysexits(3), timeout(1) and the shell, and 80, which nobody uses. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FREE = 1,     /* status: nobody holds it */
    EXIT_VIOLATED = 1, /* stress: a lock let two through */
    EXIT_WARNED = 1,   /* doctor: something is not as it should be */
    EXIT_USAGE = 64,
    EXIT_UNREACHABLE = 69,
    EXIT_BUG = 70,
    EXIT_NOT_ACQUIRED = 75,
    EXIT_DENIED = 77,
    EXIT_CONFIG = 78,
    EXIT_LOST = 80,
    EXIT_MAX_HOLD = 124,
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128 /* and the signal's number */
};

/* ---- commands ---- */

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
    cmd_doctor, cmd_guard, cmd_latch, cmd_barrier, cmd_stress, cmd_help,
    cmd_version, cmd_man, cmd_complete;
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

/* ---- common/duration.c ---- */

/* "250ms", "1.5", "10s", "2m", "1h", "1d": 0 and milliseconds, or -1. */
int duration_parse(const char *text, int64_t *out_ms);
/* "4m10s", "22s", "250ms" into `out`, which is returned. */
const char *duration_text(int64_t ms, char *out, size_t size);
/* A wall clock in the words of here: "2026-08-02 14:05:09 +0200" into `out`. */
const char *when_text(int64_t wall_ms, char *out, size_t size);
/* A whole number in [min, max]: 0, or -1. */
int number_parse(const char *text, int64_t min, int64_t max, int64_t *out);
/* Milliseconds of a clock that also runs while the machine is suspended. */
int64_t clock_ms(void);
/* Milliseconds since 1970, by the clock of this host. */
int64_t wall_now_ms(void);

/* option/backoff.c: --backoff into `out`: NULL, or what is wrong with it. */
const char *backoff_parse(const char *text, struct hf_acquire_options *out);

/* ---- common/text.c ---- */

/* `text` for a terminal: control characters and broken UTF-8 as \xNN.  Always
 * terminated, cut at `size`.  Returns `out`. */
const char *text_escape(const char *text, char *out, size_t size);
#define TEXT_ESCAPED_MAX (4 * HF_NAME_MAX + 1)

/* An object being written in one fixed buffer; one line when it is ended. */
struct json {
    char buf[8192];
    size_t len;
    int any;
};
void json_begin(struct json *j);
void json_text(struct json *j, const char *key, const char *value);
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, int value);
/* Close the object, with a newline and a NUL behind it. */
void json_end(struct json *j);

/* ---- common/say.c ---- */

/* Set what is said, and how.  `json_fd` >= 0: as events, to that fd. */
void say_setup(int quiet, int verbose, int json_fd);
int say_json_fd(void);
/* "holdfast: ..." on stderr, unless quiet (error: always; note: if verbose). */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Write all of `buf`; 0, or -1. */
int write_all(int fd, const char *buf, size_t len);
/* From now on lines that a reader does not take in time are dropped; or, again,
 * waited for. */
void say_hasty(int is_hasty);
/* A line of what is said; one that is not needed is dropped sooner. */
void say_write(int fd, const char *buf, size_t len, int is_needed);

/* ---- common/environment.c ---- */

/* The variable's value; NULL if it is not set or empty, or if we have more
 * rights than our user. */
const char *environment_get(const char *name);
/* Set a variable for a command to a number. */
void environment_number(const char *name, int64_t value);
/* Before a command is run: take passwords and the ticket out of what it will
 * find, and set HOLDFAST_URL to `url`, which must have no password in it. */
void environment_clean(const char *url);

/* ---- session/secret.c: where a password could be read by others ---- */

/* Warn if every user may read the file that `url` was read from, and the URL
 * has a password. */
void url_file_check(const char *path, const char *url);

/* ---- session/session.c ---- */

/* A client and a lock, as the options say; or a set of them. */
struct session {
    hf_client *client;
    hf_lock *lock;
    hf_lock *all[HF_MULTI_MAX];   /* it, and those of --also */
    size_t all_len;               /* 0: no client is open, or no lock */
    hf_multi *multi;              /* of all of them; NULL: there is but one */
    char shown[TEXT_ESCAPED_MAX]; /* the lock's name, for people */
    const char *url;              /* of the client; NULL: none given */
    char url_line[4096];          /* from --url-file */
    int logs;                     /* all warnings of the library are
                                           * told, not only those of opening */
    int is_quiet;
    _Atomic int is_opening; /* the client is; it may log from its thread */
};

/* Open the client, and the lock unless `name` is NULL.  0, or an exit code
 * after having said what is wrong. */
int session_open(struct session *s, const struct options *o, const char *name,
                 unsigned flags, hf_state_fn on_state, void *user);
void session_close(struct session *s);
/* Add the locks of --also, to be held together with the session's; once.
 * 0, or an exit code after having said what is wrong. */
int session_also(struct session *s, const struct options *o);
/* The URL that the options and the environment say; NULL: none does.  Its
 * memory may be in `s`.  0, or an exit code after having said what is wrong. */
int session_url(struct session *s, const struct options *o, const char **out);
/* The password of the environment, or NULL; the file with it, or NULL. */
const char *session_user(void);
const char *session_password(void);
const char *session_password_file(void);

/* The exit code that belongs to a status of the library. */
int status_exit(int status);
/* `text`, which is the library's, or else what the status means. */
const char *status_why(int status, const char *text);
/* Warn by a sentence of the library: "NAME: what: text", or, if `what` is "",
 * "NAME: text".  The library's own sentences do not begin with the name. */
void session_warn(const struct session *s, const char *what, const char *text);
/* Say a failure of the library, and return its exit code. */
int session_fail(const struct session *s, int status,
                 const struct hf_error *err);
/* Say `what` has come of it ("not acquired"), after how long (unless it is
 * below 0), and who holds the lock. */
void session_say_busy(struct session *s, const char *what, int64_t waited_ms);
/* Who holds what has the session's name: a lock, or else a semaphore. */
/* The semaphore of this name, if it is one of ours; the caller closes it. */
hf_semaphore *session_semaphore(struct session *s, struct hf_info *info);
int session_inspect(struct session *s, struct hf_info *info,
                    struct hf_error *err);
/* A string library's lock, seen with a URL of the other layout: whoever wants
 * it, or wants it broken, is refused. */
int session_is_refused(const struct session *s, const struct hf_info *info);

/* ---- session/nodes.c: the members of a quorum ---- */

struct nodes {
    struct hf_node at[HF_QUORUM_NODES_MAX];
    int len;         /* 0: one server, and nothing to tell */
    int up;          /* can be reached */
    int voting;      /* may vote */
    int needed;      /* a majority */
    int64_t wait_ms; /* until so many may vote; 0 now, -1 unknown */
};

/* Is its store a quorum, if only of one server? */
int session_is_quorum(const struct session *s);
/* Fill `out`, after having given each a moment to say what it is.  Returns
 * out->len. */
int nodes_look(const struct session *s, struct nodes *out);
/* Why a node is no help, with its name, into `out`; NULL: it is. */
#define NODE_WHY_MAX (5 * HF_ERROR_TEXT_MAX)
const char *node_why(const struct hf_node *n, char *out, size_t size);
/* Those that are no help, one line each: on stderr, or on stdout, there with
 * when a lock can be had. */
void nodes_say(const struct session *s);
void nodes_print(const struct nodes *ns);
void nodes_json(struct json *j, const struct hf_info *info,
                const struct nodes *ns);
/* If it is a quorum, and cannot do `cap`: say so, and what to do instead. */
int session_has_no(const struct session *s, unsigned cap, const char *what,
                   const char *instead);

/* session/holder.c: "web-3 pid 4121 (report), for 4m10s, fence 812, lease 22s
 * left" */
const char *holder_text(const struct hf_info *info, char *out, size_t size);
/* The same, and what is said only when it was asked for: hold count, waiters,
 * kind and guarantee, even if they are the usual ones. */
const char *holder_details(const struct hf_info *info, char *out, size_t size);
/* Who it is, alone: "web-3 pid 4121 (report)". */
const char *holder_name(const struct hf_info *info, char *out, size_t size);
/* enum hf_guarantee as a word: "store" or "local". */
const char *guarantee_name(int guarantee);
#define HOLDER_TEXT_MAX 1024
/* What the store knows of a lock, as members of `j`. */
void holder_json(struct json *j, const char *name, const struct hf_info *info);

/* ---- session/interrupt.c: leaving the queue by a signal ---- */

/* From now on INT, TERM, HUP, QUIT, USR1 and USR2 cancel `cancel`. */
void interrupt_setup(hf_cancel *cancel);
/* The signal that came first, or 0. */
int interrupt_signal(void);

/* session/acquire.c: wait for the session's lock as -n and -w say.  0, or an
 * exit code after having said why not.  `status` gets the library's word for
 * it. */
int session_acquire(struct session *s, const struct options *o, unsigned flags,
                    hf_hold **hold, int *status);

/* command.c: what the simple commands begin with.  Parse options and exactly
 * `words_min` to `words_max` words, say_setup(), --help.  -1 to go on, or the
 * exit code to end with. */
int command_begin(const struct command *cmd, int argc, char **argv,
                  struct options *o, const char **words, int words_min,
                  int words_max);
/* Do -n, -w, --renew and --backoff fit together?  0, or EXIT_USAGE after
 * having said what is wrong. */
int wait_check(const struct command *cmd, const struct options *o);
/* What -n and -w say: WAIT_TRY, or wait_ms as an acquire or a wait has it. */
#define WAIT_TRY (-1)
#define SILENT_MS 2000 /* how long a store may be away without a word */
int64_t wait_choose(const struct options *o);
/* Put that into an acquire's options. */
void acquire_wait(struct hf_acquire_options *ao, int64_t wait_ms);
/* Say what is wrong with the use of `cmd`; EXIT_USAGE. */
int command_usage(const struct command *cmd, const char *what);
/* The ticket in `word`, in $HOLDFAST_TICKET if it is NULL, or on stdin if it
 * is "-", into `ticket` of HF_TICKET_MAX bytes.  0, or an exit code. */
int ticket_read(const char *word, char *ticket);
/* Flush stdout: 0, or EXIT_BUG after having said why. */
int output_end(void);

/* ---- manual/help.c ---- */
void help_command(const struct command *cmd, FILE *out);
/* Which commands there are; and what is true of all of them. */
void help_commands(FILE *out);
void help_overview(FILE *out);
extern const struct term_row overview_urls[], overview_env[], overview_exits[];
extern const char *const overview_examples[];
/* manual/man.c: the same, in roff on stdout. */
void man_command(const struct command *cmd);
void man_overview(void);
/* "-w, --wait, --timeout TIME" into `out`, which is returned. */
const char *option_spelling(const struct option_row *row, char *out,
                            size_t size);

#endif
