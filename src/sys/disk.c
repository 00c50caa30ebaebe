/*
 * disk.c: which file systems other hosts may share.  One rule: a file system
 * that is not known is told as its number, and never guessed.
 */
#include "sys/disk.h"

#include <stdint.h>
#include <stdio.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#ifdef __linux__
/* Numbers of statfs(2). */
static const struct {
    uint32_t number;
    const char *name;
    int is_network;
} kinds[] = {
    {0x6969, "nfs", 1},         {0xff534d42, "cifs", 1},
    {0xfe534d42, "smb2", 1},    {0x517b, "smb", 1},
    {0x01021997, "9p", 1},      {0x65735546, "fuse", 1}, /* sshfs and others */
    {0x00c36400, "ceph", 1},    {0x0bd00bd0, "lustre", 1},
    {0x5346414f, "afs", 1},     {0x6b414653, "kafs", 1},
    {0x01161970, "gfs2", 1},    {0x7461636f, "ocfs2", 1},
    {0x73757245, "coda", 1},    {0x564c, "ncp", 1},
    {0xef53, "ext4", 0},        {0x58465342, "xfs", 0},
    {0x9123683e, "btrfs", 0},   {0x01021994, "tmpfs", 0},
    {0x794c7630, "overlay", 0}, {0x2fc12fc1, "zfs", 0},
};

int hf__disk_is_network(int fd)
{
    struct statfs fs;
    if (fstatfs(fd, &fs)) return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)fs.f_type == kinds[i].number) return kinds[i].is_network;
    return 0;
}

void hf__disk_name(int fd, char *out, size_t size)
{
    struct statfs fs;
    snprintf(out, size, "unknown");
    if (fstatfs(fd, &fs)) return;
    snprintf(out, size, "0x%lx", (unsigned long)fs.f_type & 0xffffffffUL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)fs.f_type == kinds[i].number)
            snprintf(out, size, "%s", kinds[i].name);
}
#else
int hf__disk_is_network(int fd)
{
    (void)fd;
    return 0;
}

void hf__disk_name(int fd, char *out, size_t size)
{
    (void)fd;
    snprintf(out, size, "unknown");
}
#endif
