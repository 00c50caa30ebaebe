/* pump_fork.h: after fork() the child's copy of a client is disabled. */
#ifndef HF_ENGINE_PUMP_FORK_H
#define HF_ENGINE_PUMP_FORK_H

struct pump;

void hf__pump_enlist(struct pump *p);
void hf__pump_delist(struct pump *p);

#endif
