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

/* These join several stores, and are of no folder: api/quorum/members.c. */
#define SCHEMES_OF_SEVERAL "redlock, quorum"

const struct backend_folder hf__backend_folders[] = {HF_BACKEND_FOLDERS};

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

static const struct backend_folder *folder_find(const struct backend_folder *f,
                                                const char *scheme)
{
    for (; f->name; f++)
        if (hf__word_is_in(scheme, f->schemes)) return f;
    return NULL;
}

static const struct backend *built_in_find(const struct backend_folder *f,
                                           const char *scheme)
{
    for (int i = 0; i < FOLDER_TABLES_MAX && f->tables[i]; i++)
        if (hf__word_is_in(scheme, f->tables[i]->scheme)) return f->tables[i];
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

static void *module_open(const char *file, const char *scheme,
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
    }
    return handle;
}

/* "file, memory, redis, ": the schemes of all these folders. */
static void schemes_write(const struct backend_folder *f, char *out,
                          size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (; f->name; f++) {
        for (const char *p = f->schemes; *p && len < size;) {
            size_t n = strcspn(p, " ");
            len += (size_t)snprintf(out + len, size - len, "%.*s, ", (int)n, p);
            p += n + strspn(p + n, " ");
        }
    }
}

/* Why there is no backend for `scheme`, which is of the folder `f` or, NULL, of
 * none of `folders`. */
static void none_explain(const struct backend_folder *folders,
                         const struct backend_folder *f, const char *scheme,
                         struct hf_error *err)
{
    char known[HF_ERROR_TEXT_MAX];
    if (f && f->without) {
        hf__error_set(err, HF_UNSUPPORTED, "%s: not built in: %s", scheme,
                      f->without);
    } else if (f) {
        hf__error_set(err, HF_UNSUPPORTED,
                      "%s: not available in this version: there is no module "
                      "libholdfast-%s.so",
                      scheme, f->name);
    } else {
        schemes_write(folders, known, sizeof known);
        hf__error_set(err, HF_INVALID,
                      "url: scheme %.32s: unknown: known are "
                      "%s" SCHEMES_OF_SEVERAL,
                      scheme, known);
    }
}

/* The file of the module for `scheme`, of the folder `f` or, NULL, of none: a
 * scheme that we do not know may still be in the user's own path.  1 if there
 * is one. */
static int module_find(const struct backend_folder *f, const char *scheme,
                       char file[PATH_MAX])
{
    const char *name = f ? f->name : scheme;
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789+-_") != strlen(name))
        return 0;
    return file_find(module_path(), name, file, PATH_MAX)
           || (f && file_find(HF_MODULE_DIR, name, file, PATH_MAX));
}

const struct backend *hf__backend_find_in(const struct backend_folder *folders,
                                          const char *scheme,
                                          struct hf_error *err)
{
    const struct backend_folder *f = folder_find(folders, scheme);
    const struct backend *found = f ? built_in_find(f, scheme) : NULL;
    char file[PATH_MAX];
    if (found) return found;
    if (module_find(f, scheme, file)) {
        void *handle = module_open(file, scheme, err);
        return handle ? module_check(handle, file, scheme, err) : NULL;
    }
    none_explain(folders, f, scheme, err);
    return NULL;
}

const struct backend *hf__backend_find(const char *scheme, struct hf_error *err)
{
    return hf__backend_find_in(hf__backend_folders, scheme, err);
}

/* The statements that a module exports, or NULL. */
static const char *const *schema_find(void *handle, const char *layout)
{
    char symbol[64];
    const char *const *const *schema;
    snprintf(symbol, sizeof symbol, BACKEND_SCHEMA_SYMBOL "%s%.30s",
             layout ? "_" : "", layout ? layout : "");
    schema = dlsym(handle, symbol);
    return schema ? *schema : NULL;
}

const char *const *hf__backend_schema(const char *scheme, const char *layout,
                                      struct hf_error *err)
{
    const char *const *schema = NULL;
    char file[PATH_MAX];
    if (!hf__backend_find(scheme, err)) return NULL;
    const struct backend_folder *f = folder_find(hf__backend_folders, scheme);
    if (!(f && built_in_find(f, scheme)) && module_find(f, scheme, file)) {
        void *handle = module_open(file, scheme, err);
        if (!handle) return NULL;
        schema = schema_find(handle, layout);
    }
    if (schema) return schema;
    if (layout)
        hf__error_set(err, HF_INVALID,
                      "url: layout: %s has no layout \"%.40s\"", scheme,
                      layout);
    else
        hf__error_set(err, HF_UNSUPPORTED, "%s: this store needs no statements",
                      scheme);
    return NULL;
}
