/*
 * fence.c: a lock with a lease cannot stop a process that was paused past it;
 * a resource that remembers the highest fence can.  Here the resource is a
 * file record "<fence> <text>": a write with a lower fence is refused.
 *
 *     ./fence [URL [FILE]]
 *
 * The check and the write are one step under flock(2), for the resource has to
 * decide by itself: the distributed lock is what may have been lost.
 */
#include <holdfast/holdfast.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

/* The fence in the record, 0 if there is none. */
static uint64_t record_fence(int fd)
{
    char text[256] = "";
    if (pread(fd, text, sizeof text - 1, 0) <= 0) return 0;
    return strtoull(text, NULL, 10);
}

/* 0 written, 1 refused, -1 the file cannot be used. */
static int record_write(const char *path, uint64_t fence, const char *text)
{
    char line[256];
    int result = -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return -1;
    int len = snprintf(line, sizeof line, "%llu %s\n",
                       (unsigned long long)fence, text);
    if (flock(fd, LOCK_EX) == 0) {
        if (fence < record_fence(fd))
            result = 1;
        else if (ftruncate(fd, 0) == 0
                 && pwrite(fd, line, (size_t)len, 0) == len)
            result = 0;
    }
    close(fd); /* and with it the flock */
    return result;
}

/* Acquire it; the fence is kept as well, for it outlives the hold. */
static int take(hf_lock *lock, hf_hold **hold, uint64_t *fence,
                struct hf_error *err)
{
    int status = hf_lock_acquire(lock, NULL, hold, err);
    if (status == HF_OK) *fence = hf_hold_fence(*hold);
    return status;
}

static int write_fenced(hf_lock *lock, const char *path, struct hf_error *err)
{
    static const char *const outcome[] = {"written", "refused: too old"};
    uint64_t first, second;
    hf_hold *hold;
    int status = take(lock, &hold, &first, err);
    if (status == HF_OK) status = hf_hold_release(hold, err);
    if (status == HF_OK) status = take(lock, &hold, &second, err);
    if (status != HF_OK) return status;

    int now = record_write(path, second, "by the present holder");
    /* What a holder would do that slept through the end of its lease: */
    int late = record_write(path, first, "by a holder of the past");
    if (now >= 0)
        printf("fence %llu: %s\n", (unsigned long long)second, outcome[now]);
    if (late >= 0)
        printf("fence %llu: %s\n", (unsigned long long)first, outcome[late]);
    if (now < 0 || late < 0) perror(path);
    return hf_hold_release(hold, err);
}

int main(int argc, char **argv)
{
    struct hf_error err = {0};
    hf_client *client = NULL;
    hf_lock *lock = NULL;
    const char *path = argc > 2 ? argv[2] : "fence.record";
    int status = hf_client_open(argc > 1 ? argv[1] : NULL, NULL, &client, &err);
    if (status == HF_OK) status = hf_lock_open(client, "record", &lock, &err);
    if (status == HF_OK) status = write_fenced(lock, path, &err);
    if (status != HF_OK) fprintf(stderr, "fence: %s\n", err.text);
    hf_lock_close(lock);
    hf_client_close(client);
    return status == HF_OK ? 0 : 1;
}
