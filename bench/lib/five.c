/*
 * five.c: five servers of our own, and a lock over them.  One rule: what is
 * measured is the steady state, so a lock is warm when it is handed out.
 */
#define _POSIX_C_SOURCE 200809L
#include "five.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "holdfast/quorum.h"
#include "tool.h"

#define WARM_OPS 300
#define ANSWERS_NS (50 * NS_PER_MS) /* the last ones of the warm-up come in */

void five_url(char url[FIVE_URL_MAX], const int *ports, int len)
{
    size_t at = (size_t)snprintf(url, FIVE_URL_MAX, "redlock://");

    for (int i = 0; i < len && at < FIVE_URL_MAX; i++)
        at += (size_t)snprintf(url + at, FIVE_URL_MAX - at, "%s127.0.0.1:%d",
                               i ? "," : "", ports[i]);
    if (at >= FIVE_URL_MAX) fail("%d servers are too many", len);
}

void five_init(const char *url)
{
    struct hf_error err;

    int status = hf_quorum_init(url, NULL, NULL, NULL, &err);
    if (status != HF_OK && status != HF_CONFLICT) fail("%s", err.text);
}

void five_start(struct five *f, const struct bench *b)
{
    int ports[FIVE];

    memset(f, 0, sizeof(*f));
    for (int i = 0; i < FIVE; i++) {
        char dir[300];
        snprintf(dir, sizeof(dir), "%s/five-%d", b->dir, i);
        if (mkdir(dir, 0700) != 0 && errno != EEXIST)
            fail("%s: %s", dir, strerror(errno));
        server_start(&f->servers[i], dir);
        ports[i] = f->servers[i].port;
    }
    five_url(f->url, ports, FIVE);
    five_init(f->url);
}

void five_stop(struct five *f)
{
    for (int i = 0; i < FIVE; i++) server_stop(&f->servers[i]);
}

void five_lock_once(struct five_lock *l)
{
    struct hf_error err;

    if (hf_lock_acquire(l->lock, NULL, NULL, &err) != HF_OK
        || hf_lock_release(l->lock, NULL, &err) != HF_OK)
        fail("%s", err.text);
}

void five_lock_open(struct five_lock *l, const struct five *f)
{
    struct hf_error err;

    if (hf_client_open(f->url, NULL, &l->client, &err) != HF_OK
        || hf_lock_open(l->client, "ours", &l->lock, &err) != HF_OK)
        fail("%s", err.text);
    for (int i = 0; i < WARM_OPS; i++) five_lock_once(l);
    pause_ns(ANSWERS_NS);
}

void five_lock_close(struct five_lock *l)
{
    hf_lock_close(l->lock);
    hf_client_close(l->client);
}
