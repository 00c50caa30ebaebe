/*
 * server.h: the redis backend against a real server or a scripted one.
 *
 * rig_redis.h starts the real servers; here is the way to them: the backend in
 * a fake engine, requests ready made, and a server that says what it is told,
 * byte by byte.
 */
#ifndef HF_TEST_SERVER_H
#define HF_TEST_SERVER_H

#include <stddef.h>

#include "lib/fake_env.h"

#define SERVER_OWNER "01234567-89ab-4def-8123-456789abcdef:1"
#define SERVER_SCRIPTS 12 /* ROLE, INFO, GET, SCRIPT LOADs in a greeting */

/* The redis backend; the test is skipped if this build is without it. */
const struct backend *server_backend(void);

/* Open `url` on the redis backend; closed when the test ends.  `f` must be
 * static. */
void server_open(struct fake_env *f, const char *url);

/* The same, and wait until the link is up. */
void server_connect(struct fake_env *f, const char *url);

/* Pump until the link is up (1) or down (0). */
void server_wait_link(struct fake_env *f, int up);

/* Pump for this time. */
void server_pump_ms(struct fake_env *f, int64_t ms);

/* A request of holder 1 with sensible numbers: lease 30 s, W 2 s, count 1. */
struct request server_request(enum verb op, const char *name, uint64_t attempt,
                              int64_t ballot);

/* The server's clock as last told, good enough for a ballot. */
int64_t server_clock(const struct fake_env *f);

/* Carry it out and return its verdict; `answer` may be NULL. */
enum verdict server_do(struct fake_env *f, struct request req,
                       struct fake_answer *answer);

/* ---- the scripted server ---- */

struct script {
    int listen_fd;
    int fd; /* -1: nobody is connected */
    int port;
    char url[64];
    char got[65536]; /* what was sent and not yet expected */
    size_t got_len;
};

/* Listen; ended when the test ends.  `s` must be static. */
void script_begin(struct script *s);

/* Pump until a client is there. */
void script_accept(struct script *s, struct fake_env *f);

/* Pump until `word` was received; forget everything up to its end. */
void script_expect(struct script *s, struct fake_env *f, const char *word);

void script_send(struct script *s, const char *data, size_t len);
void script_say(struct script *s, const char *text);
void script_hang_up(struct script *s);

/* Accept, and answer the greeting of the main link. */
void script_greet(struct script *s, struct fake_env *f);

#endif
