/*
 * unload.c: a program that opens the library, uses it correctly while a name is
 * being looked up, and closes it again.  One rule: what the library began ends
 * without harm, though the program has called dlclose() meanwhile.
 *
 *     unload PATH/libholdfast.so
 *
 * The library is not linked, and getaddrinfo() is this program's own: it waits
 * until the library was closed, and returns into it.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <holdfast/holdfast.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_inside, is_unloaded, has_left;

static void flag_set(int *flag)
{
    pthread_mutex_lock(&mutex);
    *flag = 1;
    pthread_mutex_unlock(&mutex);
}

/* 1, or 0: it was not set within a minute. */
static int flag_wait(const int *flag)
{
    int is_set = 0;
    for (int left = 6000; !is_set && left > 0; left--) {
        poll(NULL, 0, 10);
        pthread_mutex_lock(&mutex);
        is_set = *flag;
        pthread_mutex_unlock(&mutex);
    }
    return is_set;
}

__attribute__((visibility("default"))) int getaddrinfo(
    const char *host, const char *service, const struct addrinfo *hints,
    struct addrinfo **out)
{
    (void)host;
    (void)service;
    (void)out;
    if (hints && hints->ai_flags & AI_NUMERICHOST) return EAI_NONAME;
    flag_set(&is_inside);
    flag_wait(&is_unloaded);
    flag_set(&has_left);
    return EAI_FAIL;
}

static int use(void *library)
{
    int (*client_open)(const char *, const struct hf_client_options *,
                       hf_client **, struct hf_error *);
    void (*client_close)(hf_client *);
    hf_client *client = NULL;
    *(void **)&client_open = dlsym(library, "hf_client_open");
    *(void **)&client_close = dlsym(library, "hf_client_close");
    if (!client_open || !client_close) return -1;
    if (client_open("redis://a-name.invalid:1", NULL, &client, NULL) != HF_OK)
        return -1;
    int is_begun = flag_wait(&is_inside);
    client_close(client);
    return is_begun ? 0 : -1;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library || use(library) != 0) {
        fprintf(stderr, "unload: cannot use %s\n", argc == 2 ? argv[1] : "");
        return 1;
    }
    dlclose(library);
    flag_set(&is_unloaded);
    if (!flag_wait(&has_left)) return 2;
    /* The library's thread has the answer now, and ends. */
    poll(NULL, 0, 500);
    printf("unload: the look-up ended after the library was closed\n");
    return 0;
}
