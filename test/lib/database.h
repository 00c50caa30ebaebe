/*
 * database.h: a database server in a test that runs on every kind of them: what
 * is asked of it, and how it is broken.  One rule: what differs between them is
 * here, and what is claimed of them is in database_cut.h and
 * database_restart.h.
 */
#ifndef HF_TEST_DATABASE_H
#define HF_TEST_DATABASE_H

struct database {
    const char *kind;   /* for rig_begin_on() */
    const char *format; /* of its URL on another port */
    int (*port)(void);  /* of the server that the program's tests share */
    /* Ask that server; table names need no database in front. */
    const char *(*ask)(const char *sql);
    const char *counter; /* asks for the highest number of the lock "a"; NULL
                          * if a late copy is refused by something else */

    /* A server of one's own, ended with the test; its URL. */
    const char *(*begin)(void);
    const char *(*say)(const char *sql); /* to that one */
    int (*shutdown)(int in_order);
    int (*restart)(void);
    int (*pause)(void);
    int (*resume)(void);

    /* Forget that a client waited (begin), and see whether one does: of the
     * server that is asked by `ask`. */
    void (*waits_begin)(const char *(*ask)(const char *sql));
    int (*waits)(const char *(*ask)(const char *sql));
};

extern const struct database database_postgres, database_mysql;
extern const struct database database_etcd;
/* The same, with layout=shedlock; for what cut_along() claims. */
extern const struct database database_postgres_shedlock;
extern const struct database database_mysql_shedlock;

/* ZooKeeper is no database: whatever is asked, the answer is the number of
 * nodes in its queues.  Its sessions are long, or end after 4 s. */
extern const struct database database_zookeeper, database_zookeeper_brief;

#endif
