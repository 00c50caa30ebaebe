/*
 * once/run.h: what the files of once share: one run, begun or looked at.
 *
 *   once.c    a run as an object, and the operations on its record
 *   begin.c   begin it, or learn of another run
 *   end.c     end it, or abandon it
 *   look.c    ask about it
 *   record.c  its record as text, and what follows from it        PURE
 *
 * Each call is a run of operations: sequence.h.
 */
#ifndef HF_API_ONCE_RUN_H
#define HF_API_ONCE_RUN_H

#include "api/once/once.h"
#include "api/client/sequence.h"

struct hf_once {
    struct sequence seq; /* first: the call under way, with its result */
    struct op op;        /* the operation under way */
    struct value_job job;
    int phase; /* what `op` does, by the call's own enum */
    int tries; /* failed tries of the phase */

    struct deep_object object; /* of its client's */
    hf_client *client;
    hf_lock *lock;
    uint64_t holder;
    hf_hold *hold; /* of that lock; NULL: not held */
    struct hf_once_options o;
    int64_t end_us;            /* of the wait */
    int64_t began_us;          /* local clock */
    struct once_record record; /* ours, as it is or will be written */
    uint64_t version;          /* of it */
    struct hf_value before;    /* the record that ours replaced */

    struct hf_value found;   /* the record that was read; version 0: none */
    struct once_record seen; /* `found`, parsed; zero if it is no record */
    struct hf_once_result result; /* begin and look */
    int before_status; /* of an operation that another one followed */
    struct hf_error before_err;

    char *text; /* end: the record with its result; NULL: the head alone */
    size_t text_len;
    int is_undo;       /* end: it has not been run */
    int no_result;     /* end: why the result was left out, or HF_OK */
    struct look *look; /* look */

    void (*fn)(void); /* started: the user's function, cast */
    void *user;
    char head[ONCE_HEAD_MAX];
    char key[NAME_LEN_MAX + 1];
};

/* A run that nothing was asked about; `extra` bytes are behind it. */
int hf__once_open(hf_client *client, const char *name,
                  const struct hf_once_options *given, size_t extra,
                  hf_once **out, struct hf_error *err);
void hf__once_close(hf_once *once);

/* Start its steps; `over` tells the user's function.  If this fails, the run is
 * closed. */
int hf__once_start(hf_once *once, void (*over)(struct sequence *),
                   void (*fn)(void), void *user, struct hf_error *err);

/* The begin failed, but its record may have been or may yet be written: this
 * client ignores the record when it reads it. */
void hf__once_doubt(hf_once *once);

/* The call fails with this status and error. */
void hf__once_fail(hf_once *once, int status, const struct hf_error *err);

/* For a step: ask for one operation.
 *   read     the record
 *   write    our record, if the stored version is `version`
 *   undo     our record, if the stored version is `version`: put back the one
 *            that it replaced, for the rest of its time, or delete it
 *   release  the lock */
void hf__once_read(hf_once *once, int phase);
void hf__once_write(hf_once *once, int phase, uint64_t version, int64_t now_ms);
void hf__once_undo(hf_once *once, int phase, uint64_t version);
void hf__once_release(hf_once *once, int phase);

/* The record was read: HF_OK, with `found` and `seen`; or a status, with the
 * error in once->op. */
int hf__once_read_over(hf_once *once);
void hf__once_found_free(hf_once *once);

/* Make `r` the call's result; with the data if the run is over. */
void hf__once_tell(hf_once *once, const struct once_record *r, int outcome);

#endif
