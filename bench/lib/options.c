/*
 * options.c: reads the runner's arguments.  The defaults are those of the
 * protocol: peer raw, 1 thread, 5 s after 1 s of warm-up, lease 10 s.
 */
#define _POSIX_C_SOURCE 200809L
#include "options.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

enum kind { TEXT, INTEGER, MILLISECONDS, SECONDS, PORTS };

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t min, max;
} keys[] = {
    {"peer", TEXT, offsetof(struct options, peer), 0, 0},
    {"mode", TEXT, offsetof(struct options, mode), 0, 0},
    {"shm", TEXT, offsetof(struct options, shm), 0, 0},
    {"dir", TEXT, offsetof(struct options, dir), 0, 0},
    {"url", TEXT, offsetof(struct options, url), 0, 0},
    {"secs", SECONDS, offsetof(struct options, secs), 0, 86400},
    {"warm", SECONDS, offsetof(struct options, warm), 0, 3600},
    {"lease", MILLISECONDS, offsetof(struct options, lease_ms), 10, 86400000},
    {"threads", INTEGER, offsetof(struct options, threads), 1, THREADS_MAX},
    {"proc", INTEGER, offsetof(struct options, proc), 0, 10000},
    {"count", INTEGER, offsetof(struct options, count), 1, LOCKS_MAX},
    {"permits", INTEGER, offsetof(struct options, permits), 1, 1000},
    {"known", INTEGER, offsetof(struct options, known), 0, LOCKS_MAX},
    {"held", INTEGER, offsetof(struct options, held), 0, LOCKS_MAX},
    {"ports", PORTS, 0, 1, 65535},
};

static void ports_parse(struct options *o, const char *text)
{
    char one[8];

    o->ports_len = 0;
    while (*text) {
        size_t len = strcspn(text, ",");
        if (len >= sizeof(one) || o->ports_len == PORTS_MAX)
            fail("ports=%s: no list of at most %d ports", text, PORTS_MAX);
        memcpy(one, text, len);
        one[len] = '\0';
        o->ports[o->ports_len++] = (int)number_of("ports", one, 1, 65535);
        text += len + (text[len] == ',');
    }
}

static void value_store(struct options *o, const struct key *k, const char *v)
{
    char *at = (char *)o + k->offset;

    switch (k->kind) {
    case TEXT:
        memcpy(at, &v, sizeof(v));
        break;
    case INTEGER: {
        int i = (int)number_of(k->name, v, k->min, k->max);
        memcpy(at, &i, sizeof(i));
        break;
    }
    case MILLISECONDS: {
        int64_t i = number_of(k->name, v, k->min, k->max);
        memcpy(at, &i, sizeof(i));
        break;
    }
    case SECONDS: {
        double d = real_of(k->name, v, (double)k->min, (double)k->max);
        memcpy(at, &d, sizeof(d));
        break;
    }
    case PORTS:
        ports_parse(o, v);
        break;
    }
}

void options_parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.peer = "raw",
                          .mode = "loop",
                          .dir = ".",
                          .secs = 5,
                          .warm = 1,
                          .lease_ms = 10000,
                          .threads = 1,
                          .permits = 1,
                          .count = 10000};
    for (int i = 1; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        if (argv[i][len] != '=') fail("%s: not key=value", argv[i]);
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
            if (strlen(keys[k].name) == len
                && memcmp(keys[k].name, argv[i], len) == 0)
                value_store(o, &keys[k], argv[i] + len + 1);
    }
}

int options_port(const struct options *o)
{
    if (o->ports_len == 0) fail("ports= is missing");
    return o->ports[0];
}
