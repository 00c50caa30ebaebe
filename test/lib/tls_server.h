/*
 * tls_server.h: a real Redis server with a port for TLS, and a plain one by
 * which the test sees what is stored there.
 *
 *     static struct lab_tls s;
 *     tls_server_begin(&s, "no");
 *     hf_client *c = rig_client_at(tls_server_url(&s, ""), NULL);
 */
#ifndef HF_TEST_TLS_SERVER_H
#define HF_TEST_TLS_SERVER_H

#include "lib/certs.h"
#include "lib/rig_redis.h"

struct lab_tls {
    struct lab_server redis; /* redis.port is the plain one */
    struct lab_certs certs;  /* ca, and server for this host */
    int port;
    char port_text[16];
    char crt[256], key[256], ca[256];
    const char *args[16];
    char url[1024];
};

/* Start it for this test.  `auth` is "no", "yes" or "optional": whether it
 * asks for a certificate of ours.  `s` must be static. */
void tls_server_begin(struct lab_tls *s, const char *auth);

/* From now on it shows the certificate `stem`: to new connections; or from its
 * next start on. */
void tls_server_show(struct lab_tls *s, const char *stem);
void tls_server_show_later(struct lab_tls *s, const char *stem);

/* "rediss://127.0.0.1:PORT?tls_ca=...", and further options with their '&'.
 * Borrowed until the next call. */
const char *tls_server_url(struct lab_tls *s, const char *options);

/* End every connection of a client of ours. */
void tls_server_kick(struct lab_tls *s);

/* The URL of the run's shared server with TLS, emptied. */
void tls_server_fresh(char *url, size_t size);

#endif
