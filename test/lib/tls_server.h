/*
 * tls_server.h: lab/tls.h in a test: a real Redis server with a port for TLS,
 * and a plain one by which the test sees what is stored there.
 *
 *     static struct lab_tls s;
 *     tls_server_begin(&s, "no");
 *     hf_client *c = rig_client_at(tls_server_url(&s, ""), NULL);
 */
#ifndef HF_TEST_TLS_SERVER_H
#define HF_TEST_TLS_SERVER_H

#include "lab/tls.h"
#include "lib/certs.h"
#include "lib/rig_redis.h"

/* Start it for this test.  `auth` is "no", "yes" or "optional": whether it
 * asks for a certificate of ours.  `s` must be static. */
void tls_server_begin(struct lab_tls *s, const char *auth);

/* The others of lab/tls.h, which must succeed. */
#define tls_server_show(s, stem) LAB_CHECK(lab_tls_show(s, stem))
#define tls_server_show_later(s, stem) lab_tls_show_later(s, stem)
#define tls_server_url(s, options) lab_tls_url(s, options)
#define tls_server_kick(s) lab_tls_kick(s)

/* The URL of the run's shared server with TLS, emptied. */
void tls_server_fresh(char *url, size_t size);

#endif
