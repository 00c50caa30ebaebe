/*
 * guards.h: tokens that a resource on the store compares.
 */
#ifndef HF_ENGINE_GUARDS_H
#define HF_ENGINE_GUARDS_H

struct engine;
struct op;
struct reply;
struct request;

void hf__guards_start(struct engine *e, struct op *op);
int hf__guards_is_repeatable(const struct request *r);
void hf__guards_answered(struct engine *e, struct op *op,
                         const struct request *r, const struct reply *rep);

#endif
