/*
 * play/client_holdfast.c: a client that uses the library as any program may.
 * It believes what hf_hold_valid_ms() says, and calls that often.
 */
#include "play/client.h"

#include "common/environment.h"
#include "holdfast/holdfast.h"
#include "lab/wait.h"
#include "play/job.h"
#include "play/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define LOOK_MS 3
#define URL_MAX 512
/* A renewal moves the end by more than this; rounding of clocks moves it by
 * less. */
#define RENEWED_US 20000

struct holder {
    struct lab_proc *self;
    const struct role *role;
    struct job job;
    char url[URL_MAX];
    char where[WHERE_MAX]; /* of a resource that is not on Redis */
    hf_client *client, *resource;
    hf_lock *lock;
    hf_hold *hold;
    uint64_t fence;
    uint64_t claim; /* the unique token of this hold, where there are claims */
    int64_t until_us; /* end of the hold as last reported; 0 if not held */
};

static void believes_say(struct holder *h)
{
    int64_t now_us = record_now_us();
    int64_t valid_ms = h->hold ? hf_hold_valid_ms(h->hold) : 0;
    int64_t until_us = now_us + valid_ms * 1000;
    if (valid_ms > 0 && until_us > h->until_us + RENEWED_US) {
        h->until_us = until_us;
        client_event(h->self, EVENT_BELIEVES, now_us, until_us, h->fence, "");
    } else if (valid_ms == 0 && h->until_us > 0) {
        h->until_us = 0;
        client_event(h->self, EVENT_ENDS, now_us, 0, h->fence,
                     "knows that it is lost");
    }
}

static void trouble_say(struct holder *h, const struct hf_error *err)
{
    client_event(h->self, EVENT_NOTE, record_now_us(), 0, 0, err->text);
    client_done(h->self, 0);
}

/* Threads of one process share what the first of them has opened. */
static struct {
    hf_client *client;
    hf_lock *lock;
} shared;

static void open_lock(struct holder *h)
{
    struct hf_lock_options o = HF_LOCK_OPTIONS_INIT;
    struct hf_error err = {0};
    if (h->role->play->scene->is_fair) o.order = HF_ORDER_FAIR;
    h->client = shared.client;
    h->lock = shared.lock;
    if (!h->client
        && (hf_client_open(h->url, NULL, &h->client, &err) != HF_OK
            || hf_lock_open_as(h->client, LOCK_NAME, &o, &h->lock, &err)
                   != HF_OK))
        trouble_say(h, &err);
    else
        client_done(h->self, 1);
    shared.client = h->client;
    shared.lock = h->lock;
}

/* What an operator does first: the members are new, and may vote at once. */
static void quorum_init(struct holder *h, const char *url)
{
    struct hf_error err = {0};
    if (hf_quorum_init(url, NULL, NULL, NULL, &err) != HF_OK)
        trouble_say(h, &err);
    else
        client_done(h->self, 1);
}

static void open_resource(struct holder *h, const char *url)
{
    struct hf_error err = {0};
    snprintf(h->where, sizeof(h->where), "%s", url);
    int is_redis = h->role->play->scene->resource == ON_REDIS;
    if (is_redis && hf_client_open(url, NULL, &h->resource, &err) != HF_OK)
        trouble_say(h, &err);
    else
        client_done(h->self, 1);
}

/* 63 random bits, never 0. */
static uint64_t token_make(void)
{
    uint64_t token = 0;
    while (getrandom(&token, sizeof(token), 0) != sizeof(token)) continue;
    return token >> 1 | 1;
}

static void claim(struct holder *h)
{
    struct hf_error err = {0};
    h->claim = token_make();
    if (hf_guard_claim(h->resource, RESOURCE_NAME, h->claim, &err) != HF_OK)
        client_event(h->self, EVENT_NOTE, record_now_us(), 0, 0, err.text);
}

/* A new holder shows its token to the resource before it reads there. */
static void touch(struct holder *h)
{
    struct hf_error err = {0};
    enum resource on = h->role->play->scene->resource;
    int is_shown =
        on == ON_REDIS
            ? hf_guard_touch(h->resource, RESOURCE_NAME, h->fence, &err)
                  == HF_OK
            : resource_touch(on, h->where, h->fence) == WRITE_TAKEN;
    if (!is_shown)
        client_event(h->self, EVENT_NOTE, record_now_us(), 0, 0,
                     err.text[0] ? err.text : "cannot show its fence");
}

static void granted(struct holder *h)
{
    h->fence = hf_hold_fence(h->hold);
    h->until_us = 0;
    believes_say(h);
    if (h->role->play->scene->has_claims)
        claim(h);
    else if (h->where[0] && h->fence)
        touch(h);
    client_done(h->self, 1);
}

