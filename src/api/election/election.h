/*
 * election.h: what the files of elections share.
 *
 *   election.c  candidates as objects
 *   call.c      their calls, from arguments to tasks
 *   run.c       carrying a task out
 *   step.c      what a task asks of the store next
 *   record.c    what a leader publishes, as text                PURE
 *
 * A call is a run of operations, each chosen when the one before is over:
 * sequence.h.
 */
#ifndef HF_API_ELECTION_H
#define HF_API_ELECTION_H

#include "api/client/sequence.h"
#include "holdfast/election.h"

#define ELECTION_HEAD_MAX 128 /* the record without the value */

/* What is published: "v1 <fence> <owner>\n", and the value behind it. */
struct election_record {
    uint64_t fence;
    char owner[OWNER_LEN_MAX];
    size_t head_len; /* parsed: where the value begins */
};

/* Returns its length; `out` has ELECTION_HEAD_MAX bytes. */
size_t hf__election_format(const struct election_record *r, char *out);
/* 0; or -1 if the text is no such record, and `r` is all zero. */
int hf__election_parse(const char *text, size_t len, struct election_record *r);
/* The key of the record: `out` has NAME_LEN_MAX + 1 bytes. */
void hf__election_key(const char *name, char *out);

struct hf_election {
    struct object object; /* first */
    hf_client *client;
    hf_lock *lock;
    struct hf_election_options o;
    struct hf_election *next, *prev; /* of the client's; this and the rest
                                      * under the pump's lock */
    uint64_t holder;                 /* of the latest campaign */
    hf_hold *hold;                   /* of it, if it was won; or NULL */
    int campaigns;                   /* one is under way */
    int published;                   /* something may be */
    int telling;                     /* on_state runs */
    char key[NAME_LEN_MAX + 1];
};

enum election_call { CALL_CAMPAIGN, CALL_RESIGN, CALL_PUBLISH, CALL_AWAIT };

/* The operation under way. */
enum election_phase {
    PHASE_BEGIN,   /* none yet */
    PHASE_FORGET,  /* CAMPAIGN: an earlier leadership, which was lost */
    PHASE_ACQUIRE, /* CAMPAIGN */
    PHASE_READ,    /* what is published now */
    PHASE_WRITE,   /* what we publish */
    PHASE_DELETE,  /* RESIGN: what we published */
    PHASE_RELEASE, /* RESIGN; or CAMPAIGN failed to publish */
    PHASE_INSPECT, /* AWAIT */
    PHASE_NAP      /* AWAIT: until the next look */
};

/* One call. */
struct election_task {
    struct sequence seq; /* first; with the result */
    struct op op;        /* the operation under way */
    struct value_job job;
    struct look look;
    hf_election *e;
    enum election_call call;
    enum election_phase phase;
    struct hf_acquire_options acquire; /* CAMPAIGN */
    hf_hold *handle;           /* CAMPAIGN: reserved for its hold; or NULL */
    hf_hold *hold;             /* CAMPAIGN: that hold, once it is won */
    uint64_t holder;           /* that campaigns, publishes or resigns */
    struct election_record me; /* as it is published */
    const void *value;         /* to be published; NULL: nothing */
    size_t value_len;
    char *text; /* of the record, for the write */
    int tries;
    struct hf_await_options await;
    const struct hf_leader *seen; /* NULL: anything is new */
    int64_t end_us;               /* of the wait; TIME_NEVER, or 0: one look */
    int has_looked;               /* once, and the store answered */
    struct hf_leader leader;

    void (*fn)(void); /* started: the user's function, cast */
    void *user;
    struct hf_leader seen_copy;
};

/* The operation before is over, if there was one: prepare the next in t->op.
 * 1: ask for it; 0: the call is over, and t->seq tells how. */
int hf__election_step(struct election_task *t);

/* Carry out the task and wait for it; returns its status. */
int hf__election_run(struct election_task *t, struct hf_error *err);
/* Start a copy of the task and of its value.  HF_OK: `fn` will be called; any
 * other status: it will not. */
int hf__election_launch(const struct election_task *from, void (*fn)(void),
                        void *user, struct hf_error *err);
/* The task is over, or was never run: the handle of a campaign stands for the
 * leadership from now on, or is cancelled. */
void hf__election_over(struct election_task *t);

/* The holder of the latest campaign, 0 if there was none; and the state of its
 * leadership. */
uint64_t hf__election_holder(hf_election *e);
int hf__election_state(hf_election *e);

/* The pump tells of a change of state; see hf_election_fn. */
void hf__election_told(struct pump *p, const struct hf_event *ev);

#endif
