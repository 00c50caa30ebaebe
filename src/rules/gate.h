/* gate.h: latches and barriers. */
#ifndef HF_RULES_GATE_H
#define HF_RULES_GATE_H

#include "rules/model.h"

/* Answer what is about a latch or a barrier: 1; 0: it is not. */
int hf__rules_gate_apply(struct store *s, int64_t now_us,
                         const struct request *req, struct reply *rep);

/* A sentence with a number in it, into s->text. */
void hf__rules_gate_text(struct store *s, const char *format, int64_t number)
    __attribute__((format(printf, 2, 0)));

void hf__rules_gate_free_all(struct store *s);

#endif
