/*
 * why/why.h: the parts of `holdfast why`: facts are gathered first, then told.
 */
#ifndef HOLDFAST_WHY_H
#define HOLDFAST_WHY_H

#include <stddef.h>
#include <stdint.h>

#include "session/nodes.h"

/* What became of the holder's process. */
enum process {
    PROCESS_UNKNOWN, /* no pid, or a ticket's */
    PROCESS_ELSEWHERE,
    PROCESS_ALIVE,
    PROCESS_STOPPED,
    PROCESS_GONE
};

/* What ends the hold by itself. */
enum ending {
    ENDING_PROCESS, /* a kernel lock: its process */
    ENDING_LEASE,
    ENDING_SESSION, /* its client's, in ZooKeeper: nobody is told when */
    ENDING_NEVER
};

/* What makes a store refuse a lock that is free. */
enum refused_by {
    REFUSED_BY_MEMORY,
    REFUSED_BY_REPLICAS,
    REFUSED_BY_QUORUM /* the server may grant locks only with the others */
};

/* All that is known of one lock. */
struct why {
    struct session *s;
    const char *name;
    struct hf_info info; /* as seen last */
    int64_t looked_ms;   /* how long it was looked at */
    int renewed;         /* its lease went up meanwhile */
    int changed;         /* another holder got it meanwhile */
    enum process process;
    enum ending ending;
    struct hf_once_result once;            /* outcome 0: it was never begun */
    struct nodes nodes;                    /* of a quorum */
    char refusal[HF_ERROR_TEXT_MAX + 194]; /* why the store would not grant the
                                            * lock although it is free; or "" */
    enum refused_by refused_by;            /* and what makes it refuse */
};

/* why/process.c: whether the holder's process still lives on this host. */
enum process process_look(const struct hf_info *info);
const char *process_name(enum process process);

/* why/store.c: whether the store refuses to grant a lock that is free. */
void store_look(struct why *w);

/* why/text.c: the facts in sentences, and what can be done about it. */
void why_print(const struct why *w);
/* The last of the sentences: what can be done, into `out`. */
const char *why_advice(const struct why *w, char *out, size_t size);
/* What to look at when the store gave no answer; NULL if there is nothing. */
const char *why_check(int status);

#endif
