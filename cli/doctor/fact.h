/*
 * doctor/fact.h: facts that a server told of itself.
 */
#ifndef HOLDFAST_CLI_DOCTOR_FACT_H
#define HOLDFAST_CLI_DOCTOR_FACT_H

#include <stdint.h>

#include "holdfast/holdfast.h"

/* A fact as a number; `otherwise` if it is not known or not a number. */
int64_t fact_number(const struct hf_probe_node *n, const char *name,
                    int64_t otherwise);
/* 1 if the fact is this text. */
int fact_is(const struct hf_probe_node *n, const char *name, const char *text);
/* 1 if the store is of this host, and has no clock but this host's. */
int is_local(const struct hf_probe_node *n);
/* "6.2.14" is 602. */
int version_number(const char *text);

#endif
