/*
 * rig_fallback.c: see rig_fallback.h.  One rule: the directory goes with the
 * test.
 */
#include "lib/rig_fallback.h"

#include <dirent.h>
#include <string.h>

#include "lab/folder.h"
#include "lib/lab_check.h"

static void dir_end(void *arg)
{
    struct fall *f = arg;
    lab_folder_remove(f->dir);
}

void fall_begin_beside(struct fall *f, const char *policy)
{
    int is_local = strcmp(policy, "local") == 0;
    memset(f, 0, sizeof *f);
    redis_begin(&f->redis, NULL);
    LAB_CHECK(lab_folder_make(f->dir, sizeof f->dir, "fall"));
    test_cleanup(dir_end, f);
    snprintf(f->url, sizeof f->url,
             "%s?fallback=%s&patience=%dms&timeout=800ms%s%s", f->redis.url,
             policy, FALL_PATIENCE_MS, is_local ? "&fallback_dir=" : "",
             is_local ? f->dir : "");
}

void fall_begin(struct fall *f, const char *policy)
{
    fall_begin_beside(f, policy);
    rig_begin_at(f->url);
}

static void on_log(int level, const char *line, void *user)
{
    struct fall *f = user;
    if (level != HF_LOG_WARN) return;
    if (strstr(line, "answers again")) {
        atomic_fetch_add(&f->returns, 1);
    } else if (strstr(line, "on this host only")) {
        snprintf(f->warning, sizeof f->warning, "%s", line);
        atomic_fetch_add(&f->warnings, 1);
    }
}

struct hf_client_options fall_options(struct fall *f)
{
    struct hf_client_options o = HF_CLIENT_OPTIONS_INIT;
    o.log = on_log;
    o.log_user = f;
    return o;
}

void fall_down(struct fall *f)
{
    redis_shutdown(&f->redis, 0);
}

void fall_up(struct fall *f)
{
    redis_start(&f->redis);
}

int fall_files(const struct fall *f)
{
    int n = 0;
    DIR *d = opendir(f->dir);
    CHECK(d != NULL);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

int fall_until_store(hf_lock *lock, hf_hold **grant)
{
    int64_t end_ms = rig_now_ms() + RIG_PATIENCE_MS;
    int status = HF_UNAVAILABLE;
    while (rig_now_ms() < end_ms) {
        status = hf_lock_try(lock, grant, NULL);
        if (status == HF_OK && hf_hold_guarantee(*grant) == HF_GUARANTEE_STORE)
            break;
        if (status == HF_OK) hf_lock_release(lock, NULL, NULL);
        rig_pause_ms(50);
    }
    return status;
}
