/*
 * recheck.h: after a failover, are the holds still there?
 */
#ifndef HF_ENGINE_RECHECK_H
#define HF_ENGINE_RECHECK_H

struct engine;
struct reply;
struct request;
struct seat;

void hf__recheck_all(struct engine *e);
void hf__recheck_answered(struct engine *e, struct seat *s,
                          const struct request *r, const struct reply *rep);

#endif
