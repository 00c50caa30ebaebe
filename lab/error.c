/*
 * error.c: the sentence that lab_error() returns.  One rule: each thread has
 * its own, so that a sentence is never of another thread's failure.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lab/own.h"

static _Thread_local char sentence[LAB_ERROR_MAX];

const char *lab_error(void)
{
    return sentence;
}

/* By way of a copy: the arguments may be of the last sentence. */
__attribute__((format(printf, 1, 0))) static void keep(const char *format,
                                                       va_list ap)
{
    char text[LAB_ERROR_MAX];
    vsnprintf(text, sizeof text, format, ap);
    memcpy(sentence, text, sizeof sentence);
}

int lab__fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    keep(format, ap);
    va_end(ap);
    return LAB_FAILED;
}

int lab__lack(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    keep(format, ap);
    va_end(ap);
    return LAB_ABSENT;
}
