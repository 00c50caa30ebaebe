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

int is_local(const struct hf_probe_node *n)
{
    char text[32];
    return hf_probe_fact(n, "engine", text, sizeof(text))
           && !hf_probe_fact(n, "server_version", text, sizeof(text));
}

int version_number(const char *text)
{
    int parts[2] = {0, 0}, part = 0;
    for (; *text && part < 2; text++) {
        if (*text == '.')
            part++;
        else if (*text >= '0' && *text <= '9' && parts[part] < 1000)
            parts[part] = parts[part] * 10 + (*text - '0');
        else
            break;
    }
    return parts[0] * 100 + parts[1];
}
