/*
 * work_tls.c: the same round trips over TLS (W1-tls).  The bench's own server
 * gets a second port for it, with a certificate that is made here.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <sys/wait.h>

#include "child.h"
#include "machine.h"
#include "work.h"

#define RATE_MIN 0.7

/* A certificate that signed itself, for 127.0.0.1.  0, or -1. */
static int cert_make(const struct bench *b, char *crt, char *key, size_t size)
{
    char log[300];
    char *argv[] = {"openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:prime256v1",
                    "-nodes",
                    "-days",
                    "2",
                    "-subj",
                    "/CN=bench",
                    "-addext",
                    "subjectAltName=IP:127.0.0.1",
                    "-keyout",
                    key,
                    "-out",
                    crt,
                    NULL};

    snprintf(crt, size, "%s/tls.crt", b->dir);
    snprintf(key, size, "%s/tls.key", b->dir);
    snprintf(log, sizeof(log), "%s/openssl.log", b->dir);
    pid_t pid = child_daemon(argv, log);
    int status = pid > 0 ? child_wait(pid, 20) : -1;
    return status == 0 ? 0 : -1;
}

static void rows_add(struct bench *b, const struct work *w,
                     const struct pair *p, int busy)
{
    char note[NOTE_MAX];

    snprintf(note, sizeof(note),
             "p50 %.0f/%.0f us, p99 %.0f/%.0f us, noise %.0f %%",
             p->ours[P50_US], p->reference[P50_US], p->ours[P99_US],
             p->reference[P99_US], p->ours[NOISE]);
    struct row rate = {w->name,        busy ? "ops/s, busy" : "ops/s",
                       p->ours[RATE],  p->reference[RATE],
                       p->ratio[RATE], JUDGE_RATIO_MIN,
                       RATE_MIN,       ""};
    table_add(&b->table, rate, note);
    struct row cpu = {w->name,
                      "client CPU us/op",
                      p->ours[CPU_PER_OP],
                      p->reference[CPU_PER_OP],
                      p->ratio[CPU_PER_OP],
                      JUDGE_NOTHING,
                      0,
                      ""};
    table_add(&b->table, cpu, NULL);
    struct row fails = {w->name,
                        "failed releases",
                        p->ours[FAILS],
                        p->reference[FAILS],
                        p->ratio[FAILS],
                        JUDGE_OURS_IS,
                        0,
                        ""};
    if (p->ours[FAILS] > 0) table_add(&b->table, fails, NULL);
}

void work_w1_tls(struct bench *b, const struct work *w)
{
    char crt[300], key[300], url[400];
    struct spec ours = {
        .runner = "peer", .peer = "holdfast", .threads = 1, .url = url};
    struct spec raw = {.runner = "raw",
                       .peer = "raw-tls",
                       .threads = 1,
                       .plain = "set",
                       .url = url};
    struct pair p;

    int port = cert_make(b, crt, key, sizeof(crt)) == 0
                   ? server_tls_begin(&b->server, crt, key)
                   : 0;
    if (port == 0) {
        table_skip(&b->table, w->name, "needs openssl and a server with TLS");
        return;
    }
    snprintf(url, sizeof(url), "rediss://127.0.0.1:%d?tls_ca=%s", port, crt);
    for (int busy = 0; busy < 2; busy++) {
        if (busy) spinners_start(b->spinners);
        int status = measure_pair(b, &ours, &raw, b->rounds, &p);
        if (busy) spinners_stop();
        if (status == 0)
            rows_add(b, w, &p, busy);
        else
            table_skip(&b->table, w->name, "a runner failed, see above");
    }
    server_tls_end(&b->server);
}
