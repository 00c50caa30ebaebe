/* facts.h: what a directory of locks says of itself. */
#ifndef HF_FILE_FACTS_H
#define HF_FILE_FACTS_H

#include "backend/file/file.h"

/* Answer VERB_FACTS. */
int hf__file_facts(struct backend_conn *c, struct request *req,
                   struct reply *reply);

#endif
