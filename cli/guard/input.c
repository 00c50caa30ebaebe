/*
 * guard/input.c: standard input, as a whole.
 */
#include "common/exit.h"
#include "common/say.h"
#include "guard/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int input_grow(struct input *in)
{
    size_t size = in->size ? in->size * 2 : 65536;
    char *data = realloc(in->data, size);
    if (!data) return -1;
    in->data = data;
    in->size = size;
    return 0;
}

int input_read(struct input *in)
{
    for (;;) {
        if (in->len == in->size && input_grow(in) != 0) {
            say_error("standard input: out of memory");
            return EXIT_BUG;
        }
        ssize_t n = read(STDIN_FILENO, in->data + in->len, in->size - in->len);
        if (n == 0) return EXIT_OK;
        if (n > 0) {
            in->len += (size_t)n;
        } else if (errno != EINTR) {
            say_error("standard input: cannot be read: %s", strerror(errno));
            return EXIT_BUG;
        }
    }
}
