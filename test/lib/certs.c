/*
 * certs.c: see certs.h.
 */
#include "lib/certs.h"

static void certs_end(void *arg)
{
    lab_certs_stop(arg);
}

void certs_begin(struct lab_certs *c)
{
    LAB_CHECK(lab_certs_start(c));
    test_cleanup(certs_end, c);
}
