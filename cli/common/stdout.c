/*
 * common/stdout.c: whether what was printed has arrived.
 */
#include "common/exit.h"
#include "common/say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int stdout_end(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
    say_error("standard output: cannot be written: %s", strerror(errno));
    return EXIT_BUG;
}
