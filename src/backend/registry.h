/*
 * registry.h: from a URL's scheme to its backend.
 */
#ifndef HF_BACKEND_REGISTRY_H
#define HF_BACKEND_REGISTRY_H

#include "backend/backend.h"

/* The backend that serves `scheme`, built in or from a module that is opened
 * now and stays open.  NULL with err filled: HF_INVALID for a scheme nobody
 * knows, HF_UNSUPPORTED for one that is not built in or not installed.  Any
 * thread. */
const struct backend *hf__backend_find(const char *scheme,
                                       struct hf_error *err);

/* Is `word` one of `words`, which are separated by spaces? */
int hf__word_is_in(const char *word, const char *words);

#endif
