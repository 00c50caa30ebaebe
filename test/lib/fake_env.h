/*
 * fake_env.h: an engine for one connection, for tests of a backend alone.
 *
 * It polls the backend's fds and timer with the real clock, and keeps a copy of
 * every reply.  One request at a time by fake_call(), or many by fake_send()
 * and fake_wait().
 */
#ifndef HF_TEST_FAKE_ENV_H
#define HF_TEST_FAKE_ENV_H

#include "backend/backend.h"
#include "backends.h"

#define FAKE_FDS_MAX 8
#define FAKE_ROWS_MAX 256
#define FAKE_DATA_MAX 256
#define FAKE_WAIT_MS 60000 /* no answer within this is a failure */

/* A reply with everything it borrowed.  Put it into request.user. */
struct fake_answer {
    int is_done;
    struct reply reply;
    struct hf_info info;
    struct boot boot;
    struct tally_told tally;
    char text[HF_ERROR_TEXT_MAX];
    char data[FAKE_DATA_MAX]; /* as far as it fits */
};

struct fake_env {
    struct backend_env env; /* first: the backend's callbacks find us by it */
    struct backend_conf conf;
    struct allocator alloc;
    const struct backend *backend;
    struct backend_conn *conn;
    struct {
        int fd;
        unsigned events;
    } fds[FAKE_FDS_MAX];
    int64_t timer_us;
    int is_up;
    int is_other; /* LINK_IS_OTHER was said when it last came up */
    int64_t link_node_us;
    struct hf_error link_err;
    int replies;
    int wakes;
    int handed; /* hand-overs so far, and the last */
    uint64_t handed_attempt;
    int64_t handed_fence;
    char handed_owner[OWNER_LEN_MAX];
    int warnings;                 /* lines of log */
    char woken[NAME_LEN_MAX + 1]; /* the last name */
    /* Rows of all VERB_LIST replies since rows_len was set to 0. */
    struct {
        char name[NAME_LEN_MAX + 1];
        struct hf_info info;
    } rows[FAKE_ROWS_MAX];
    int rows_len;
    int fail_allocs; /* 1: every allocation fails */
    int allocs_open; /* not yet freed */
};

/* Prepare `f`; then open `url` on the backend.  HF_OK or what open() said. */
void fake_init(struct fake_env *f, const struct backend *backend);
int fake_open(struct fake_env *f, const char *url, struct hf_error *err);
void fake_close(struct fake_env *f);

/* Submit without a flush; `answer` is filled once it is there. */
void fake_submit(struct fake_env *f, struct request *req,
                 struct fake_answer *answer);

/* Poll once for at most `wait_ms` and let the backend process. */
void fake_pump(struct fake_env *f, int wait_ms);

/* Pump until `answer` is there; the test fails after FAKE_WAIT_MS. */
void fake_wait(struct fake_env *f, const struct fake_answer *answer);

/* Pump until there have been `wakes` wake-ups in all. */
void fake_wait_wakes(struct fake_env *f, int wakes);

/* Submit, flush and wait. */
void fake_call(struct fake_env *f, struct request *req,
               struct fake_answer *answer);

#endif
