/*
 * server.h: a real Redis server of one's own, to be killed, paused, emptied and
 * asked.  One rule: only processes that were started here are ever signalled,
 * and none outlives the process that started it.
 *
 *     static struct lab_server s;
 *     if (lab_server_start(&s, NULL) < 0) puts(lab_error());
 *     puts(lab_server_say(&s, "SET a 1"));
 *     lab_server_pause(&s);
 *     lab_server_stop(&s);
 */
#ifndef LAB_SERVER_H
#define LAB_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "lab/net.h"

#define LAB_REPLY_MAX 65536

/* One server: on 127.0.0.1, or on a host of net.h, in a directory of its own.
 * It must stay until it is stopped. */
struct lab_server {
    pid_t pid; /* 0: not running */
    /* Set these before it is started; zero is every field's default. */
    const struct lab_host *at; /* NULL: 127.0.0.1 */
    const char *program;       /* NULL: redis-server */
    const char *const *env;    /* "NAME=value"s besides ours; may be NULL */
    /* Read these afterwards. */
    const char *ip;
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
    char dir[128];
    char url[64];
    const char *const *args;   /* further words of its command line */
    int is_sentinel;           /* by its file, conf, in its directory */
    char reply[LAB_REPLY_MAX]; /* of the last lab_server_say() */
};

/* Start it, and wait until it answers; `args` (NULL-terminated, may be NULL)
 * are added to its command line, and borrowed until it is stopped.  LAB_ABSENT
 * if the program is not installed. */
int lab_server_start(struct lab_server *s, const char *const *args);

/* The same for a Sentinel; `conf` is added to its file. */
int lab_server_start_sentinel(struct lab_server *s, const char *conf);

/* Kill it, remove its directory, give its port back.  Nothing happens to one
 * that was stopped already. */
void lab_server_stop(struct lab_server *s);

/* The parts of starting a server, for a caller that has something to do between
 * them: reserve its port and make its directory; then lab_server_restart(). */
int lab_server_prepare(struct lab_server *s, const char *const *args);

/* A server that is told to save its data goes down and comes up with it; a
 * server that is killed (`with_data` 0) comes up empty, unless it has an
 * append-only file. */
int lab_server_shutdown(struct lab_server *s, int with_data);
int lab_server_restart(struct lab_server *s);

/* The same, without waiting until its data is loaded. */
int lab_server_restart_loading(struct lab_server *s);

/* Delete what a server that is down has stored, its append-only file too. */
int lab_server_forget(struct lab_server *s);

/* SIGSTOP and SIGCONT. */
int lab_server_pause(struct lab_server *s);
int lab_server_resume(struct lab_server *s);

/* Send one command, words separated by blanks ('' "" quote as in redis-cli),
 * from its own host, whatever is cut off.  Returns the reply as text: numbers
 * and strings as they are, arrays one line per element, errors with their '-',
 * nil as "(nil)", "(no connection)" and "(no answer)" for these.  The text
 * stays until the next command. */
const char *lab_server_say(struct lab_server *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same, of a line as it is. */
const char *lab_server_ask(struct lab_server *s, const char *line);

/* Send a command that must not be answered with an error, nor with nothing. */
int lab_server_do(struct lab_server *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A field of INFO, as a number: "total_commands_processed". */
int lab_server_info(struct lab_server *s, const char *field, int64_t *out);

/* Make it a replica of the server at that address, and wait until it is. */
int lab_server_follow(struct lab_server *s, const char *ip, int port);

#endif
