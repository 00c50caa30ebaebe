/*
 * guard.c: the resource refuses a holder whose time is over.  Two holds of one
 * lock, one after the other; the first one's write comes too late.
 *
 *     ./guard [URL [FILE]]
 *
 * The resource is a file here; hf_guard_touch() and hf_guard_set() do the same
 * with a value on Redis, hf_guard_sql() in a database.  fence.c shows what is
 * behind it.
 */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

static void say(uint64_t fence, int status, const struct hf_error *err)
{
    printf("fence %llu: %s\n", (unsigned long long)fence,
           status == HF_OK ? "written" : err->text);
}

static int take(hf_lock *lock, uint64_t *fence, struct hf_error *err)
{
    hf_hold *hold;
    int status = hf_lock_acquire(lock, NULL, &hold, err);
    if (status != HF_OK) return status;
    *fence = hf_hold_fence(hold);
    return hf_hold_release(hold, err);
}

static int write_guarded(hf_lock *lock, const char *path, struct hf_error *err)
{
    static const char mine[] = "by the present holder\n";
    static const char late[] = "by a holder of the past\n";
    uint64_t first, second;
    int status = take(lock, &first, err);
    if (status == HF_OK) status = take(lock, &second, err);
    /* Touch first: whoever was paused before us is shut out from here on. */
    if (status == HF_OK) status = hf_guard_file_touch(path, second, err);
    if (status != HF_OK) return status;

    status = hf_guard_file_replace(path, first, late, strlen(late), err);
    say(first, status, err);
    if (status != HF_STALE) return status == HF_OK ? HF_INTERNAL : status;
    status = hf_guard_file_replace(path, second, mine, strlen(mine), err);
    say(second, status, err);
    return status;
}

int main(int argc, char **argv)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    const char *path = argc > 2 ? argv[2] : "guard.record";
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "record", &lock, &err);
    if (status == HF_OK) status = write_guarded(lock, path, &err);
    if (status != HF_OK) fprintf(stderr, "guard: %s\n", err.text);
    hf_lock_close(lock);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
