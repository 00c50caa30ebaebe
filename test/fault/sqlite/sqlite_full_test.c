/*
 * sqlite_full_test.c: the disk that the file is on is full.  One rule: what is
 * held is kept and can be given back, for that needs no more room than there
 * is already.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rig.h"

#define DISK "size=640k"
#define RENEWALS 40 /* more than the log has room for */

static char disk[256], file[300], url[320];

static void disk_end(void *arg)
{
    (void)arg;
    umount2(disk, MNT_DETACH);
}

static void disk_begin(void)
{
    rig_begin_on("sqlite");
    snprintf(disk, sizeof disk, "%s/disk", rig_dir());
    snprintf(file, sizeof file, "%s/locks.db", disk);
    snprintf(url, sizeof url, "sqlite:%s", file);
    CHECK_INT(mkdir(disk, 0700), 0);
    if (mount("tmpfs", disk, "tmpfs", 0, DISK) != 0)
        test_skip("mount: %s", strerror(errno));
    test_cleanup(disk_end, NULL);
}

static void disk_fill(void)
{
    static const char zeros[512];
    char path[300];
    snprintf(path, sizeof path, "%s/fill", disk);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    CHECK(fd >= 0);
    while (write(fd, zeros, sizeof zeros) > 0) continue;
    CHECK_INT(errno, ENOSPC);
    close(fd);
}

/* The file itself has room for its pages then. */
static void log_copy(void)
{
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(file, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, RIG_WAIT_MS);
    CHECK_INT(sqlite3_exec(db, "PRAGMA wal_checkpoint(FULL)", NULL, NULL, NULL),
              SQLITE_OK);
    sqlite3_close(db);
}

TEST(sqlite_full, a_hold_is_renewed_and_given_back)
{
    struct hf_acquire_options o = rig_renewed(RIG_WAIT_MS);
    disk_begin();
    hf_lock *l = rig_lock(rig_client_at(url, NULL), "a");
    CHECK_INT(hf_lock_acquire(l, &o, NULL, NULL), HF_OK);
    log_copy();
    disk_fill();
    CHECK(rig_until_renewed(l, 0, RENEWALS));
    CHECK_INT(hf_lock_release(l, NULL, NULL), HF_OK);
    CHECK_INT(rig_probe(l), HF_OK);
}
