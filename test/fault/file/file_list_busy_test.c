/*
 * file_list_busy_test.c: locks of this host are listed while others come and
 * go.  One rule: the others are not ours; the kernel has one list for all.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/rig.h"

#define HELD 300
#define OTHERS 300
#define LOOKS 60

static atomic_int is_over;

/* Locks and unlocks files of its own, one after the other. */
static void others_run(void *arg)
{
    static int fds[OTHERS];
    char path[256];
    (void)arg;
    for (int i = 0; i < OTHERS; i++) {
        snprintf(path, sizeof path, "%s/other-%d", rig_dir(), i);
        fds[i] = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        CHECK(fds[i] >= 0);
    }
    for (int i = 0; !atomic_load(&is_over); i++) {
        CHECK_INT(flock(fds[i % OTHERS], i / OTHERS % 2 ? LOCK_UN : LOCK_EX),
                  0);
        if (i % 20 == 0) rig_pause_ms(1);
    }
    for (int i = 0; i < OTHERS; i++) close(fds[i]);
}

static int on_count(const struct hf_list_row *row, void *user)
{
    *(int *)user += row->info->locked;
    return 0;
}

TEST(file_list_busy, every_lock_is_in_the_list)
{
    char name[32];
    int missed = 0;
    rig_begin_on("file:");
    atomic_store(&is_over, 0);
    hf_client *c = rig_client(NULL);
    for (int i = 0; i < HELD; i++) {
        snprintf(name, sizeof name, "page-%d", i);
        CHECK_INT(hf_lock_try(rig_lock(c, name), NULL, NULL), HF_OK);
    }
    rig_spawn(others_run, NULL);
    for (int i = 0; i < LOOKS; i++) {
        int n = 0;
        CHECK_INT(hf_client_list(c, "page-*", on_count, &n, NULL), HF_OK);
        missed += HELD - n;
    }
    atomic_store(&is_over, 1);
    rig_join();
    CHECK_INT(missed, 0);
}
