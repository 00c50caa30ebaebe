/*
 * folder.h: a directory for the files of one server or of one scenario.
 */
#ifndef LAB_FOLDER_H
#define LAB_FOLDER_H

#include <stddef.h>

/* Make a new directory `hf-<what>-...` in $TMPDIR, or in /tmp, and write its
 * path. */
int lab_folder_make(char *path, size_t size, const char *what);

/* Remove it with all that is in it, and empty the path; nothing happens if the
 * path is empty. */
void lab_folder_remove(char *path);

/* Remove what is at this path, a file or a directory, if it is there. */
void lab_folder_clear(const char *path);

#endif
