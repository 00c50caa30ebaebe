/*
 * run/outer.c: locks that an outer `holdfast run` holds, an ancestor of this
 * process, as HOLDFAST_HELD says.
 *
 *     PID " " KIND " " FENCE TAB STORE TAB NAME, a line for each lock
 *
 * The rule: a line counts only while its PID is an ancestor of this process.  A
 * daemon that an earlier run has started has the same environment, but no lock.
 */
#include "common/environment.h"
#include "common/exit.h"
#include "common/say.h"
#include "run/outer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELD "HOLDFAST_HELD"
#define HELD_MAX 32768 /* bytes that are read of HOLDFAST_HELD */
#define DEPTH_MAX 4096 /* ancestors */

/* ---- this process and its ancestors ---- */

/* The parent of `pid`; 0: unknown. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    long parent = 0;
    if (pid == getpid()) return getppid();
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t len = fread(text, 1, sizeof(text) - 1, f);
    (void)fclose(f);
    text[len] = '\0';
    /* "PID (name) S PARENT ...": the name may have brackets of its own. */
    const char *end = strrchr(text, ')');
    if (end && strlen(end) > 4) parent = strtol(end + 4, NULL, 10);
    return (pid_t)parent;
}

/* A process that became the command (-F) is its own holder. */
static int is_ancestor(pid_t pid)
{
    pid_t at = getpid();
    for (int depth = 0; at > 0 && depth < DEPTH_MAX; depth++) {
        if (at == pid) return 1;
        at = parent_of(at);
    }
    return 0;
}

/* ---- the lines ---- */

/* Does the text have a character that separates parts or lines? */
static int has_break(const char *text)
{
    return text[strcspn(text, "\t\n")] != '\0';
}

/* file: without a directory is another store for another user and with another
 * HOLDFAST_DIR; memory: is another one in each process, and a relative path in
 * each directory, and so is never that of an ancestor.  A forked child cannot
 * ask the client any more. */
void outer_setup(struct run *r)
{
    const char *dir = environment_get("HOLDFAST_DIR");
    int is_file = (hf_client_caps(r->s.client) & HF_CAP_KERNEL) != 0;
    r->store[0] = '\0';
    if (hf_url_traits(r->url) & (HF_URL_PROCESS | HF_URL_RELATIVE)
        || has_break(r->url))
        return;
    if (is_file && dir && has_break(dir)) return;
    int len = is_file ? snprintf(r->store, sizeof(r->store), "%s %ld %s",
                                 r->url, (long)geteuid(), dir ? dir : "")
                      : snprintf(r->store, sizeof(r->store), "%s", r->url);
    /* A URL that was cut could be taken for another one. */
    if (len < 0 || (size_t)len >= sizeof(r->store)) r->store[0] = '\0';
}

static char kind_of(const struct run *r)
{
    if (r->sem) return 'n'; /* one of N: another slot may be free */
    return r->o->side == SIDE_SHARED ? 's' : 'x';
}

/* A path that is not absolute is another file in another directory. */
static int is_telling(const char *name)
{
    return !strpbrk(name, "\t\n") && (name[0] == '/' || !strchr(name, '/'));
}

static size_t line_add(const struct run *r, const char *name, uint64_t fence,
                       char *out, size_t size)
{
    if (!is_telling(name) || !r->store[0]) return 0;
    int len = snprintf(out, size, "%ld %c %" PRIu64 "\t%s\t%s\n",
                       (long)r->supervisor, kind_of(r), fence, r->store, name);
    if (len > 0 && (size_t)len < size) return (size_t)len;
    out[0] = '\0';
    return 0;
}

void outer_environment(const struct run *r)
{
    static char text[HELD_MAX];
    const char *before = environment_get(HELD);
    size_t len = 0, count = r->s.multi ? r->s.all_len : 1;
    if (before && strlen(before) < sizeof(text) / 2)
        len = (size_t)snprintf(text, sizeof(text), "%s", before);
    for (size_t i = 0; i < count; i++) {
        const char *name = r->s.multi ? hf_lock_name(r->s.all[i]) : r->name;
        len += line_add(r, name, r->held.fences[i], text + len,
                        sizeof(text) - len);
    }
    if (len > 0)
        setenv(HELD, text, 1);
    else
        unsetenv(HELD);
}

/* ---- found ---- */

/* 1 if the line is of this store and this name, and of an ancestor. */
static int line_is(const char *line, size_t len, const char *store,
                   const char *name, struct outer *out)
{
    const char *tab = memchr(line, '\t', len);
    size_t store_len = strlen(store), name_len = strlen(name);
    long pid;
    if (!tab || len - (size_t)(tab - line) != store_len + name_len + 2)
        return 0;
    if (memcmp(tab + 1, store, store_len) != 0 || tab[1 + store_len] != '\t'
        || memcmp(tab + 2 + store_len, name, name_len) != 0)
        return 0;
    if (sscanf(line, "%ld %c %" SCNu64, &pid, &out->kind, &out->fence) != 3)
        return 0;
    out->pid = (pid_t)pid;
    return pid > 0 && is_ancestor((pid_t)pid);
}

/* The innermost one that holds `name`; 0: none does. */
static int outer_find(const struct run *r, const char *name, struct outer *out)
{
    int is_found = 0;
    struct outer one;
    const char *line = environment_get(HELD);
    if (!line || !is_telling(name) || !r->store[0]) return 0;
    while (*line) {
        size_t len = strcspn(line, "\n");
        if (line_is(line, len, r->store, name, &one) && one.kind != 'n') {
            *out = one;
            is_found = 1;
        }
        line += len + (line[len] == '\n');
    }
    return is_found;
}

/* Does that hold exclude ours?  Readers share with readers. */
static int excludes_us(const struct run *r, const struct outer *one)
{
    return one->kind != 's' || r->o->side != SIDE_SHARED;
}

int outer_holds(const struct run *r, struct outer *out)
{
    return outer_find(r, r->name, out) && excludes_us(r, out);
}

int outer_is_weaker(const struct run *r, const struct outer *one)
{
    if (one->kind != 's') return 0;
    say_error("%s: --reenter: pid %ld around this command holds it shared "
              "(-s), and this run is not shared",
              r->s.shown, (long)one->pid);
    return 1;
}

int outer_is_gone(const struct run *r, const struct outer *one,
                  struct hf_error *err, int *status)
{
    struct hf_info info = HF_INFO_INIT;
    *status = hf_lock_inspect(r->s.lock, &info, err);
    if (*status != HF_OK) return 0;
    int is_other = one->fence && info.fence && info.fence != one->fence;
    if (info.locked && !is_other) return 0;
    say_error("%s: --reenter: pid %ld around this command does not hold it any "
              "more",
              r->s.shown, (long)one->pid);
    return 1;
}

int outer_refuses(const struct run *r)
{
    struct outer one;
    char shown[TEXT_ESCAPED_MAX];
    size_t count = r->s.multi ? r->s.all_len : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name = r->s.multi ? hf_lock_name(r->s.all[i]) : r->name;
        if (!outer_find(r, name, &one) || !excludes_us(r, &one)) continue;
        say_error("%s: this command runs inside the holdfast of pid %ld, which "
                  "holds this lock, and would wait for it for ever%s",
                  text_escape(name, shown, sizeof(shown)), (long)one.pid,
                  r->way == &way_lock && count == 1
                      ? ": --reenter runs it under the lock that is held"
                      : "");
        return 1;
    }
    return 0;
}
