/*
 * rig_redis.h: lab/server.h in a test: real Redis servers.  One rule: none
 * outlives its test (the shared one: its run).
 *
 *     static struct lab_server r;
 *     redis_begin(&r, NULL);
 *     hf_client *c = rig_client_at(r.url, NULL);
 *     redis_say(&r, "DEL a");
 */
#ifndef HF_TEST_RIG_REDIS_H
#define HF_TEST_RIG_REDIS_H

#include <stddef.h>
#include <stdint.h>

#include "lab/server.h"
#include "lib/net.h"

#define REDIS_REPLY_MAX LAB_REPLY_MAX

/* Write the URL of the run's shared Redis, emptied, into `url`. */
void rig_redis_fresh(char *url, size_t size);

/* The same, of a user who may do what acl= says, as acl_page.h has it. */
void rig_acl_fresh(char *url, size_t size);

/* A second user of that server, with the rights of `uses` only. */
void rig_look_fresh(char *url, size_t size, const char *uses);

/* RIG_MEMBERS servers, emptied, and the URL of a quorum of them, as a user that
 * has on each the rights that acl= says. */
#define RIG_MEMBERS 3
void rig_redlock_acl_fresh(char *url, size_t size);

/* The same, behind a Sentinel, of which it writes the URL. */
void rig_sentinel_fresh(char *url, size_t size);

/* Start a server for this test; `args` (NULL-terminated, may be NULL) are
 * added to its command line, and borrowed until the test ends. */
void redis_begin(struct lab_server *r, const char *const *args);

/* The same for all tests of the program. */
void redis_begin_shared(struct lab_server *r, const char *const *args);

/* The same, for a server that outlives its test; the caller ends it. */
void redis_open(struct lab_server *r, const char *const *args);
void redis_end(struct lab_server *r);

/* Start a Sentinel for this test; `conf` is added to its file. */
void redis_begin_sentinel(struct lab_server *r, const char *conf);

/* A server that is told to save its data goes down and comes up with it; a
 * server that is killed comes up empty. */
void redis_shutdown(struct lab_server *r, int with_data);
void redis_start(struct lab_server *r);

/* The same, without waiting until its data is loaded. */
void redis_start_loading(struct lab_server *r);

/* Delete what a server that is down has stored, its append-only file too. */
void redis_forget(struct lab_server *r);

/* SIGSTOP and SIGCONT. */
void redis_pause(struct lab_server *r);
void redis_resume(struct lab_server *r);

/* Send one command, as lab_server_say() does, and return the reply as text. */
#define redis_say(...) lab_server_say(__VA_ARGS__)

/* The same, for a command whose answer is a number. */
int64_t redis_number(struct lab_server *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A field of INFO, as a number: redis_info(&r, "total_commands_processed"). */
int64_t redis_info(struct lab_server *r, const char *field);

/* Make it a replica of the server at that port, and wait until it is. */
void redis_follow(struct lab_server *r, int port);

/* A TCP port of 127.0.0.1 that is reserved for this program (lab/port.h), for a
 * server; and one on which nothing will ever listen. */
int redis_free_port(void);
int redis_dead_port(void);

#endif
