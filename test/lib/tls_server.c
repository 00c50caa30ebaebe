/*
 * tls_server.c: see tls_server.h.  One rule: all of its certificates are the
 * test's own; the system's store plays no part.
 */
#include "lib/tls_server.h"

#include <string.h>

#include "lib/rig.h"

static void paths_set(struct lab_tls *s, const char *stem)
{
    snprintf(s->crt, sizeof s->crt, "%s/%s.crt", s->certs.dir, stem);
    snprintf(s->key, sizeof s->key, "%s/%s.key", s->certs.dir, stem);
}

static void args_fill(struct lab_tls *s, const char *auth)
{
    const char *const args[] = {"--tls-port",
                                s->port_text,
                                "--tls-cert-file",
                                s->crt,
                                "--tls-key-file",
                                s->key,
                                "--tls-ca-cert-file",
                                s->ca,
                                "--tls-auth-clients",
                                auth,
                                NULL};
    memcpy(s->args, args, sizeof args);
    s->port = redis_free_port();
    snprintf(s->port_text, sizeof s->port_text, "%d", s->port);
    snprintf(s->ca, sizeof s->ca, "%s/ca.crt", s->certs.dir);
    paths_set(s, "server");
}

void tls_server_begin(struct lab_tls *s, const char *auth)
{
    certs_begin(&s->certs);
    certs_make(&s->certs, "server", "ca", CERTS_HERE, 30);
    args_fill(s, auth);
    redis_begin(&s->redis, s->args);
}

void tls_server_show_later(struct lab_tls *s, const char *stem)
{
    paths_set(s, stem);
}

void tls_server_show(struct lab_tls *s, const char *stem)
{
    paths_set(s, stem);
    CHECK_STR(redis_say(&s->redis,
                        "CONFIG SET tls-cert-file %s tls-key-file %s", s->crt,
                        s->key),
              "OK");
}

const char *tls_server_url(struct lab_tls *s, const char *options)
{
    snprintf(s->url, sizeof s->url, "rediss://127.0.0.1:%d?tls_ca=%s%s",
             s->port, s->ca, options);
    return s->url;
}

void tls_server_kick(struct lab_tls *s)
{
    redis_say(&s->redis, "CLIENT KILL TYPE normal SKIPME yes");
    redis_say(&s->redis, "CLIENT KILL TYPE pubsub");
}

void tls_server_fresh(char *url, size_t size)
{
    static struct lab_tls shared;
    if (shared.port == 0) {
        certs_begin_shared(&shared.certs);
        certs_make(&shared.certs, "server", "ca", CERTS_HERE, 30);
        args_fill(&shared, "no");
        redis_begin_shared(&shared.redis, shared.args);
    }
    redis_say(&shared.redis, "FLUSHALL");
    redis_say(&shared.redis, "SCRIPT FLUSH");
    snprintf(url, size, "%s", tls_server_url(&shared, ""));
}
