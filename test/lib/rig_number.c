/*
 * rig_number.c: see rig_number.h.
 */
#include "lib/rig_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int number_add(hf_client *c)
{
    struct hf_value v = HF_VALUE_INIT;
    char text[32];
    int status = hf_value_read(c, "n", &v, NULL);
    if (status != HF_OK) return status;
    uint64_t version = v.version;
    snprintf(text, sizeof text, "%ld",
             (version ? strtol(v.data, NULL, 10) : 0) + 1);
    hf_value_free(c, &v);
    return hf_value_write(c, "n", version, text, strlen(text), 0, NULL, NULL);
}

long number_of(hf_client *c)
{
    struct hf_value v = HF_VALUE_INIT;
    CHECK_INT(hf_value_read(c, "n", &v, NULL), HF_OK);
    long n = v.version ? strtol(v.data, NULL, 10) : 0;
    hf_value_free(c, &v);
    return n;
}
