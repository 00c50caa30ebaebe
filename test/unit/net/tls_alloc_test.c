/*
 * tls_alloc_test.c: memory runs out at every place in turn, where TLS and a
 * password in a file are asked for.
 */
#include "lib/starve.h"
#include "lib/tls_server.h"
#include "test.h"

TEST(tls_alloc, every_allocation_may_fail)
{
    static struct lab_tls s;
    char options[300];
    tls_server_begin(&s, "no");
    certs_write(&s.certs, "password", "geheim", 0600);
    redis_say(&s.redis, "CONFIG SET requirepass geheim");
    snprintf(options, sizeof options, "&tls_name=localhost&password_file=%s",
             certs_path(&s.certs, "password"));
    starve_in_turn(tls_server_url(&s, options));
}
