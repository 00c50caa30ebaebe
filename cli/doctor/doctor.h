/*
 * doctor/doctor.h: the parts of `holdfast doctor`: facts, findings about them,
 * and what the deployment promises.
 */
#ifndef HOLDFAST_CLI_DOCTOR_DOCTOR_H
#define HOLDFAST_CLI_DOCTOR_DOCTOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "holdfast/holdfast.h"

#define FINDINGS_MAX 256

enum level { LEVEL_NOTE, LEVEL_WARN };

/* One thing to be said of a node, or of all together. */
struct finding {
    enum level level;
    int node;          /* -1: of all */
    const char *about; /* one word */
    char text[512];
};

/* How a node keeps what it granted. */
enum keeping {
    KEEPS_NOTHING, /* in memory alone */
    KEEPS_SOME,    /* on disk, some time later */
    KEEPS_ALL,     /* on disk before it is answered */
    KEEPS_UNKNOWN
};

struct doctor {
    hf_probe *probe;
    struct finding findings[FINDINGS_MAX];
    int findings_len;
    int warnings;
    int answering;      /* nodes that do */
    int voting;         /* of a quorum: that may vote now */
    int is_wrong;       /* no lock can be acquired with this URL */
    int is_of_sentinel; /* the URL is one of redis-sentinel:// */
    int is_of_cluster;  /* the URL is one of redis-cluster:// */
};

/* Say something; what does not fit is dropped, warnings are counted. */
void finding_add(struct doctor *d, enum level level, int node,
                 const char *about, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* doctor/check.c: each node by itself. */
void node_check(struct doctor *d, int i);
int is_of_cluster(const struct hf_probe_node *n);
enum keeping keeping_of(const struct hf_probe_node *n);

/* doctor/postgres.c: the same of a PostgreSQL server. */
void postgres_check(struct doctor *d, int i);
/* session=on, of whatever server. */
void session_check(struct doctor *d, int i);

/* layout=shedlock, of whatever server; nothing for another layout. */
void shedlock_check(struct doctor *d, int i);
enum keeping postgres_keeping(const struct hf_probe_node *n);

/* doctor/replica.c: their replicas. */
/* Which grants and renewals have reached the replicas before the client is
 * answered. */
enum cover {
    COVER_NONE,   /* no grant waits for them */
    COVER_SOME,   /* some of them have every grant */
    COVER_GRANTS, /* all have every grant, not every renewal */
    COVER_ALL     /* all have both */
};
enum cover cover_of(const struct hf_probe_node *n);
void replicas_check(struct doctor *d, int i);
/* 1 if a replica may be promoted in the place of one of the nodes. */
int fails_over(const struct doctor *d);

/* doctor/clock.c: their clocks. */
void clocks_check(struct doctor *d);
/* "-1.25 ms" into `out`, which is returned. */
const char *offset_text(int64_t us, char *out, size_t size);
/* "0.8 %" or "85 ppm" into `out`, which is returned. */
const char *rate_text(int64_t ppm, char *out, size_t size);

/* doctor/quorum.c: the members of a quorum, together. */
void quorum_check(struct doctor *d);

/* doctor/promise.c: what holds when something goes wrong. */
struct promise {
    const char *event;
    const char *exclusion; /* "yes", or what it needs */
    const char *fencing;
    char again[160]; /* when it can be had again */
};
#define PROMISES_MAX 8
int promises_make(const struct doctor *d, struct promise out[PROMISES_MAX]);

/* doctor/print.c, doctor/json.c: all of it, on standard output. */
void doctor_print(const struct doctor *d);
void doctor_json(const struct doctor *d);

#endif
