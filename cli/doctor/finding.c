/*
 * doctor/finding.c: what is to be said, noted in order.
 */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

void finding_add(struct doctor *d, enum level level, int node,
                 const char *about, const char *format, ...)
{
    va_list args;
    if (level == LEVEL_WARN) d->warnings++;
    if (d->findings_len == FINDINGS_MAX) return;
    struct finding *f = &d->findings[d->findings_len++];
    f->level = level;
    f->node = node;
    f->about = about;
    va_start(args, format);
    vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
}
