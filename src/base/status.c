/*
 * status.c: names, sentences and advice for every status.  One rule: all three
 * come from HF_STATUS_MAP, so that no code can be forgotten.
 */
#include "holdfast/status.h"

#include <stddef.h>

struct status_row {
    int status;
    int advice;
    const char *name;
    const char *text;
};

static const struct status_row rows[] = {
#define STATUS_ROW(name, value, advice, text)                                  \
    {(value), HF_ADVICE_##advice, #name, text},
    HF_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

/* Values may come from a newer library: look them up, never index. */
static const struct status_row *row_find(int status)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].status == status) return &rows[i];
    return NULL;
}

const char *hf_status_name(int status)
{
    const struct status_row *row = row_find(status);
    return row ? row->name : "?";
}

const char *hf_status_text(int status)
{
    const struct status_row *row = row_find(status);
    return row ? row->text : "unknown status";
}

int hf_status_advice(int status)
{
    const struct status_row *row = row_find(status);
    return row ? row->advice : HF_ADVICE_STOP;
}
