/*
 * folder.c: see folder.h.  One rule: links are removed, never followed.
 */
#include "lab/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/own.h"

#define DEPTH_FDS 16

int lab_folder_make(char *path, size_t size, const char *what)
{
    const char *tmp = getenv("TMPDIR");
    int len = snprintf(path, size, "%s/hf-%s-XXXXXX", tmp ? tmp : "/tmp", what);
    if (len > 0 && (size_t)len < size && mkdtemp(path)) return LAB_OK;
    int why = (size_t)len < size ? errno : ENAMETOOLONG;
    lab__fail("%s: cannot be made: %s", path, strerror(why));
    path[0] = 0;
    return LAB_FAILED;
}

static int entry_remove(const char *path, const struct stat *st, int type,
                        struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void lab_folder_clear(const char *path)
{
    nftw(path, entry_remove, DEPTH_FDS, FTW_DEPTH | FTW_PHYS);
}

void lab_folder_remove(char *path)
{
    if (path[0]) lab_folder_clear(path);
    path[0] = 0;
}
