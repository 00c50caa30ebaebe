/*
 * clocks.h: has a node's clock been set?
 */
#ifndef HF_ENGINE_CLOCKS_H
#define HF_ENGINE_CLOCKS_H

struct engine;
struct node;
struct reply;
struct request;

/* Compare the time that a reply tells with what earlier replies told. */
void hf__clocks_heard(struct engine *e, struct node *n, const struct request *r,
                      const struct reply *rep);

#endif