static void acquire(struct holder *h, int64_t wait_ms)
{
    struct hf_acquire_options o = HF_ACQUIRE_OPTIONS_INIT;
    struct hf_error err = {0};
    o.lease_ms = h->role->lease_ms;
    if (!h->role->play->scene->has_threads)       /* each is its own holder */
        o.holder = (uint64_t)h->role->number + 1; /* the store shows it */
    o.wait_ms = wait_ms;
    if (wait_ms == 0) o.flags |= HF_ACQUIRE_TRY;
    if (h->role->play->scene->is_fixed) o.flags |= HF_ACQUIRE_FIXED;
    int status = hf_lock_acquire(h->lock, &o, &h->hold, &err);
    if (status == HF_OK) {
        granted(h);
        return;
    }
    h->hold = NULL;
    const char *why = status == HF_TAKEN || status == HF_TIMEOUT ? ""
                      : status == HF_UNAVAILABLE
                          ? "not granted: too few servers confirm it"
                          : hf_status_text(status);
    client_event(h->self, EVENT_TAKEN, record_now_us(), 0, 0, why);
    client_done(h->self, 0);
}

/* From the moment at which it asks for the release, the client no longer
 * believes to hold the lock. */
static void release(struct holder *h)
{
    struct hf_error err = {0};
    int64_t at_us = record_now_us();
    int status = hf_hold_release(h->hold, &err);
    h->hold = NULL;
    h->until_us = 0;
    client_event(h->self, EVENT_ENDS, at_us, 0, 0,
                 status == HF_OK ? "released" : "its release is refused");
    client_done(h->self, status == HF_OK);
}

static enum written guarded_set(struct holder *h, struct hf_error *err)
{
    enum resource on = h->role->play->scene->resource;
    char me = (char)('A' + h->role->number);
    if (on != ON_REDIS) return resource_guarded(on, h->where, h->fence, me);
    int status = h->role->play->scene->has_claims
                     ? hf_guard_set_claimed(h->resource, RESOURCE_NAME,
                                            h->claim, &me, 1, 0, err)
                     : hf_guard_set(h->resource, RESOURCE_NAME, h->fence, &me,
                                    1, 0, err);
    return status == HF_OK      ? WRITE_TAKEN
           : status == HF_STALE ? WRITE_STALE
                                : WRITE_FAILED;
}

/* What is refused for another reason than its fence has that reason shown. */
static void resource_write(struct holder *h)
{
    struct hf_error err = {0};
    enum written is = guarded_set(h, &err);
    const char *why = err.text[0] ? err.text : "the write has failed";
    client_event(h->self, is == WRITE_TAKEN ? EVENT_ACCEPTED : EVENT_REFUSED,
                 record_now_us(), 0, h->fence, is == WRITE_FAILED ? why : "");
    client_done(h->self, is == WRITE_TAKEN);
}

static int child_end(void *arg)
{
    struct holder *h = arg;
    return hf_hold_release(h->hold, NULL) == HF_OK;
}

/* A supervisor: this very program, without the settings of this machine. */
static void supervise(void *arg)
{
    const struct holder *h = arg;
    char lease[32], path[512], folder[256];
    const char *found = environment_get("PATH");
    const char *its = environment_get("TMPDIR"); /* watch_begin() */
    snprintf(lease, sizeof(lease), "%lldms", (long long)h->role->lease_ms);
    snprintf(path, sizeof(path), "PATH=%s", found ? found : "/usr/bin:/bin");
    const char *const argv[] = {
        "holdfast", "--config",  "/dev/null", "run",       "-q",
        "--url",    h->url,      "--lease",   lease,       LOCK_NAME,
        "--",       job_argv[0], job_argv[1], job_argv[2], NULL};
    snprintf(folder, sizeof(folder), "TMPDIR=%s", its ? its : "/tmp");
    const char *const env[] = {path, folder, NULL};
    execve("/proc/self/exe", (char **)argv, (char **)env);
}

static void line_obey(struct holder *h, char *line)
{
    char *words = strchr(line, ' ');
    words = words ? words + 1 : line + strlen(line);
    if (strncmp(line, "url ", 4) == 0) {
        snprintf(h->url, sizeof(h->url), "%s", words);
        open_lock(h);
    } else if (strncmp(line, "init ", 5) == 0) {
        quorum_init(h, words);
    } else if (strncmp(line, "resource ", 9) == 0) {
        open_resource(h, words);
    } else if (strncmp(line, "acquire ", 8) == 0) {
        acquire(h, strtoll(words, NULL, 10));
    } else if (strcmp(line, "fork") == 0) {
        client_fork(h->self, child_end, h);
    } else if (strcmp(line, "run") == 0) {
        job_begin(&h->job, h->self, supervise, h);
    } else if (strcmp(line, "bereave") == 0) {
        job_bereave(&h->job, h->self);
    } else if (strcmp(line, "release") == 0) {
        release(h);
    } else if (strcmp(line, "write") == 0) {
        resource_write(h);
    } else { /* "check" */
        believes_say(h);
        client_done(h->self, h->until_us > 0);
    }
}

int client_holdfast(struct lab_proc *self, const void *arg)
{
    static _Thread_local struct holder h;
    char line[LAB_PROC_LINE_MAX];
    h.self = self;
    h.role = arg;
    for (;;) {
        if (lab_until_readable(self->from_fd, LOOK_MS)) {
            if (!lab_proc_hear(self, line, LAB_PATIENCE_MS)) break;
            line_obey(&h, line);
        }
        believes_say(&h);
        job_look(&h.job, self);
    }
    return 0;
}
