/*
 * etcd.h: a real etcd server of one's own, or a cluster of three, to be killed,
 * paused and asked.  One rule: only processes that were started here are ever
 * signalled, and none outlives the process that started it.
 *
 *     static struct lab_etcd p;
 *     if (lab_etcd_start(&p, NULL) < 0) puts(lab_error());
 *     puts(lab_etcd_say(&p, "get --prefix ''"));
 *     lab_etcd_stop(&p);
 */
#ifndef LAB_ETCD_H
#define LAB_ETCD_H

#include <stddef.h>
#include <sys/types.h>

#define LAB_ETCD_REPLY_MAX 65536
#define LAB_ETCDS 3

/* One server on 127.0.0.1, in a directory of its own.  Its least lease is one
 * second.  It must stay until it is stopped. */
struct lab_etcd {
    pid_t pid; /* 0: not running */
    int port;
    int port_fd; /* its reservation (port.h), 0: none */
    char dir[128];
    char url[64];            /* "etcd://127.0.0.1:port/" */
    const char *const *args; /* further words of its command line */
    char name[8];
    char cluster[256]; /* --initial-cluster */
    char reply[LAB_ETCD_REPLY_MAX];
};

/* Start it, and wait until it has a leader; `args` (NULL-terminated, may be
 * NULL) are added to its command line, and borrowed until it is stopped.
 * LAB_ABSENT if etcd is not installed. */
int lab_etcd_start(struct lab_etcd *p, const char *const *args);
void lab_etcd_stop(struct lab_etcd *p);

/* The same for a cluster. */
int lab_etcds_start(struct lab_etcd cluster[LAB_ETCDS],
                    const char *const *args);
void lab_etcds_stop(struct lab_etcd cluster[LAB_ETCDS]);
/* Which of them is the leader; -1: none is, or none answers. */
int lab_etcds_leader(struct lab_etcd cluster[LAB_ETCDS]);

/* SIGKILL; it keeps its data. */
int lab_etcd_kill(struct lab_etcd *p);
int lab_etcd_restart(struct lab_etcd *p);

/* SIGSTOP and SIGCONT. */
int lab_etcd_pause(struct lab_etcd *p);
int lab_etcd_resume(struct lab_etcd *p);

/* A number that the server tells of itself ("etcd_server_is_leader"); -1: it
 * does not. */
long lab_etcd_metric(struct lab_etcd *p, const char *name);

/* The sum of a number that it tells with several labels
 * ("grpc_server_msg_received_total"). */
double lab_etcd_sum(struct lab_etcd *p, const char *name);

/* What etcdctl says to these words of a shell; the text stays until the next
 * call. */
const char *lab_etcd_say(struct lab_etcd *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
