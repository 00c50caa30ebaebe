/*
 * boot.h: the marker by which a member of a quorum remembers that it may vote.
 *
 * A node that came back without its data would vote for a second holder; so a
 * node that has no marker, or one of an earlier life, votes only after every
 * lease must have ended.  One rule: whatever is in doubt begins a quarantine.
 *
 * boot.lua decides the same on a Redis; test/fault/replay/replay_test.c holds
 * the two against each other.
 */
#ifndef HF_BASE_BOOT_H
#define HF_BASE_BOOT_H

#include "base/request.h"

#define MARKER_TEXT_MAX 256

struct marker {
    char group[GROUP_MAX];       /* "": there is no marker */
    char identity[IDENTITY_MAX]; /* whose life it is of; "-": not known */
    int64_t settled_us; /* on the node's clock: it votes from then on */
    int64_t lease_us;   /* longest lease of the group */
    int is_durable;     /* the operator's word: restarts lose nothing */
    int is_synced;      /* found out in that life: it loses nothing */
};

/* What the node knows of itself at this moment. */
struct boot_facts {
    const char *identity; /* of this life; "": it cannot be told */
    int64_t now_us;       /* its clock */
    int is_durable;       /* found out: this life loses nothing */
    int has_locks;        /* LOOK and NEW only */
};

/* Answer VERB_BOOT: fills `out` and changes `m` as the request wants it.
 * HF_OK, or HF_INVALID or HF_CONFLICT with `why` ("what: why"), and `m` is as
 * it was.
 */
int hf__boot_decide(struct marker *m, const struct request *req,
                    const struct boot_facts *facts, struct boot *out,
                    const char **why);

/* Has the request a group and its times? */
int hf__boot_is_sound(const struct request *req);

/* Is it an operator's, which must know whether locks are stored?  To find out
 * may take a walk over everything that is. */
int hf__boot_wants_locks(const struct request *req);

/* "v1 <group> <identity> <settled us> <lease ms>[ durable| synced]", and back;
 * -1: it is none. */
void hf__marker_format(const struct marker *m, char out[MARKER_TEXT_MAX]);
int hf__marker_parse(const char *text, struct marker *m);

/* How many members the quorum of a marker has; 0: it is no marker (NULL, too).
 * The times in it need not be sound. */
int hf__marker_members(const char *text);

/* Would the request grant or change what the quorum decides, on a member that
 * is asked alone?  Looking, breaking and releasing would not.  Nor would the
 * renewal of a hold: it is this client's by its record there, which no quorum
 * can have made.  A ticket may be the quorum's; a number is stored under the
 * name of a lock.  Values and guards are a client's data, and grant nothing. */
int hf__boot_is_bypass(const struct request *req);

#endif
