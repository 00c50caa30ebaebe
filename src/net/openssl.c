/*
 * openssl.c: finding OpenSSL's functions.  One rule: all of them or none, once
 * for the process, and never unloaded.
 */
#define HF_OPENSSL_AS_IT_IS
#include "net/openssl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* A program that is linked statically has no loader; see registry.c. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined(OPENSSL_VERSION_MAJOR) && OPENSSL_VERSION_MAJOR >= 3
#define LIBRARY "libssl.so." TEXT(OPENSSL_VERSION_MAJOR)
#define PACKAGE "libssl" TEXT(OPENSSL_VERSION_MAJOR)
#else
#define LIBRARY "libssl.so.1.1"
#define PACKAGE "libssl1.1"
#endif

struct openssl hf__openssl;

static const struct function {
    const char *name;
    size_t offset;
} functions[] = {
#define ROW(name) {#name, offsetof(struct openssl, name##_fn)},
    OPENSSL_FUNCTIONS(ROW)
#undef ROW
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[HF_ERROR_TEXT_MAX]; /* "" if all is well */

static void functions_find(void *handle)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (!found) {
            snprintf(problem, sizeof problem, "%s has no %s", LIBRARY,
                     functions[i].name);
            return;
        }
        /* ISO C knows no way from one kind of pointer to the other. */
        memcpy((char *)&hf__openssl + functions[i].offset, &found,
               sizeof found);
    }
}

static void load(void)
{
    if (!dlopen || !dlsym || !dlerror) {
        snprintf(problem, sizeof problem,
                 "a statically linked program cannot load %s: link it with "
                 "the shared C library",
                 LIBRARY);
        return;
    }
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *why = dlerror();
        snprintf(problem, sizeof problem, "%.160s: install the package %s",
                 why ? why : LIBRARY, PACKAGE);
        return;
    }
    functions_find(handle);
    if (problem[0]) return;
    /* What is cleaned up at exit() could be under way in our keeper. */
    if (hf__openssl.OPENSSL_init_ssl_fn(OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
        snprintf(problem, sizeof problem, "%s does not start", LIBRARY);
}

int hf__openssl_load(struct hf_error *err)
{
    pthread_once(&once, load);
    if (!problem[0]) return HF_OK;
    return hf__error_set(err, HF_UNSUPPORTED, "tls: %s", problem);
}
