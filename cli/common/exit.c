/*
 * common/exit.c: from a status of the library to an exit code and a text.
 */
#include "common/exit.h"
#include "holdfast/holdfast.h"

int status_exit(int status)
{
    switch (status) {
    case HF_OK:
        return EXIT_OK;
    case HF_TAKEN:
    case HF_TIMEOUT:
        return EXIT_NOT_ACQUIRED;
    case HF_UNAVAILABLE:
        return EXIT_UNREACHABLE;
    case HF_LOST:
    case HF_EXPIRED:
    case HF_NOT_OWNER:
    case HF_STALE:
        return EXIT_LOST;
    case HF_DENIED:
        return EXIT_DENIED;
    case HF_INVALID:
    case HF_CONFLICT:
    case HF_UNSUPPORTED:
        return EXIT_CONFIG;
    default:
        return EXIT_BUG;
    }
}

const char *status_why(int status, const char *text)
{
    return text[0] ? text : hf_status_text(status);
}
