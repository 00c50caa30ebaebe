/* once_run.h: what the files of once share: one run, begun or looked at. */
#ifndef HF_API_ONCE_RUN_H
#define HF_API_ONCE_RUN_H

#include "api/client.h"
#include "api/once.h"

struct hf_once {
    hf_client *client;
    hf_lock *lock;
    hf_hold *hold; /* of that lock; NULL: not held */
    struct hf_once_options o;
    int64_t end_us;            /* of the wait */
    int64_t began_us;          /* local clock */
    struct once_record record; /* ours, as it is or will be written */
    uint64_t version;          /* of it */
    struct hf_value before;    /* the record that ours replaced */
    char key[NAME_LEN_MAX + 1];
};

/* Between hf__call_enter() and hf__call_leave(), as all of this. */
int hf__once_open(hf_client *client, const char *name,
                  const struct hf_once_options *given, hf_once **out,
                  struct hf_error *err);
void hf__once_close(hf_once *once);

/* Read the record.  `v` is to be freed on HF_OK; `r` is zero if it has version
 * 0. */
int hf__once_read(hf_once *once, struct hf_value *v, struct once_record *r,
                  struct hf_error *err);

/* Its record may have been written, or may yet be, and nobody is told to run
 * it: this client does not take it for a run when it meets it. */
void hf__once_doubt(hf_once *once);

/* Write ours if the version is this; sets once->version. */
int hf__once_write(hf_once *once, uint64_t version, const void *data,
                   size_t len, int64_t now_ms, struct hf_error *err);

/* If the version is this, take ours back: what it replaced is there again for
 * the rest of its time, or nothing. */
int hf__once_undo(hf_once *once, uint64_t version, struct hf_error *err);

void hf__once_tell(const struct once_record *r, struct hf_value *v, int outcome,
                   struct hf_once_result *result);

#endif
