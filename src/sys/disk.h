/* disk.h: which file systems other hosts may share. */
#ifndef HF_SYS_DISK_H
#define HF_SYS_DISK_H

#include <stddef.h>

/* Is the file on one whose locks are, or may be, kept by another machine? */
int hf__disk_is_network(int fd);

/* The name of its file system, or its number as text; "unknown" if it cannot be
 * told.  For reports that people read. */
void hf__disk_name(int fd, char *out, size_t size);

#endif
