/*
 * registry.c: from a URL's scheme to its backend.  One rule: it keeps no state.
 * A module is opened anew for every client, which the loader counts: the file
 * is mapped once, and RTLD_NODELETE keeps it for the life of the process.
 */
#include "backend/registry.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends.h"
#include "base/error.h"
#include "sys/env.h"

/* A program that is linked statically has no loader.  Weak, these are NULL
 * there instead of a linker's warning and a crash. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

#define SCHEMES_KNOWN                                                          \
    "memory, file, redis, rediss, redis+unix, redis-sentinel, redis-cluster, " \
    "redlock, quorum"

static const struct backend *const built_in[] = {HF_BACKENDS};

/* Backends that this build is without; schemes are separated by spaces. */
static const struct absent {
    const char *schemes;
    const char *todo;
} absent[] = {HF_BACKENDS_ABSENT{NULL, NULL}};

/* Backends that live in a module; schemes are separated by spaces. */
static const struct module {
    const char *name;
    const char *schemes;
} modules[] = {
    {"zookeeper", "zookeeper zk"},
    {"etcd", "etcd etcds"},
    {"postgres", "postgres postgresql"},
    {"mariadb", "mariadb mysql"},
    {"sqlite", "sqlite"},
};

int hf__word_is_in(const char *word, const char *words)
{
    size_t len = strlen(word);
    for (const char *p = words; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (n == len && !memcmp(p, word, len)) return 1;
        p += n;
    }
    return 0;
}

static const struct backend *built_in_find(const char *scheme)
{
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        if (hf__word_is_in(scheme, built_in[i]->scheme)) return built_in[i];
    return NULL;
}

static const char *module_name(const char *scheme)
{
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (hf__word_is_in(scheme, modules[i].schemes)) return modules[i].name;
    return NULL;
}

static const char *module_path(void)
{
    const char *path = hf__env("HOLDFAST_MODULE_PATH");
    return path ? path : "";
}

/* "DIR/libholdfast-NAME.so" for the first of `dirs` (separated by colons) that
 * has it.  1 if there is one. */
static int file_find(const char *dirs, const char *name, char *out,
                     size_t out_size)
{
    while (*dirs) {
        size_t len = strcspn(dirs, ":");
        int n = snprintf(out, out_size, "%.*s/libholdfast-%s.so", (int)len,
                         dirs, name);
        if (len > 0 && n > 0 && (size_t)n < out_size && !access(out, R_OK))
            return 1;
        dirs += len;
        if (*dirs) dirs++;
    }
    return 0;
}

/* The backend in an open module, if it is one that we can talk to. */
static const struct backend *module_check(void *handle, const char *file,
                                          const char *scheme,
                                          struct hf_error *err)
{
    const struct backend *const *entry = dlsym(handle, BACKEND_MODULE_SYMBOL);
    if (!entry || !*entry) {
        hf__error_set(err, HF_UNSUPPORTED, "%s: module %s: no symbol %s",
                      scheme, file, BACKEND_MODULE_SYMBOL);
        return NULL;
    }
    if ((*entry)->abi != BACKEND_ABI) {
        hf__error_set(err, HF_UNSUPPORTED,
                      "%s: module %s: made for version %d of the module "
                      "interface, this library has %d",
                      scheme, file, (*entry)->abi, BACKEND_ABI);
        return NULL;
    }
    if (!hf__word_is_in(scheme, (*entry)->scheme)) {
        hf__error_set(err, HF_UNSUPPORTED, "%s: module %s: serves only: %s",
                      scheme, file, (*entry)->scheme);
        return NULL;
    }
    return *entry;
}

static const struct backend *module_open(const char *file, const char *scheme,
                                         struct hf_error *err)
{
    if (!dlopen || !dlsym || !dlerror) {
        hf__error_set(err, HF_UNSUPPORTED,
                      "%s: module %s: a statically linked program cannot load "
                      "modules: link it with the shared C library",
                      scheme, file);
        return NULL;
    }
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *why = dlerror();
        hf__error_set(err, HF_UNSUPPORTED, "%s: module %s: %s", scheme, file,
                      why ? why : "cannot be loaded");
        return NULL;
    }
    return module_check(handle, file, scheme, err);
}

/* What brings the backend of `scheme` into a build; NULL: it is none. */
static const char *absent_todo(const char *scheme)
{
    for (const struct absent *a = absent; a->schemes; a++)
        if (hf__word_is_in(scheme, a->schemes)) return a->todo;
    return NULL;
}

/* Why there is nothing for `scheme`. */
static int none_explain(const char *scheme, const char *name,
                        struct hf_error *err)
{
    if (name)
        return hf__error_set(err, HF_UNSUPPORTED,
                             "%s: not available in this version: there is no "
                             "module libholdfast-%s.so",
                             scheme, name);
    const char *todo = absent_todo(scheme);
    if (todo)
        return hf__error_set(err, HF_UNSUPPORTED, "%s: not built in: %s",
                             scheme, todo);
    return hf__error_set(err, HF_INVALID,
                         "url: scheme %.32s: unknown: known are " SCHEMES_KNOWN,
                         scheme);
}

const struct backend *hf__backend_find(const char *scheme, struct hf_error *err)
{
    const struct backend *found = built_in_find(scheme);
    if (found) return found;
    char file[PATH_MAX];
    const char *name = module_name(scheme);
    /* A scheme that we do not know may still be in the user's own path. */
    const char *wanted = name ? name : scheme;
    if (strspn(wanted, "abcdefghijklmnopqrstuvwxyz0123456789+-_")
            == strlen(wanted)
        && (file_find(module_path(), wanted, file, sizeof file)
            || (name && file_find(HF_MODULE_DIR, name, file, sizeof file))))
        return module_open(file, scheme, err);
    none_explain(scheme, name, err);
    return NULL;
}
