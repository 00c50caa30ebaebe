/*
 * said.c: see said.h.  One rule: a server's words become one line without
 * control characters.
 */
#include "backend/sql/said.h"

#include <ctype.h>
#include <string.h>

#include "base/error.h"

void hf__sql_said_copy(const char *said, char out[SAID_MAX])
{
    size_t len = strcspn(said, "\n");
    size_t kept = len < SAID_MAX ? len : SAID_MAX - 1;
    memcpy(out, said, kept);
    out[kept] = '\0';
    for (size_t i = 0; i < kept; i++)
        if (iscntrl((unsigned char)out[i])) out[i] = '?';
    if (len >= SAID_MAX) hf__text_cut(out, SAID_MAX);
}
