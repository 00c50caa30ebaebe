/*
 * doctor/fact.c: a fact that a server told, as a number or a word.
 */
#include "common/duration.h"
#include "doctor/fact.h"

#include <string.h>

int64_t fact_number(const struct hf_probe_node *n, const char *name,
                    int64_t otherwise)
{
    char text[64];
    int64_t number;
    hf_probe_fact(n, name, text, sizeof(text));
    if (number_parse(text, 0, INT64_MAX, &number) != 0) return otherwise;
    return number;
}

int fact_is(const struct hf_probe_node *n, const char *name, const char *text)
{
    char value[64];
    return hf_probe_fact(n, name, value, sizeof(value))
           && strcmp(value, text) == 0;
}
