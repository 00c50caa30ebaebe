/*
 * stress/history.c: the record of every operation, for a checker outside.
 *
 * Lines are gathered per process and appended in blocks of whole lines by one
 * write(2) each, so that the lines of many processes never mix.  Their order in
 * the file says nothing; their times do.
 */
#include "common/json.h"
#include "common/say.h"
#include "stress/stress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int history_open(const char *path)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) say_error("%s: cannot be written: %s", path, strerror(errno));
    return fd;
}

void history_begin(struct history *h, int fd)
{
    h->fd = fd;
    h->len = 0;
    pthread_mutex_init(&h->mutex, NULL);
}

static int block_write(struct history *h)
{
    ssize_t n;
    do n = write(h->fd, h->buf, h->len);
    while (n < 0 && errno == EINTR);
    int is_whole = n == (ssize_t)h->len;
    h->len = 0;
    return is_whole ? 0 : -1;
}

int history_add(struct history *h, const struct history_op *op)
{
    struct json j;
    int rc = 0;
    if (h->fd < 0) return 0;
    json_begin(&j);
    json_uint(&j, "c", op->client);
    json_int(&j, "call", op->call_ns);
    json_int(&j, "ret", op->ret_ns);
    json_text(&j, "lock", op->lock);
    json_text(&j, "op", op->op);
    json_uint(&j, "token", op->token);
    json_bool(&j, "ok", op->ok);
    if (op->unknown) json_bool(&j, "unknown", 1);
    json_end(&j);
    pthread_mutex_lock(&h->mutex);
    if (h->len + j.len > sizeof(h->buf)) rc = block_write(h);
    memcpy(h->buf + h->len, j.buf, j.len);
    h->len += j.len;
    pthread_mutex_unlock(&h->mutex);
    return rc;
}

int history_flush(struct history *h)
{
    if (h->fd < 0) return 0;
    pthread_mutex_lock(&h->mutex);
    int rc = h->len > 0 ? block_write(h) : 0;
    pthread_mutex_unlock(&h->mutex);
    return rc;
}
