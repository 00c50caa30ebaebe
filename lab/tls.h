/*
 * tls.h: a real Redis server with a port for TLS, and a plain one by which it
 * is asked what is stored there.
 *
 *     static struct lab_tls s;
 *     lab_tls_start(&s, "no");
 *     puts(lab_tls_url(&s, ""));
 */
#ifndef LAB_TLS_H
#define LAB_TLS_H

#include "lab/certs.h"
#include "lab/server.h"

struct lab_tls {
    struct lab_server redis; /* redis.port is the plain one */
    struct lab_certs certs;  /* ca, and server for this host */
    int port;
    int port_fd; /* the reservation of `port` (port.h), 0: none */
    char port_text[16];
    char crt[256], key[256], ca[256];
    const char *args[16];
    char url[1024];
};

/* Start it.  `auth` is "no", "yes" or "optional": whether it asks clients for a
 * certificate.  `s` must stay until it is stopped. */
int lab_tls_start(struct lab_tls *s, const char *auth);
void lab_tls_stop(struct lab_tls *s);

/* From now on it shows the certificate `stem`: to new connections; or from its
 * next start on. */
int lab_tls_show(struct lab_tls *s, const char *stem);
void lab_tls_show_later(struct lab_tls *s, const char *stem);

/* "rediss://127.0.0.1:PORT?tls_ca=...", and further options with their '&'.
 * Borrowed until the next call. */
const char *lab_tls_url(struct lab_tls *s, const char *options);

/* End every connection of a client. */
void lab_tls_kick(struct lab_tls *s);

#endif
