/*
 * error.c: why a request cannot be carried out.  One rule: what the file system
 * refuses is told with its reason, and under the status that says what to do.
 */
#include <errno.h>
#include <string.h>

#include "backend/file/error.h"
#include "backend/file/request.h"
#include "base/error.h"

static int status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case EACCES:
    case EPERM:
    case EROFS:
        return HF_DENIED;
    case ENOMEM:
        return HF_NOMEM;
    case ENOLCK:
    case EOPNOTSUPP:
        return HF_UNSUPPORTED;
    case ELOOP:
    case EISDIR:
    case ENXIO:
        return HF_CONFLICT;
    case ENOTDIR:
    case ENOENT:
    case ENAMETOOLONG:
        return HF_INVALID;
    default:
        return HF_UNAVAILABLE;
    }
}

int hf__file_fail(struct backend_conn *c, const char *what, const char *which,
                  int sys_errno)
{
    int saved = errno;
    int status = status_of_errno(sys_errno);
    /* A file in our directory cannot be missing: the directory is. */
    if (status == HF_INVALID && !strchr(which, '/')) status = HF_UNAVAILABLE;
    hf__error_errno(&c->err, status, sys_errno, "file:%.80s: %s %.80s", c->dir,
                    what, which);
    errno = saved;
    return status;
}

int hf__file_refuse(struct backend_conn *c, struct reply *reply, int status)
{
    reply->verdict = V_ERROR;
    reply->status = status;
    reply->text = c->err.text;
    return ANSWER_DONE;
}
