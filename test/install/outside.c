/*
 * outside.c: a stranger's program.  It knows the installed headers and nothing
 * else; it takes a lock, sees its fence and gives it back.
 */
#include <holdfast/holdfast.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, const struct hf_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", what, hf_status_name(err->status),
            err->text);
    return 1;
}

static int lock_use(hf_client *client)
{
    struct hf_error err;
    hf_hold *hold;
    hf_lock *lock;
    if (hf_lock_open(client, "outside", &lock, &err) != HF_OK)
        return fail("hf_lock_open", &err);
    if (hf_lock_acquire(lock, NULL, &hold, &err) != HF_OK)
        return fail("hf_lock_acquire", &err);
    uint64_t fence = hf_hold_fence(hold);
    printf("fence %llu\n", (unsigned long long)fence);
    if (hf_hold_release(hold, &err) != HF_OK)
        return fail("hf_hold_release", &err);
    hf_lock_close(lock);
    return fence > 0 ? 0 : 1;
}

/* A backend that is not installed is refused, in a static program too. */
static int missing_is_refused(void)
{
    struct hf_error err;
    hf_client *client;
    int status = hf_client_open("gopher://localhost", NULL, &client, &err);
    if (status != HF_INVALID) {
        fprintf(stderr, "gopher: %s\n", hf_status_name(status));
        return 1;
    }
    printf("%s\n", err.text);
    return 0;
}

int main(void)
{
    struct hf_error err;
    hf_client *client;
    if (hf_version_num() != HF_VERSION_NUM) return 2;
    if (strcmp(hf_version(), HF_VERSION) != 0) return 2;
    if (hf_client_open("memory:", NULL, &client, &err) != HF_OK)
        return fail("hf_client_open", &err);
    int result = lock_use(client);
    hf_client_close(client);
    return result ? result : missing_is_refused();
}
