/*
 * facts.c: what a directory of locks says of itself, for the doctor to
 * judge.  One rule: what is told is lent for the call.
 */
#include <stdio.h>

#include "backend/file/dir.h"
#include "backend/file/facts.h"
#include "backend/file/request.h"
#include "sys/disk.h"

int hf__file_facts(struct backend_conn *c, struct request *req,
                   struct reply *reply)
{
    char name[32];
    (void)req;
    hf__file_dir_follow(c);
    hf__disk_name(c->dir_fd, name, sizeof name);
    /* Lent for the call, as the texts of errors are. */
    int len = snprintf(c->err.text, sizeof c->err.text,
                       "engine:file\nfilesystem:%s\nshared:%d\n"
                       "directory:%.150s\n",
                       name, hf__disk_is_network(c->dir_fd), c->dir);
    reply->verdict = V_GRANTED;
    reply->data = c->err.text;
    reply->data_len = len > 0 ? (size_t)len : 0;
    return ANSWER_DONE;
}
