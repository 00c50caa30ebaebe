/*
 * voter_text.h: the sentences about the nodes of a quorum.
 */
#ifndef HF_ENGINE_VOTER_TEXT_H
#define HF_ENGINE_VOTER_TEXT_H

#include <stddef.h>

struct engine;
struct node;

/* Why there is no quorum; for HF_INVALID, why the lease is too long. */
void hf__voters_text(const struct engine *e, int status, char *out,
                     size_t size);
int hf__voters_are_short(const struct engine *e);
int hf__voters_may_answer(const struct engine *e);

/* Is the node's clock so far ahead that it refuses every number? */
int hf__voter_is_ahead(const struct engine *e, const struct node *n);
void hf__voter_clock_text(const struct engine *e, const struct node *n,
                          char *out, size_t size);
void hf__voter_compare_clock(struct engine *e, const struct node *n);
void hf__voter_compare_version(struct engine *e, const struct node *n);
void hf__voter_warn_misplaced(struct engine *e, const struct node *n);

#endif
