/*
 * cell.h: all that a store knows of one name, as a struct and some bytes.
 *
 * A store that keeps each name in a row (or a node, or a key) and replaces it
 * by compare-and-set loads the row into a struct store, has a request applied
 * to it, and saves it again.  The plain lock is a struct, so that a statement
 * of SQL can read and change it; everything else is `state`: tagged fields of
 * varints, one part for each kind, in the file of that kind.
 *
 * One rule: whatever the bytes are, loading them ends with HF_OK, HF_NOMEM or
 * HF_CONFLICT, and a store that is loaded again answers as the saved one would
 * have.  What has ended at the time of saving is left out.
 */
#ifndef HF_RULES_CELL_H
#define HF_RULES_CELL_H

#include "rules/store.h"
#include "rules/table.h"

#define CELL_DETACHED 1u /* the hold does not end with its process */
#define CELL_MARKED 2u   /* others queue for it: it is to be handed over */

/* The plain lock of a name.  All times are of the node's wall clock. */
struct cell_plain {
    int64_t counter; /* highest number ever accepted or given up */
    /* The rest is of the hold; 0 and "" if there is none: */
    char owner[OWNER_LEN_MAX]; /* "": free */
    uint64_t attempt;
    int64_t ballot;  /* T: the number that it was proposed under */
    int64_t fence;   /* the token that was given */
    int64_t holds;   /* hold count */
    int64_t ends_us; /* first moment at which it is gone: with whole
                      * milliseconds, (now_us / 1000 + ceil(lease_us / 1000)
                      * + 1) * 1000 */
    int64_t since_us;
    unsigned flags; /* CELL_* */
    char info[HELD_INFO_MAX];
};

/* The bytes of `state`, growing as needed. */
struct cell_bytes {
    const struct allocator *alloc;
    unsigned char *at;
    size_t len, room;
    int is_short; /* there was no memory: the bytes are not whole */
};

/* Make `s` a store that has this name only.  `state` may be NULL if its length
 * is 0.  HF_OK; or HF_NOMEM or HF_CONFLICT (the bytes are not what we wrote),
 * and the store is empty. */
int hf__rules_cell_load(struct store *s, const char *name, size_t name_len,
                        const struct cell_plain *plain, const void *state,
                        size_t state_len);

/* What `s` has under the name at `now_us`; nothing if it does not know the
 * name.  `state` is written from its beginning; its length is 0 if there is
 * nothing but a plain lock.  HF_OK or HF_NOMEM. */
int hf__rules_cell_save(const struct store *s, int64_t now_us, const char *name,
                        size_t name_len, struct cell_plain *plain,
                        struct cell_bytes *state);

/* Are the two the same, in every field that counts? */
int hf__rules_cell_is_same(const struct cell_plain *a,
                           const struct cell_plain *b);

void hf__rules_cell_free(struct cell_bytes *bytes);

/* The marker of a quorum's member, which is the whole store's and no name's;
 * "": none.  A text that is no marker counts as none. */
void hf__rules_cell_mark(struct store *s, const char *marker);

#endif
