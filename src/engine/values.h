/*
 * values.h: versioned values, markers of nodes, and facts about the store.
 */
#ifndef HF_ENGINE_VALUES_H
#define HF_ENGINE_VALUES_H

struct engine;
struct hf_value;
struct op;
struct reply;
struct request;

void hf__values_start(struct engine *e, struct op *op);
int hf__values_is_repeatable(const struct request *r);
/* Copy what a node has lent, for the user; HF_OK or HF_NOMEM. */
int hf__values_copy(struct engine *e, struct hf_value *out,
                    const struct reply *rep, int is_there);
void hf__values_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep);

#endif
