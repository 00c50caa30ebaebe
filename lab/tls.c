/*
 * tls.c: see tls.h.  One rule: all of its certificates are its own; the
 * system's store plays no part.
 */
#include "lab/tls.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/own.h"
#include "lab/port.h"

static void paths_set(struct lab_tls *s, const char *stem)
{
    snprintf(s->crt, sizeof s->crt, "%s/%s.crt", s->certs.dir, stem);
    snprintf(s->key, sizeof s->key, "%s/%s.key", s->certs.dir, stem);
}

static int args_fill(struct lab_tls *s, const char *auth)
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
    int fd = lab_port_reserve(&s->port);
    if (fd < 0) return fd;
    s->port_fd = fd;
    memcpy(s->args, args, sizeof args);
    snprintf(s->port_text, sizeof s->port_text, "%d", s->port);
    snprintf(s->ca, sizeof s->ca, "%s/ca.crt", s->certs.dir);
    paths_set(s, "server");
    return LAB_OK;
}

void lab_tls_stop(struct lab_tls *s)
{
    lab_server_stop(&s->redis);
    lab_certs_stop(&s->certs);
    if (s->port_fd > 0) close(s->port_fd);
    s->port_fd = 0;
}

int lab_tls_start(struct lab_tls *s, const char *auth)
{
    s->port_fd = 0;
    int status = lab_certs_start(&s->certs);
    if (status == LAB_OK)
        status = lab_certs_make(&s->certs, "server", "ca", LAB_CERTS_HERE, 30);
    if (status == LAB_OK) status = args_fill(s, auth);
    if (status == LAB_OK) status = lab_server_start(&s->redis, s->args);
    if (status != LAB_OK) lab_tls_stop(s);
    return status;
}

void lab_tls_show_later(struct lab_tls *s, const char *stem)
{
    paths_set(s, stem);
}

int lab_tls_show(struct lab_tls *s, const char *stem)
{
    paths_set(s, stem);
    return lab_server_do(&s->redis,
                         "CONFIG SET tls-cert-file %s tls-key-file %s", s->crt,
                         s->key);
}

const char *lab_tls_url(struct lab_tls *s, const char *options)
{
    snprintf(s->url, sizeof s->url, "rediss://127.0.0.1:%d?tls_ca=%s%s",
             s->port, s->ca, options);
    return s->url;
}

void lab_tls_kick(struct lab_tls *s)
{
    lab_server_say(&s->redis, "CLIENT KILL TYPE normal SKIPME yes");
    lab_server_say(&s->redis, "CLIENT KILL TYPE pubsub");
}
