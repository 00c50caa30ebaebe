/*
 * facts.c: what a directory of locks says of itself, for the doctor to
 * judge.  One rule: a file system that is not known is told as its number, and
 * never guessed.
 */
#include <stdio.h>
#include <sys/vfs.h>

#include "backend/file/dir.h"
#include "backend/file/facts.h"
#include "backend/file/request.h"

/* Numbers of statfs(2).  Those in the first rows are shared by hosts. */
static const struct {
    unsigned long number;
    const char *name;
    int is_shared;
} kinds[] = {
    {0x6969, "nfs", 1},         {0xff534d42, "cifs", 1},
    {0xfe534d42, "smb2", 1},    {0x517b, "smb", 1},
    {0x01021997, "9p", 1},      {0x00c36400, "ceph", 1},
    {0x0bd00bd0, "lustre", 1},  {0x65735546, "fuse", 1},
    {0xef53, "ext4", 0},        {0x58465342, "xfs", 0},
    {0x9123683e, "btrfs", 0},   {0x01021994, "tmpfs", 0},
    {0x794c7630, "overlay", 0}, {0x2fc12fc1, "zfs", 0},
};

int hf__file_facts(struct backend_conn *c, struct request *req,
                   struct reply *reply)
{
    struct statfs fs;
    char number[32] = "unknown";
    const char *name = number;
    int is_shared = 0;
    (void)req;
    hf__file_dir_follow(c);
    if (fstatfs(c->dir_fd, &fs) == 0) {
        unsigned long type = (unsigned long)fs.f_type & 0xffffffffUL;
        snprintf(number, sizeof number, "0x%lx", type);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            if (kinds[i].number != type) continue;
            name = kinds[i].name;
            is_shared = kinds[i].is_shared;
        }
    }
    /* Lent for the call, as the texts of errors are. */
    int len = snprintf(c->err.text, sizeof c->err.text,
                       "engine:file\nfilesystem:%s\nshared:%d\n"
                       "directory:%.150s\n",
                       name, is_shared, c->dir);
    reply->verdict = V_GRANTED;
    reply->data = c->err.text;
    reply->data_len = len > 0 ? (size_t)len : 0;
    return ANSWER_DONE;
}
