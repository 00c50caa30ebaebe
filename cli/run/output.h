/*
 * run/output.h: the standard output of the command.
 */
#ifndef HOLDFAST_CLI_RUN_OUTPUT_H
#define HOLDFAST_CLI_RUN_OUTPUT_H

#include <stddef.h>

/* once --store-output: the command's standard output on its way to ours. */
struct output {
    int fd;       /* to read it from; -1: it does not go through us */
    int child_fd; /* what the command writes to, until the start */
    size_t at, len;
};

struct run;

/* run/output.c: keep the first bytes of the command's output, and pass all of
 * it on.  Nothing here waits but output_end_all(). */
int output_open(struct run *r);    /* before the start: 0 or errno */
void output_give(struct run *r);   /* in the command: its standard output */
void output_forget(struct run *r); /* behind the start: the command's end */
int output_wants_read(const struct run *r);
int output_wants_write(const struct run *r);
void output_step(struct run *r);    /* a descriptor is ready: read or write */
void output_drain(struct run *r);   /* the command has ended: take the rest */
void output_end_all(struct run *r); /* the lock is given back: pass it on */
const char *output_kept(const struct run *r, size_t *len);

#endif
