/*
 * old.c: a module of another time, for the loader's test.  One rule: its
 * version is wrong, and nothing else is there to be called.
 */
#include "backend/backend.h"

static const struct backend old_backend = {
    .abi = BACKEND_ABI + 1,
    .scheme = "old",
};

__attribute__((visibility("default")))
const struct backend *const hf_backend_module = &old_backend;
