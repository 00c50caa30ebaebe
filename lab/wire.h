/*
 * wire.h: bytes to and from a database server.  For pgwire.c and mywire.c only.
 */
#ifndef LAB_WIRE_H
#define LAB_WIRE_H

#include <stddef.h>

#define LAB_WIRE_MESSAGE_MAX (1 << 20)

/* What is being written for the caller. */
struct lab_wire_text {
    char *at;
    size_t size, len;
};

/* Add these bytes, as far as there is room. */
void lab_wire_add(struct lab_wire_text *t, const char *bytes, size_t len);

/* The next field of a row, of which `i` came before: rows are lines, and fields
 * are separated by "|".  `bytes` is NULL if the field is null. */
void lab_wire_field(struct lab_wire_text *t, int i, const char *bytes,
                    size_t len);

/* Send or read all of it.  0, or -1: the server has hung up or is silent. */
int lab_wire_send(int fd, const void *bytes, size_t len);
int lab_wire_read(int fd, void *bytes, size_t len);

#endif
