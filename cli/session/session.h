/*
 * session/session.h: an open client and its lock, as the options and the
 * environment say.
 */
#ifndef HOLDFAST_CLI_SESSION_SESSION_H
#define HOLDFAST_CLI_SESSION_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "common/text.h"
#include "option/option.h"
#include "session/config.h"

/* A client and a lock, or a set of locks. */
struct session {
    hf_client *client;
    hf_lock *lock;
    hf_lock *all[HF_MULTI_MAX];   /* `lock`, and those of --also */
    size_t all_len;               /* 0: no client is open, or no lock */
    hf_multi *multi;              /* of all of them; NULL if there is one */
    char shown[TEXT_ESCAPED_MAX]; /* the lock's name, for people */
    const char *url;              /* of the client; NULL: none given */
    char url_line[4096];          /* from --url-file, or the configuration */
    struct config conf;
    unsigned require; /* REQUIRE_* */
    int is_of_conf;   /* the URL is from the configuration file */
    int is_default;   /* no URL is configured anywhere */
    int logs; /* say all warnings of the library, not only those of opening */
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

/* Warn by a sentence of the library: "NAME: what: text", or, if `what` is "",
 * "NAME: text".  The library's own sentences do not begin with the name. */
void session_warn(const struct session *s, const char *what, const char *text);
/* Say a failure of the library, and return its exit code. */
int session_fail(const struct session *s, int status,
                 const struct hf_error *err);
/* 1 if the store is a quorum, even of one server. */
int session_is_quorum(const struct session *s);
/* If the store is a quorum without the capability `cap`: say so, and what to
 * do instead, and return 1. */
int session_has_no(const struct session *s, unsigned cap, const char *what,
                   const char *instead);

/* ---- session/url.c: the URL, the user and the password ---- */

/* The URL of the options or of the environment; NULL if there is none.  Its
 * memory may be in `s`.  0, or an exit code after having said what is wrong. */
int session_url(struct session *s, const struct options *o, const char **out);
/* User, password and password file of the environment, or of the configuration
 * file if the URL is from there and has any of its own; NULL if not set. */
const char *session_user(const struct session *s);
const char *session_password(const struct session *s);
const char *session_password_file(const struct session *s);
/* Before a command is run: a holdfast inside it has the same user, and no
 * password file of another server. */
void session_environment(const struct session *s);

/* ---- session/look.c: what is stored under the session's name ---- */

/* The holder of the lock, or of the semaphore if the name is in use as one. */
int session_inspect(struct session *s, struct hf_info *info,
                    struct hf_error *err);
/* The semaphore of this name, if holdfast made one; the caller closes it. */
hf_semaphore *session_semaphore(struct session *s, struct hf_info *info);
/* 1 if the name is in use as a string key (format=string), and the URL is of
 * the other layout: then it can be neither acquired nor broken. */
int session_is_refused(const struct session *s, const struct hf_info *info);

/* ---- session/acquire.c ---- */

/* Wait for the session's lock as -n and -w say.  0, or an exit code after
 * having said why not.  `status` is set to the library's status. */
int session_acquire(struct session *s, const struct options *o, unsigned flags,
                    hf_hold **hold, int *status);
/* 1 if a wait has a place in a queue, which is given up when it ends. */
int session_is_queueing(const struct session *s, const struct options *o);
/* Print `what` ("not acquired"), after how long unless `waited_ms` is negative,
 * and who holds the lock. */
void session_say_busy(struct session *s, const char *what, int64_t waited_ms);

#endif
