/*
 * library.c: a server and a service on it, for one test.  One rule: our side
 * always says format=string; nothing else is needed to join these libraries.
 */
#include "library.h"

#define LIBRARY_URL_MAX 128

static struct library library;

static void url_write(char url[LIBRARY_URL_MAX], const struct lab_server *r,
                      const char *options)
{
    snprintf(url, LIBRARY_URL_MAX, "%.63s?format=string%.32s", r->url, options);
}

void library_serve(struct lab_server *r)
{
    char url[LIBRARY_URL_MAX];
    redis_begin(r, NULL);
    url_write(url, r, "");
    rig_begin_at(url);
}

struct library *library_begin(const char *language)
{
    struct library *t = &library;
    library_serve(&t->server);
    t->there.language = language;
    peer_start(&t->there, &t->server, 0);
    return t;
}

hf_client *library_client(struct library *t, const char *options)
{
    char url[LIBRARY_URL_MAX];
    url_write(url, &t->server, options);
    return rig_client_at(url, NULL);
}
