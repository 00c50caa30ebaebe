/*
 * zookeeper.h: a real ZooKeeper server of one's own, or an ensemble of several,
 * to be killed, paused and asked.  One rule: only processes that were started
 * here are ever signalled, and none outlives the process that started it.
 *
 *     static struct lab_zookeeper z;
 *     if (lab_zookeeper_start(&z) < 0) puts(lab_error());
 *     puts(lab_zookeeper_say(&z, "srvr"));
 *     lab_zookeeper_stop(&z);
 */
#ifndef LAB_ZOOKEEPER_H
#define LAB_ZOOKEEPER_H

#include <stddef.h>
#include <sys/types.h>

#define LAB_ZOOKEEPER_REPLY_MAX 16384
#define LAB_ZOOKEEPER_SERVERS 3 /* of an ensemble */

/* One server on 127.0.0.1, in a directory of its own.  It must stay until it is
 * stopped. */
struct lab_zookeeper {
    pid_t pid; /* 0: not running */
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
    int id;      /* in an ensemble, from 1; 0: alone */
    /* Set these before the start; zero is every field's default. */
    int tick_ms;      /* 0: 50 */
    const char *conf; /* further lines of its configuration; borrowed */
    int tls;          /* its own port + 1 is for TLS, as `conf` says how */
    int tls_port;     /* read it */
    char dir[128];
    char url[64];                        /* "zookeeper://127.0.0.1:port" */
    char reply[LAB_ZOOKEEPER_REPLY_MAX]; /* of the last lab_zookeeper_say() */
};

/* Start it, and wait until it serves.  Sessions may be from 100 ms to 24 days.
 * LAB_ABSENT if Java or ZooKeeper is not installed. */
int lab_zookeeper_start(struct lab_zookeeper *z);

/* The same with an ensemble of LAB_ZOOKEEPER_SERVERS, all of which serve. */
int lab_zookeeper_start_all(struct lab_zookeeper *all);

/* Kill it, remove its directory, give its port back.  Nothing happens to one
 * that was stopped already. */
void lab_zookeeper_stop(struct lab_zookeeper *z);

/* kill -9; and start it again, with its data.  `waits`: until it serves. */
int lab_zookeeper_kill(struct lab_zookeeper *z);
int lab_zookeeper_restart(struct lab_zookeeper *z, int waits);

/* Delete what a server that is down has stored. */
int lab_zookeeper_forget(struct lab_zookeeper *z);

/* SIGSTOP and SIGCONT. */
int lab_zookeeper_pause(struct lab_zookeeper *z);
int lab_zookeeper_resume(struct lab_zookeeper *z);

/* One of its four-letter words: "srvr", "dump", "cons".  "(no connection)" if
 * there is none.  The text stays until the next call. */
const char *lab_zookeeper_say(struct lab_zookeeper *z, const char *word);

/* The one of the ensemble that leads; NULL if none says so. */
struct lab_zookeeper *lab_zookeeper_leader(struct lab_zookeeper *all);

#endif
